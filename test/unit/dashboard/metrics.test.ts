/** The metrics: bounded, true to the store, and as docs/metrics.md has them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMetrics } from '../../../src/dashboard/metrics.ts'
import { METRICS } from '../../../src/dashboard/metric-table.ts'
import type { Tick } from '../../../src/dashboard/wire.ts'
import type { CrawlReader } from '../../../src/crawler/contract.ts'
import { CHANNEL_NAMES, publish } from '../../../src/util/channels.ts'

const TICK: Tick = {
  standing: 'paused',
  task: 'shop "one"\n',
  pending: 5,
  leased: 1,
  done: 7,
  failed: 2,
  skipped: { robots: 3, scope: 4 },
  hosts: 2,
  items: 7,
  bytes: 1000,
  requests: 9,
  fromCache: 1,
  duplicates: 0,
  levels: [],
  workers: [],
  workersAlive: 1,
  settings: null,
  point: { atMs: 0, pagesPerSecond: 2.5, failedPerSecond: 0, p50: 120, p95: null },
}

const state = { inFlight: 0, crawlDelayMs: 0, backoffStep: 0, silentFailures: 0, delayMs: 500, downForMs: 0 }
const reader = {
  hosts: async ({ max }: { readonly max: number }) => ({
    hosts: [{ ...state, hostKey: `a"b\n.test`, ready: 3, nextInMs: 1500 }].slice(0, max),
    total: 1,
    isWhole: true,
  }),
} as Pick<CrawlReader, 'hosts'> as CrawlReader

test('metrics tell what the store says and what this process heard; labels are escaped', async () => {
  const metrics = createMetrics()
  try {
    publish('spoor:fetch', () => ({ url: 'http://a.test/', ms: 300, bytes: 1 }))
    publish('spoor:retry', () => ({ failure: 'timeout' }))
    const text = await metrics.text({ tick: TICK, reader, hosts: 10 })
    const task = String.raw`task="shop \"one\"\n"`
    for (const line of [
      `spoor_urls{${task},state="skipped"} 7`,
      `spoor_skipped_urls{${task},reason="scope"} 4`,
      `spoor_downloaded_bytes_total{${task}} 1000`,
      `spoor_pages_per_second{${task}} 2.5`,
      `spoor_paused{${task}} 1`,
      `spoor_fetch_latency_seconds{${task},quantile="0.5"} 0.12`,
      String.raw`spoor_host_waiting{${task},host="a\"b\n.test"} 3`,
      'spoor_fetch_duration_seconds_bucket{le="0.25"} 0',
      'spoor_fetch_duration_seconds_bucket{le="0.5"} 1',
      'spoor_failed_attempts_total{class="timeout"} 1',
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).not.toContain('quantile="0.95"')
    const again = await metrics.text({ tick: TICK, reader, hosts: 0 })
    expect(again).toContain(`spoor_downloaded_bytes_total{${task}} 1000`)
    expect(again).not.toContain('spoor_host_waiting')
  } finally {
    metrics.close()
  }
})

test('docs/metrics.md names every metric with its kind and labels, and every channel', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8')
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `spoor'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  const metrics = rows.filter(([, name = '']) => name.startsWith('spoor_')).map(([, ...cells]) => cells.slice(0, 3))
  expect(metrics).toEqual(Object.values(METRICS).map(({ name, kind, labels }) => [name, kind, labels.join(', ')]))
  expect(rows.map(([, name]) => name).filter((name) => name?.startsWith('spoor:'))).toEqual([...CHANNEL_NAMES])
})
