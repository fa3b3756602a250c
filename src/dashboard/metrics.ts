/** Prometheus metrics of the crawl: read from the store when they are asked for, and counted in this process as it works. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Tick } from './wire.ts'
import type { CrawlReader } from '../crawler/contract.ts'
import { METRICS, type MetricRow } from './metric-table.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from './registry.ts'

/** Seconds. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Series of single hosts are bounded: the names come from the web. */
export const MAX_HOST_SERIES = 100

export interface MetricsInput {
  readonly tick: Tick
  readonly reader: CrawlReader
  /** So many hosts have series of their own: each scrape reads the list of hosts then. 0: none. */
  readonly hosts: number
}

export interface Metrics {
  readonly contentType: string
  text(input: MetricsInput): Promise<string>
  close(): void
}

export function createMetrics(): Metrics {
  const lasting = new Registry()
  collectDefaultMetrics({ register: lasting })
  const fetches = new Histogram({ ...configOf(METRICS.fetches), buckets: BUCKETS, registers: [lasting] })
  const failures = new Counter({ ...configOf(METRICS.failures), registers: [lasting] })
  const onFetch = (message: unknown): void => {
    fetches.observe((message as { readonly ms: number }).ms / 1000)
  }
  const onFailure = (message: unknown): void => {
    failures.inc({ class: (message as { readonly failure: string }).failure })
  }
  const heard = [
    ['spoor:fetch', onFetch],
    ['spoor:failed', onFailure],
    ['spoor:retry', onFailure],
  ] as const
  for (const [name, listener] of heard) subscribe(name, listener)
  return {
    contentType: lasting.contentType,
    text: async (input) => `${await lasting.metrics()}${await (await ofStore(input)).metrics()}`,
    close: () => {
      for (const [name, listener] of heard) unsubscribe(name, listener)
      lasting.clear()
    },
  }
}

const configOf = ({ name, help, labels }: MetricRow): { name: string; help: string; labelNames: string[] } => ({
  name,
  help,
  labelNames: [...labels],
})

/** Made anew for each scrape: what is gone from the store is gone from here. */
async function ofStore({ tick, reader, hosts }: MetricsInput): Promise<Registry> {
  const registry = new Registry()
  const { task, point } = tick
  const set = (metric: MetricRow, value: number, labels: Readonly<Record<string, string>> = {}): void => {
    const config = { ...configOf(metric), registers: [registry] }
    const known = registry.getSingleMetric(metric.name)
    const all = { task, ...labels }
    // the store has counted: a counter begins at what it says
    if (metric.kind === 'counter') ((known ?? new Counter(config)) as Counter).inc(all, value)
    else ((known ?? new Gauge(config)) as Gauge).set(all, value)
  }
  setUrls(tick, set)
  set(METRICS.hosts, tick.hosts)
  set(METRICS.items, tick.items)
  set(METRICS.bytes, tick.bytes)
  set(METRICS.requests, tick.requests)
  set(METRICS.fromCache, tick.fromCache)
  set(METRICS.duplicates, tick.duplicates)
  set(METRICS.rate, point.pagesPerSecond)
  set(METRICS.workers, tick.workersAlive)
  set(METRICS.paused, tick.standing === 'paused' ? 1 : 0)
  if (point.p50 !== null) set(METRICS.latency, point.p50 / 1000, { quantile: '0.5' })
  if (point.p95 !== null) set(METRICS.latency, point.p95 / 1000, { quantile: '0.95' })
  if (hosts > 0) {
    for (const { hostKey: host, ready, nextInMs } of (await reader.hosts({ sort: 'waiting', from: 0, max: hosts }))
      .hosts) {
      set(METRICS.hostWaiting, ready, { host })
      set(METRICS.hostNext, nextInMs / 1000, { host })
    }
  }
  return registry
}

type Set = (metric: MetricRow, value: number, labels?: Readonly<Record<string, string>>) => void

function setUrls({ pending, leased, done, failed, skipped }: Tick, set: Set): void {
  const total = Object.values(skipped).reduce((sum, one) => sum + one, 0)
  for (const [state, value] of Object.entries({ pending, leased, done, failed, skipped: total }))
    set(METRICS.urls, value, { state })
  for (const [reason, value] of Object.entries(skipped)) set(METRICS.skipped, value, { reason })
}
