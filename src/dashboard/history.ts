/** The curves of a crawl of any length in bounded memory: the longer it runs, the wider apart the points. */

import type { Point } from './wire.ts'

/** Ten minutes of single seconds; twice that many are made half as many. */
const MAX_POINTS = 1200

export interface History {
  add(point: Point): void
  points(): readonly Point[]
}

export function createHistory(maxPoints: number = MAX_POINTS): History {
  let points: Point[] = []
  /** So many of those that come are one point. */
  let width = 1
  let waiting: Point[] = []
  return {
    add: (point) => {
      waiting.push(point)
      if (waiting.length < width) return
      points.push(meanOf(waiting))
      waiting = []
      if (points.length < maxPoints) return
      points = pairsOf(points)
      width *= 2
    },
    points: () => points,
  }
}

function pairsOf(points: readonly Point[]): Point[] {
  const pairs: Point[] = []
  for (let index = 0; index < points.length; index += 2) pairs.push(meanOf(points.slice(index, index + 2)))
  return pairs
}

/** At the instant of the last; the slowest 95 % of any of them. */
function meanOf(points: readonly Point[]): Point {
  const told = points.map(({ p50 }) => p50).filter((ms) => ms !== null)
  const slow = points.map(({ p95 }) => p95).filter((ms) => ms !== null)
  return {
    atMs: points.at(-1)?.atMs ?? 0,
    pagesPerSecond: mean(points.map(({ pagesPerSecond }) => pagesPerSecond)),
    failedPerSecond: mean(points.map(({ failedPerSecond }) => failedPerSecond)),
    p50: told.length === 0 ? null : mean(told),
    p95: slow.length === 0 ? null : Math.max(...slow),
  }
}

function mean(numbers: readonly number[]): number {
  return Math.round((numbers.reduce((sum, one) => sum + one, 0) / Math.max(1, numbers.length)) * 100) / 100
}
