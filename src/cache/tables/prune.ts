/** Forgetting on a server: what is too old, then what its writers left, then what was used least recently. */

import type { Clock } from '../../core/clock.ts'
import type { PruneOptions, PruneResult } from '../contract.ts'
import type { CacheTables } from './tables.ts'

/** Rows that are removed in one step: some milliseconds of the server. */
const BATCH = 200

interface Pruning {
  readonly tables: CacheTables
  /** True when there is neither time nor leave to go on. */
  readonly isOver: () => boolean
}

export async function pruneTables(
  { tables, clock }: { readonly tables: CacheTables; readonly clock: Clock },
  options: PruneOptions,
): Promise<PruneResult> {
  const { checkedBeforeMs, maxBytes, budgetMs, signal } = options
  const untilMs = budgetMs === undefined ? Infinity : clock.monotonicMs() + budgetMs
  const isOver = (): boolean => signal?.aborted === true || clock.monotonicMs() > untilMs
  if (isOver()) return { entries: 0, bytes: 0, finished: false }
  const pruning = { tables, isOver }
  const before = await tables.size()
  const expired = checkedBeforeMs === undefined ? 0 : await removeExpired(pruning, checkedBeforeMs)
  if (!isOver()) await tables.sweep({ nowMs: clock.nowMs(), isOver })
  const evicted = maxBytes === undefined ? 0 : await evict(pruning, maxBytes)
  const after = await tables.size()
  return { entries: expired + evicted, bytes: Math.max(0, before.bytes - after.bytes), finished: !isOver() }
}

async function removeExpired({ tables, isOver }: Pruning, checkedBeforeMs: number): Promise<number> {
  let removed = 0
  while (!isOver()) {
    const keys = await tables.checkedBefore(checkedBeforeMs, BATCH)
    if (keys.length === 0) break
    removed += await tables.remove(keys, { checkedBeforeMs })
  }
  return removed
}

/** Least recently used first, until what is left fits. */
async function evict({ tables, isOver }: Pruning, maxBytes: number): Promise<number> {
  let removed = 0
  while (!isOver()) {
    const { rows, bytes } = await tables.size()
    if (bytes <= maxBytes) break
    const wanted = Math.ceil(rows * (1 - maxBytes / bytes))
    const found = await tables.leastUsed(Math.max(1, Math.min(BATCH, wanted)))
    const usedHourAtMost = found.at(-1)?.usedHour
    if (usedHourAtMost === undefined) break
    removed += await tables.remove(
      found.map(({ key }) => key),
      { usedHourAtMost },
    )
  }
  return removed
}
