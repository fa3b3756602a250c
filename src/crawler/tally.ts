/** The running figures of one crawl: fed by the engine's events, filled up from the store. */

import type { FailureClass } from '../core/outcome.ts'
import type { EngineEvent } from '../engine/contract.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../frontier/counters.ts'
import type { ProgressSnapshot } from './contract.ts'

const WINDOW_MS = 10_000
const NOTHING_YET: FrontierStats = {
  known: 0,
  pending: 0,
  leased: 0,
  done: 0,
  failed: 0,
  skipped: {},
  hosts: 0,
  items: 0,
  counters: COUNTERS_AT_ZERO,
}

export interface Tally {
  take(event: EngineEvent): void
  /** Figures that only the store knows; taken in now and then. */
  refresh(stats: FrontierStats): void
  snapshot(inFlight: number): ProgressSnapshot
}

export function createTally(monotonicMs: () => number): Tally {
  const startedAtMs = monotonicMs()
  const errors: Partial<Record<FailureClass, number>> = {}
  /** Pages at certain instants, for the rate of the last seconds. */
  const marks: { readonly atMs: number; readonly pages: number }[] = [{ atMs: startedAtMs, pages: 0 }]
  let stats = NOTHING_YET
  // since the last refresh
  let pages = 0
  let failed = 0
  let skipped = 0
  let bytes = 0
  let pagesOfRun = 0
  let lastUrl: string | undefined

  return {
    take(event) {
      lastUrl = event.url
      if (event.type === 'page') {
        pages++
        pagesOfRun++
        bytes += event.bytes
      } else if (event.type === 'failed') failed++
      else if (event.type === 'skipped') skipped++
      if (event.type === 'failed' || event.type === 'retry') errors[event.failure] = (errors[event.failure] ?? 0) + 1
    },
    refresh(fresh) {
      stats = fresh
      pages = 0
      failed = 0
      skipped = 0
      bytes = 0
    },
    snapshot(inFlight) {
      const nowMs = monotonicMs()
      const { done, leased, hosts, counters } = stats
      return {
        elapsedMs: nowMs - startedAtMs,
        pages: done + pages,
        failed: stats.failed + failed,
        skipped: sum(stats.skipped) + skipped,
        pending: Math.max(0, stats.pending - pages - failed),
        leased,
        bytes: counters.bytes + bytes,
        hosts,
        inFlight,
        fromCache: counters.fromCache,
        pagesPerSecond: rate(nowMs),
        errors: { ...errors },
        ...(lastUrl === undefined ? {} : { lastUrl }),
      }
    },
  }

  function rate(nowMs: number): number {
    const newest = marks.at(-1)
    if (newest === undefined || nowMs - newest.atMs >= 500) marks.push({ atMs: nowMs, pages: pagesOfRun })
    while (marks.length > 2 && nowMs - (marks[1]?.atMs ?? nowMs) > WINDOW_MS) marks.shift()
    const oldest = marks[0]
    const ms = nowMs - (oldest?.atMs ?? nowMs)
    return ms <= 0 ? 0 : ((pagesOfRun - (oldest?.pages ?? 0)) * 1000) / ms
  }
}

function sum(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0)
}
