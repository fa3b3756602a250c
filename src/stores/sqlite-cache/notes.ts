/** Uses and counts: small facts that wait for a write to go with. */

import type { CacheCounts } from '../../cache/contract.ts'
import type { Statements } from './rows.ts'

/** At most so many uses wait. */
const MAX_NOTED = 1000

export interface Notes {
  used(id: number, hour: number): void
  count(counts: Partial<CacheCounts>): void
  isFull(): boolean
  isEmpty(): boolean
  /** Runs inside a transaction. */
  write(): void
}

/** A transaction that fails loses some: no harm. */
export function createNotes(sql: Statements): Notes {
  const uses = new Map<number, number>()
  const counts = new Map<string, number>()
  return {
    used: (id, hour) => uses.set(id, hour),
    count: (more) => {
      for (const [name, n] of Object.entries(more)) counts.set(name, (counts.get(name) ?? 0) + n)
    },
    isFull: () => uses.size >= MAX_NOTED,
    isEmpty: () => uses.size === 0 && counts.size === 0,
    write: () => {
      for (const [id, hour] of uses) sql.setUsed.run(hour, id, hour)
      for (const [name, n] of counts) sql.addCount.run(name, n)
      uses.clear()
      counts.clear()
    },
  }
}
