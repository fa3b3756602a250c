/** Forgetting: what is too old, then what was used least recently, and the space given back to the disk. */

import type { PruneOptions, PruneResult } from '../../cache/contract.ts'
import { type CacheState, fileBytes, nextTurn, usedBytes } from './state.ts'
import { removeBody, removeEntry } from './write.ts'

/** Rows of `age` read at once: about a millisecond. */
const SCAN_ROWS = 2000
/** Entries deleted, and pages given back, in one transaction: a few milliseconds. */
const DELETE_ROWS = 50
const VACUUM_PAGES = 64
/** Parts of a body whose writer died are left for so long, in case it lives. */
const UNFINISHED_MS = 3_600_000

interface AgeRow {
  readonly id: number
  readonly checked_ms: number
  readonly used_h: number
}

interface Pruning {
  readonly state: CacheState
  readonly options: PruneOptions
  /** True when there is neither time nor leave to go on. */
  readonly isOver: () => boolean
}

export async function pruneCache(state: CacheState, options: PruneOptions): Promise<PruneResult> {
  const { clock, database } = state
  const untilMs = options.budgetMs === undefined ? Infinity : clock.monotonicMs() + options.budgetMs
  const pruning: Pruning = {
    state,
    options,
    isOver: () => options.signal?.aborted === true || clock.monotonicMs() > untilMs,
  }
  const before = fileBytes(database)
  await removeUnfinished(pruning)
  const expired = await removeExpired(pruning)
  const evicted = await evict(pruning)
  await giveBack(pruning)
  return {
    entries: expired + evicted,
    bytes: Math.max(0, before - fileBytes(database)),
    finished: !pruning.isOver(),
  }
}

async function removeUnfinished({ state, isOver }: Pruning): Promise<void> {
  const { sql, writer, clock } = state
  const beforeMs = clock.nowMs() - UNFINISHED_MS
  for (;;) {
    const bodies = sql.unfinished.all(beforeMs) as { id: number }[]
    if (bodies.length === 0 || isOver()) return
    for (const { id } of bodies) await writer.write(() => removeBody(sql, id), 0)
  }
}

async function removeExpired(pruning: Pruning): Promise<number> {
  const { checkedBeforeMs } = pruning.options
  if (checkedBeforeMs === undefined) return 0
  const { sql } = pruning.state
  let removed = 0
  for await (const rows of ages(pruning)) {
    const old = rows.filter((row) => row.checked_ms < checkedBeforeMs).map(({ id }) => id)
    removed += await removeAll(pruning, old, (id) => sql.isOlder.get(id, checkedBeforeMs) as BodyRow | undefined)
  }
  return removed
}

interface BodyRow {
  readonly body: number | null
}

/** All ages, in slices between which the event loop goes on. Stops when the pruning is over. */
async function* ages({ state, isOver }: Pruning): AsyncGenerator<readonly AgeRow[]> {
  let after = 0
  while (!isOver()) {
    const rows = state.sql.ages.all(after, SCAN_ROWS) as AgeRow[]
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    yield rows
    await nextTurn()
  }
}

/** Deletes those that `find` still finds: they may have been used or confirmed meanwhile. */
async function removeAll(
  { state, isOver }: Pruning,
  ids: readonly number[],
  find: (id: number) => BodyRow | undefined,
): Promise<number> {
  const { sql, writer } = state
  let removed = 0
  for (let at = 0; at < ids.length && !isOver(); at += DELETE_ROWS) {
    removed += await writer.write(() => {
      let count = 0
      for (const id of ids.slice(at, at + DELETE_ROWS)) {
        const found = find(id)
        if (found === undefined) continue
        removeEntry(sql, id, found.body)
        count += 1
      }
      return count
    }, 0)
  }
  return removed
}

/** Least recently used first, until what is left fits. */
async function evict(pruning: Pruning): Promise<number> {
  const { maxBytes } = pruning.options
  if (maxBytes === undefined) return 0
  const { database, sql } = pruning.state
  let removed = 0
  while (usedBytes(database) > maxBytes && !pruning.isOver()) {
    const { ids, newestHour } = await leastUsed(pruning, 1 - maxBytes / usedBytes(database))
    if (ids.length === 0) break
    for (let at = 0; at < ids.length && usedBytes(database) > maxBytes && !pruning.isOver(); at += DELETE_ROWS) {
      const slice = ids.slice(at, at + DELETE_ROWS)
      removed += await removeAll(pruning, slice, (id) => sql.isIdle.get(id, newestHour) as BodyRow | undefined)
    }
  }
  return removed
}

/** The `share` of all entries that was used least recently, the oldest first. */
async function leastUsed(
  pruning: Pruning,
  share: number,
): Promise<{ readonly ids: readonly number[]; readonly newestHour: number }> {
  const perHour = new Map<number, number>()
  let total = 0
  for await (const rows of ages(pruning)) {
    for (const row of rows) perHour.set(row.used_h, (perHour.get(row.used_h) ?? 0) + 1)
    total += rows.length
  }
  const wanted = Math.ceil(total * share)
  let newestHour = -Infinity
  let counted = 0
  for (const hour of [...perHour.keys()].toSorted((a, b) => a - b)) {
    if (counted >= wanted) break
    newestHour = hour
    counted += perHour.get(hour) ?? 0
  }
  const found: AgeRow[] = []
  for await (const rows of ages(pruning)) found.push(...rows.filter((row) => row.used_h <= newestHour))
  const ids = found.toSorted((a, b) => a.used_h - b.used_h || a.id - b.id).map(({ id }) => id)
  return { ids: ids.slice(0, wanted), newestHour }
}

async function giveBack({ state, isOver }: Pruning): Promise<void> {
  const { database, writer } = state
  let before = Infinity
  for (;;) {
    const free = fileBytes(database) - usedBytes(database)
    if (free === 0 || free >= before || isOver()) break
    before = free
    await writer.write(() => database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`), 0)
  }
  checkpoint(state)
}

/** Carries the log into the file and empties it, where no other process is in the way. */
export function checkpoint({ database }: Pick<CacheState, 'database'>): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // another process reads or writes: it will do it
  }
}
