/** How fast a crawl goes, when it ends, and which hosts it is busy with. */

import { expect, test } from 'vitest'
import { createHostFigures } from '../../../src/crawler/host-figures.ts'
import { createPace, type Pace } from '../../../src/crawler/pace.ts'
import { createTally } from '../../../src/crawler/tally.ts'
import { COUNTERS_AT_ZERO } from '../../../src/frontier/counters.ts'

/** Ten pages a second. */
function run(pending: (second: number) => number, seconds = 10): Pace {
  const pace = createPace()
  for (let second = 0; second <= seconds; second++)
    pace.note({ atMs: second * 1000, pages: second * 10, pending: pending(second) })
  return pace
}

test('the rate is that of the last seconds; pages of earlier runs are no pace', () => {
  const pace = createPace()
  expect(pace.pagesPerSecond()).toBe(0)
  for (let second = 0; second <= 30; second++)
    pace.note({ atMs: second * 1000, pages: 5000 + second * (second < 20 ? 1 : 3), pending: 100 })
  expect(pace.pagesPerSecond()).toBeGreaterThan(2.9)
})

test('the first look at a crawl has a rate, of what the store told before it', () => {
  let nowMs = 0
  const tally = createTally({ monotonicMs: () => nowMs, maxPages: undefined, processes: 1 })
  const stats = {
    known: 0,
    pending: 9,
    leased: 0,
    failed: 0,
    skipped: {},
    hosts: 1,
    items: 0,
    counters: COUNTERS_AT_ZERO,
  }
  tally.refresh({ ...stats, done: 700 })
  nowMs = 5000
  tally.refresh({ ...stats, done: 750 })
  expect(tally.snapshot(2).pagesPerSecond).toBeCloseTo(10)
})

test('an end is told only while the queue shrinks, or where the page limit comes first', () => {
  expect(run((second) => 1000 - second * 10).etaMs()).toBeCloseTo(90_000)
  expect(run((second) => 1000 + second).etaMs()).toBeUndefined()
  expect(run(() => 1000).etaMs()).toBeUndefined()
  expect(run((second) => 1000 - second * 10, 3).etaMs()).toBeUndefined()
  expect(run((second) => 1000 + second).etaMs(200)).toBeCloseTo(10_000)
  expect(run((second) => 1000 - second * 10).etaMs(200)).toBeCloseTo(10_000)
})

test('hosts are told by how busy and how slow they are; memory is bounded', () => {
  const figures = createHostFigures()
  for (let n = 0; n < 5000; n++) figures.note(`http://h${n}.test/?x=//y`, 1)
  for (let n = 0; n < 30; n++) figures.note('https://user:secret@slow.test:8443/a', 900)
  for (let n = 0; n < 50; n++) figures.note('http://busy.test', 10)
  expect(figures.busiest(2).map(({ host, requests }) => [host, requests])).toEqual([
    ['busy.test', 50],
    ['slow.test:8443', 30],
  ])
  expect(figures.slowest(1)).toEqual([{ host: 'slow.test:8443', requests: 30, ms: 900 }])
  expect(figures.busiest(9999).length).toBe(1000)
})
