/** What the site's log says of delay and requests in flight, over all workers together. */

import { expect } from 'vitest'
import type { SiteLogEntry } from '../../../src/testing/site.ts'
import { DELAY_MS, PER_HOST } from './setting.ts'

/** So many requests in a row are measured: the way of one through busy processes differs, that of many does not. */
const ROW = 40

export function expectPolite(log: readonly SiteLogEntry[]): void {
  expect(Math.max(...log.map(({ hostInFlight }) => hostInFlight))).toBeLessThanOrEqual(PER_HOST)
  for (const [host, times] of timesOf(log)) {
    for (const [n, atMs] of times.entries()) {
      const end = times[n + ROW]
      if (end === undefined) break
      // a quarter is left for processes that were held up before a row and not in it
      expect(end - atMs, `${ROW} requests in a row to ${host}`).toBeGreaterThan(ROW * DELAY_MS * 0.75)
    }
  }
}

/** Most requests of one host within a second. */
export function worstRate(log: readonly SiteLogEntry[]): number {
  let worst = 0
  for (const times of timesOf(log).values()) {
    let first = 0
    for (const [n, atMs] of times.entries()) {
      while (atMs - (times[first] ?? 0) >= 1000) first++
      worst = Math.max(worst, n - first + 1)
    }
  }
  return worst
}

function timesOf(log: readonly SiteLogEntry[]): Map<string, number[]> {
  const times = new Map<string, number[]>()
  for (const { host, atMs } of log) {
    const own = times.get(host) ?? []
    own.push(atMs)
    times.set(host, own)
  }
  return times
}
