/** Every metric: its kind, its labels, its unit in words. docs/metrics.md is compared with it. */

export interface MetricRow {
  readonly name: string
  readonly kind: 'gauge' | 'counter' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
}

const gauge = (name: string, labels: readonly string[], help: string): MetricRow => ({
  name,
  kind: 'gauge',
  labels,
  help,
})
/** Counted by the store, over all runs and all workers. */
const counter = (name: string, labels: readonly string[], help: string): MetricRow => ({
  name,
  kind: 'counter',
  labels,
  help,
})

export const METRICS = {
  urls: gauge('spoor_urls', ['task', 'state'], 'URLs by state: pending, leased, done, failed, skipped.'),
  skipped: gauge('spoor_skipped_urls', ['task', 'reason'], 'Skipped URLs by reason.'),
  hosts: gauge('spoor_hosts', ['task'], 'Hosts that something was queued of.'),
  items: gauge('spoor_items', ['task'], 'Items that were extracted.'),
  bytes: counter('spoor_downloaded_bytes_total', ['task'], 'Bytes downloaded, before decompression.'),
  requests: counter('spoor_requests_total', ['task'], 'Requests sent.'),
  fromCache: counter('spoor_cache_hits_total', ['task'], 'Pages taken from the download cache.'),
  duplicates: counter('spoor_duplicates_total', ['task'], 'Links to what was known already.'),
  rate: gauge('spoor_pages_per_second', ['task'], 'Pages settled a second by all workers, over the last second.'),
  workers: gauge('spoor_workers', ['task'], 'Worker processes that are alive, on all machines.'),
  latency: gauge(
    'spoor_fetch_latency_seconds',
    ['task', 'quantile'],
    'What half (0.5) and 95 % (0.95) of the last requests of all workers stayed under; the slowest worker counts for the latter.',
  ),
  paused: gauge('spoor_paused', ['task'], '1 while the run is paused.'),
  fetches: {
    name: 'spoor_fetch_duration_seconds',
    kind: 'histogram',
    labels: [],
    help: 'How long requests of this process took, from the request until the whole body.',
  },
  failures: counter(
    'spoor_failed_attempts_total',
    ['class'],
    'Failed attempts of this process by class, retried ones too.',
  ),
  hostWaiting: gauge('spoor_host_waiting', ['task', 'host'], 'Requests that wait, of the hosts with the most.'),
  hostNext: gauge(
    'spoor_host_next_seconds',
    ['task', 'host'],
    'Seconds until the next request to the host may start, of the same hosts.',
  ),
} as const satisfies Record<string, MetricRow>
