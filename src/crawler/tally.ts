/** The running figures of one crawl: fed by the engine's events, filled up from the store. */

import type { FailureClass } from '../core/outcome.ts'
import type { EngineEvent } from '../engine/contract.ts'
import type { FrontierStats, LevelStats } from '../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../frontier/counters.ts'
import type { ProgressSnapshot } from './contract.ts'
import { createHostFigures, type HostFigures } from './host-figures.ts'
import { createPace } from './pace.ts'

const SHOWN_HOSTS = 3
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
  /** The same of the levels. */
  refreshLevels(levels: readonly LevelStats[]): void
  /** A request of this process took so long. */
  fetched(url: string, ms: number): void
  snapshot(inFlight: number): ProgressSnapshot
}

export interface TallyOptions {
  readonly monotonicMs: () => number
  readonly maxPages: number | undefined
  readonly processes: number
}

export function createTally({ monotonicMs, maxPages, processes }: TallyOptions): Tally {
  const startedAtMs = monotonicMs()
  const errors: Partial<Record<FailureClass, number>> = {}
  const pace = createPace()
  const hostFigures = createHostFigures()
  let stats: FrontierStats | undefined
  let levels: NonNullable<ProgressSnapshot['levels']> = []
  // since the last refresh
  let pages = 0
  let failed = 0
  let skipped = 0
  let bytes = 0
  let lastUrl: string | undefined

  return {
    take(event) {
      lastUrl = event.url
      if (event.type === 'page') {
        pages++
        bytes += event.bytes
      } else if (event.type === 'failed') failed++
      else if (event.type === 'skipped') skipped++
      if (event.type === 'failed' || event.type === 'retry') errors[event.failure] = (errors[event.failure] ?? 0) + 1
    },
    refresh(fresh) {
      stats = fresh
      pages = failed = skipped = bytes = 0
      // whoever looks seldom sees a pace at the first look too
      pace.note({ atMs: monotonicMs(), pages: fresh.done, pending: fresh.pending })
    },
    refreshLevels(all) {
      levels = waitingOf(all)
    },
    fetched: hostFigures.note,
    snapshot(inFlight) {
      const nowMs = monotonicMs()
      const { done, leased, hosts, counters, ...known } = stats ?? NOTHING_YET
      const settled = done + pages
      const pending = Math.max(0, known.pending - pages - failed)
      // what earlier runs have done is no pace of this one
      if (stats !== undefined) pace.note({ atMs: nowMs, pages: settled, pending })
      const etaMs = pace.etaMs(maxPages)
      return {
        elapsedMs: nowMs - startedAtMs,
        pages: settled,
        failed: known.failed + failed,
        skipped: sum(known.skipped) + skipped,
        pending,
        leased,
        bytes: counters.bytes + bytes,
        hosts,
        inFlight,
        fromCache: counters.fromCache,
        pagesPerSecond: pace.pagesPerSecond(),
        errors: { ...errors },
        levels,
        ...shownHosts(hostFigures),
        processes,
        ...(etaMs === undefined ? {} : { etaMs }),
        ...(lastUrl === undefined ? {} : { lastUrl }),
      }
    },
  }
}

function waitingOf(levels: readonly LevelStats[]): NonNullable<ProgressSnapshot['levels']> {
  return levels.filter(({ pending }) => pending > 0).map(({ depth, pending }) => ({ depth, waiting: pending }))
}

function shownHosts(figures: HostFigures): Pick<ProgressSnapshot, 'busiestHosts' | 'slowestHosts'> {
  return { busiestHosts: figures.busiest(SHOWN_HOSTS), slowestHosts: figures.slowest(SHOWN_HOSTS) }
}

function sum(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0)
}
