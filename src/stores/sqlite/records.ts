/** What can be asked of the embedded store: records, lists, counts. */

import type { AttemptRecord, FrontierStats, LevelStats, RequestFilter, RequestRecord } from '../../frontier/contract.ts'
import type { SqlValue } from '../sqlite-driver.ts'
import { hopOf, ownQueue, requestOf, rootOf, rowAnywhere, rowById, stateOf } from './rows.ts'
import type { Row } from './rows.ts'
import { DONE, FAILED, PENDING, SKIPPED, TOTAL } from './schema.ts'
import { taskOf } from './session.ts'
import type { Session, Task } from './session.ts'

/** One statement looks at so many ids, so that none takes long, however few of them fit. */
const WINDOW = 50_000

const STATES = { pending: PENDING, leased: PENDING, done: DONE, failed: FAILED, skipped: SKIPPED } as const

export interface Window {
  readonly rows: readonly Row[]
  /** Ids up to here have been looked at. */
  readonly upTo: number
  /** There is nothing behind. */
  readonly last: boolean
}

/** Rows that fit the filter, in the order of ids, after `after`: at most `max`, from at most one window. */
export function matchingRows(
  session: Session,
  filter: RequestFilter,
  { after, max }: { readonly after: number; readonly max: number },
): Window {
  const { sql } = session
  const task = taskOf(session, filter.task)
  const lastId = sql.one<{ id: number | null }>('SELECT max(id) AS id FROM requests')?.id ?? 0
  const upTo = hasNoWindows(filter) ? lastId : Math.min(lastId, after + WINDOW)
  const parts: [condition: string, value: SqlValue | undefined][] = [
    ['r.id > ?', after],
    ['r.id <= ?', upTo],
    ['q.task_id = ?', task.id],
    [IDS, filter.ids === undefined ? undefined : JSON.stringify(filter.ids.map(Number))],
    ['r.reason = ?', filter.reason],
    ['r.status = ?', filter.status],
    ['r.depth = ?', filter.depth],
    ['q.host_id = (SELECT id FROM hosts WHERE key = ?)', filter.hostKey],
  ]
  const used = parts.filter(([, value]) => value !== undefined)
  const conditions = [...used.map(([condition]) => condition), ...stateConditions(filter.state)]
  const source = filter.state === 'leased' ? 'leases l CROSS JOIN requests r ON r.id = l.id' : 'requests r'
  const rows = sql.all<Row>(
    `SELECT r.* FROM ${source} CROSS JOIN queues q ON q.id = r.queue_id
     WHERE ${conditions.join(' AND ')} ORDER BY r.id LIMIT ?`,
    ...used.map(([, value]) => value ?? null),
    max,
  )
  const full = rows.length === max
  return { rows, upTo: full ? (rows.at(-1)?.id ?? upTo) : upTo, last: !full && upTo >= lastId }
}

const IDS = 'r.id IN (SELECT value FROM json_each(?))'

/** Failed requests have an index, leased ones are few, and those that are named are looked up. */
function hasNoWindows({ state, ids }: RequestFilter): boolean {
  return state === 'failed' || state === 'leased' || ids !== undefined
}

function stateConditions(state: RequestFilter['state']): string[] {
  if (state === undefined) return []
  const stored = `r.state = ${STATES[state]}`
  return state === 'pending' ? [stored, 'NOT EXISTS (SELECT 1 FROM leases l WHERE l.id = r.id)'] : [stored]
}

export function findRecord(session: Session, taskName: string, fingerprint: string): RequestRecord | undefined {
  const row = rowAnywhere(session, taskOf(session, taskName).id, fingerprint)
  return row === undefined ? undefined : recordOf(session, row)
}

export function recordOf(session: Session, row: Row): RequestRecord {
  const { sql } = session
  const hop = hopOf(row)
  const parent = row.parent === null ? undefined : rowById(session, row.parent)
  const attempts = sql.all<{ record: string }>('SELECT record FROM attempts WHERE request_id = ? ORDER BY id', row.id)
  return {
    id: String(row.id),
    request: requestOf(row, ownQueue(session, row)),
    state: stateOf(session, row),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.status === null ? {} : { status: row.status }),
    ...(hop === undefined ? {} : { finalUrl: hop.url }),
    ...(parent === undefined ? {} : { parentUrl: parent.url }),
    ...(row.alias_of === null ? {} : { aliasOf: rootOf(session, row).url }),
    attempts: attempts.map(({ record }) => JSON.parse(record) as AttemptRecord),
    ...(row.visit === null ? {} : { visit: row.visit }),
  }
}

export function statsOf(session: Session, task: Task): FrontierStats {
  const { pending, leased, done, failed, skipped } = task.counts
  const reasons = session.sql.all<{ kind: string; n: number }>(
    "SELECT kind, n FROM counts WHERE task_id = ? AND depth = ? AND kind > 'skipped:' AND kind < 'skipped;' AND n > 0",
    task.id,
    TOTAL,
  )
  return {
    known: pending + leased + done + failed + skipped,
    pending,
    leased,
    done,
    failed,
    skipped: Object.fromEntries(reasons.map(({ kind, n }) => [kind.slice('skipped:'.length), n])),
    hosts: task.hosts,
    items: task.items,
    counters: { ...task.counters },
  }
}

export function levelsOf({ sql }: Session, task: Task): readonly LevelStats[] {
  const levels = new Map<number, { -readonly [K in keyof LevelStats]: LevelStats[K] }>()
  const rows = sql.all<{ kind: string; depth: number; n: number }>(
    'SELECT kind, depth, n FROM counts WHERE task_id = ? AND depth >= 0 AND n > 0',
    task.id,
  )
  for (const { kind, depth, n } of rows) {
    const level = levels.get(depth) ?? { depth, pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
    if (kind in level) level[kind as keyof LevelStats] = n
    levels.set(depth, level)
  }
  return [...levels.values()].toSorted((a, b) => a.depth - b.depth)
}
