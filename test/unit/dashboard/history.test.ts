/** What the dashboard remembers stays small however long the crawl runs. */

import { expect, test } from 'vitest'
import { createFeed } from '../../../src/dashboard/feed.ts'
import { createHistory } from '../../../src/dashboard/history.ts'
import { createLatencyWindow } from '../../../src/stats/latency.ts'

test('the curve of a long crawl is thinned out: the whole time, the mean of each stretch, its slowest 95 %', () => {
  const history = createHistory(100)
  for (let second = 1; second <= 86_400; second++) {
    const p95 = second === 40_000 ? 9000 : 20
    history.add({ atMs: second * 1000, pagesPerSecond: 10, failedPerSecond: 0, p50: null, p95 })
  }
  const points = history.points()
  expect(points.length).toBeGreaterThanOrEqual(50)
  expect(points.length).toBeLessThan(100)
  expect(points.every(({ pagesPerSecond, p50 }) => pagesPerSecond === 10 && p50 === null)).toBe(true)
  expect(points.filter(({ p95 }) => p95 === 9000)).toHaveLength(1)
  const gaps = points.slice(1).map(({ atMs }, index) => atMs - (points[index]?.atMs ?? 0))
  expect(new Set(gaps).size).toBe(1)
})

test('the feed keeps the last lines, cuts long ones, and tells each reader what is new to it', () => {
  const feed = createFeed(() => 7)
  expect(feed.since(0)).toEqual({ lines: [], last: 0 })
  for (let n = 1; n <= 2000; n++) feed.event({ type: 'redirected', url: `http://a.example/${n}`, to: 'x'.repeat(5000) })
  expect(feed.lines()).toHaveLength(300)
  expect(feed.lines().at(-1)).toMatchObject({ atMs: 7, kind: 'redirected', url: 'http://a.example/2000' })
  expect(feed.lines().at(-1)?.text.length).toBeLessThan(2100)
  expect(feed.since(1998).lines.map(({ url }) => url)).toEqual(['http://a.example/1999', 'http://a.example/2000'])
  expect(feed.since(2000).lines).toEqual([])
  feed.log('{"level":40,"time":1,"url":"http://b.example/","ms":3,"msg":"slow"}')
  expect(feed.since(2000).lines).toEqual([{ atMs: 7, kind: 'log', text: 'slow {"ms":3}', url: 'http://b.example/' }])
})

test('of many latencies the last ones are told, once', () => {
  const window = createLatencyWindow()
  expect(window.take()).toBeUndefined()
  for (let ms = 1; ms <= 10_000; ms++) window.note(ms > 9488 ? ms - 9488 : 1e6)
  expect(window.take()).toEqual({ p50: 256, p95: 487 })
  expect(window.take()).toBeUndefined()
})
