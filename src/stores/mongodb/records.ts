/** What can be asked of the MongoDB store: records, lists, counts. */

import type { FrontierStats, LevelStats, RequestFilter, RequestRecord } from '../../frontier/contract.ts'
import { LEVELS_A_DOCUMENT, levelKey, requestKey, STATES } from './documents.ts'
import type { RequestDocument } from './documents.ts'
import type { Ledger } from './ledger.ts'
import { requestOf, rootOf, storedRequest, taskById, taskOf } from './rows.ts'
import type { Task } from './rows.ts'
import type { Server } from './server.ts'
import { attemptsOf } from './settle.ts'
import type { Transaction } from './transaction.ts'

interface Parts {
  readonly ledger: Ledger
  readonly server: Server
}

/** Keys of requests that fit the filter, in the order of ids. `next`: where to go on. */
export async function matchingKeys(
  { ledger, server }: Parts,
  filter: RequestFilter,
  { after, max }: { readonly after: number; readonly max: number },
): Promise<{ readonly keys: readonly string[]; readonly next?: number }> {
  const taskId = await ledger.read((tx) => taskOf(tx, filter.task).id)
  await ledger.applyAll()
  const { state, reason, status, hostKey, depth } = filter
  const fields = { 'd.s': state, 'd.reason': reason, 'd.status': status, 'd.h': hostKey, 'd.depth': depth }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const found = await server.find(
    'requests',
    { 'd.t': taskId, 'd.id': { $gt: after }, ...given },
    { sort: { 'd.id': 1 }, limit: max },
  )
  const last = found.at(-1)?.doc
  const isFull = found.length === max && last !== undefined
  return { keys: found.map(({ id }) => id), ...(isFull ? { next: last.id } : {}) }
}

export async function listRecords(
  parts: Parts,
  filter: RequestFilter,
  { after, max }: { readonly after?: string; readonly max: number },
): Promise<{ readonly records: readonly RequestRecord[]; readonly next?: string }> {
  // one more than asked for, to know whether there is more
  const { keys } = await matchingKeys(parts, filter, { after: Number(after ?? 0), max: max + 1 })
  const records = await parts.ledger.read((tx) => recordsOf(tx, keys.slice(0, max)))
  const last = records.at(-1)
  return keys.length > max && last !== undefined ? { records, next: last.id } : { records }
}

function recordsOf(tx: Transaction, keys: readonly string[]): RequestRecord[] {
  tx.need('requests', keys)
  const rows = keys.flatMap((key) => tx.get('requests', key) ?? [])
  const others = rows.flatMap(({ t, parent, alias }) =>
    [parent, alias].filter((fp) => fp !== undefined).map((fp) => requestKey(t, fp)),
  )
  tx.need('requests', others)
  return rows.map((row) => recordOf(tx, row))
}

export function findRecord(tx: Transaction, taskName: string, fingerprint: string): RequestRecord | undefined {
  const row = requestOf(tx, taskOf(tx, taskName).id, fingerprint)
  return row === undefined ? undefined : recordOf(tx, row)
}

function recordOf(tx: Transaction, row: RequestDocument): RequestRecord {
  const parent = row.parent === undefined ? undefined : requestOf(tx, row.t, row.parent)
  return {
    id: String(row.id),
    request: storedRequest(row, taskById(tx, row.t)?.doc.name ?? ''),
    state: row.s,
    ...(row.reason === undefined ? {} : { reason: row.reason }),
    ...(row.status === undefined ? {} : { status: row.status }),
    ...(row.hop === undefined ? {} : { finalUrl: row.hop.url }),
    ...(parent === undefined ? {} : { parentUrl: parent.url }),
    ...(row.alias === undefined ? {} : { aliasOf: rootOf(tx, row).url }),
    attempts: attemptsOf(row),
  }
}

export function statsOf({ doc }: Task): FrontierStats {
  const { pending, leased, done, failed, skipped } = doc.counts
  return {
    known: pending + leased + done + failed + skipped,
    pending,
    leased,
    done,
    failed,
    skipped: Object.fromEntries(Object.entries(doc.skipped).filter(([, n]) => n > 0)),
    hosts: doc.hosts,
    items: doc.items,
    counters: { ...doc.counters },
  }
}

/** Blocks of levels are looked for up to the deepest one, so many at a time. */
const BLOCKS = 32

export function levelsOf(tx: Transaction, { id, doc }: Task): readonly LevelStats[] {
  const levels: LevelStats[] = []
  const known = statsOf({ id, doc } as Task).known
  for (let from = 0, seen = 0; seen < known; from += BLOCKS) {
    const keys = Array.from({ length: BLOCKS }, (_, n) => levelKey(id, (from + n) * LEVELS_A_DOCUMENT))
    tx.need('levels', keys)
    for (const [depth, counts] of keys.flatMap((key) => Object.entries(tx.get('levels', key)?.levels ?? {}))) {
      const sum = counts.reduce((a, b) => a + b, 0)
      seen += sum
      if (sum === 0) continue
      const named = Object.fromEntries(STATES.map((state, at) => [state, counts[at] ?? 0]))
      levels.push({ depth: Number(depth.replace(',', '.')), ...named } as unknown as LevelStats)
    }
    if (from > MAX_BLOCKS) break
  }
  return levels.toSorted((a, b) => a.depth - b.depth)
}

/** Deeper levels than these are not listed. */
const MAX_BLOCKS = 20_000
