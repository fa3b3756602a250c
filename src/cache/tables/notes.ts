/** Uses and counts: small facts that are gathered, so that a hit does not cost a write. */

import type { Clock } from '../../core/clock.ts'
import type { CacheCounts } from '../contract.ts'
import type { CacheTables } from './tables.ts'

/** At most so many uses wait, and for so long: other processes go by them when they evict. */
const MAX_NOTED = 200
const MAX_WAIT_MS = 10_000

export interface Notes {
  used(key: string, hour: number): void
  count(counts: Partial<CacheCounts>): void
  /** Begins to write them when it is time; waits for nothing. */
  flushWhenDue(): void
  /** Writes what waits. A server that is away loses some: no harm. */
  flush(): Promise<void>
}

export function createNotes(tables: Pick<CacheTables, 'note'>, clock: Clock): Notes {
  let uses = new Map<string, number>()
  let counts: Record<string, number> = {}
  let sinceMs = clock.monotonicMs()
  let flushing: Promise<void> | undefined
  const write = async (): Promise<void> => {
    const [noted, counted] = [uses, counts]
    uses = new Map()
    counts = {}
    sinceMs = clock.monotonicMs()
    try {
      await tables.note(noted, counted)
    } catch {
      // whoever needs the server hears of it
    }
  }
  const isEmpty = (): boolean => uses.size === 0 && Object.keys(counts).length === 0
  const flush = async (): Promise<void> => {
    await flushing
    if (isEmpty()) return
    flushing = write()
    await flushing
    flushing = undefined
  }
  return {
    used: (key, hour) => {
      if (uses.size < 2 * MAX_NOTED) uses.set(key, hour)
    },
    count: (more) => {
      for (const [name, n] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + n
    },
    flushWhenDue: () => {
      if (flushing !== undefined || isEmpty()) return
      if (uses.size >= MAX_NOTED || clock.monotonicMs() - sinceMs >= MAX_WAIT_MS) void flush()
    },
    flush,
  }
}
