/** What can be asked of the PostgreSQL store: records, lists, counts. */

import type { AttemptRecord, FrontierStats, LevelStats, RequestFilter, RequestRecord } from '../../frontier/contract.ts'
import type { CounterName } from '../../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import type { Connection } from './connection.ts'
import { hopOf, requestOf, stateName } from './rows.ts'
import type { Row } from './rows.ts'
import { DONE, FAILED, PENDING, SKIPPED, TOTAL } from './schema.ts'
import { currentTask } from './session.ts'
import type { Session, Task } from './session.ts'

/** One statement looks at so many ids, so that none takes long, however few of them fit. */
const WINDOW = 100_000

const STATES = { pending: PENDING, leased: PENDING, done: DONE, failed: FAILED, skipped: SKIPPED } as const

export interface Window {
  readonly ids: readonly number[]
  /** Ids up to here have been looked at. */
  readonly upTo: number
  /** There is nothing behind. */
  readonly last: boolean
}

interface Selection {
  readonly filter: RequestFilter
  readonly after: number
  readonly max: number
  readonly deeperThan?: number
}

/** Ids of requests that fit the filter, in order, after `after`: at most `max`, from at most one window. */
export async function windowOf(
  session: Session,
  task: Task,
  { filter, after, max, deeperThan }: Selection,
): Promise<Window> {
  // Failed and leased requests have tables of their own, and are few: they need no windows.
  const isShort = filter.state === 'failed' || filter.state === 'leased'
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const source = {
    failed: '@failed f JOIN @requests r ON r.id = f.id',
    leased: '@leases l JOIN @requests r ON r.id = l.id',
  }
  const conditions = [`q.task_id = ${value(task.id)}::int`, `r.id > ${value(after)}::bigint`]
  if (!isShort) conditions.push(`r.id <= ${value(after + WINDOW)}::bigint`)
  if (filter.state !== undefined) conditions.push(`r.state = ${STATES[filter.state]}`)
  if (filter.state === 'pending') conditions.push('NOT EXISTS (SELECT 1 FROM @leases l WHERE l.id = r.id)')
  if (filter.reason !== undefined) conditions.push(`r.reason = ${value(filter.reason)}`)
  if (filter.status !== undefined) conditions.push(`r.status = ${value(filter.status)}::int`)
  if (filter.depth !== undefined) conditions.push(`r.depth = ${value(filter.depth)}::int`)
  if (deeperThan !== undefined) conditions.push(`r.depth > ${value(deeperThan)}::int`)
  if (filter.hostKey !== undefined) {
    conditions.push(`q.host_id = (SELECT h.id FROM @hosts h WHERE h.key = ${value(filter.hostKey)})`)
  }
  const from = filter.state === 'failed' || filter.state === 'leased' ? source[filter.state] : '@requests r'
  const sql = `SELECT r.id FROM ${from} JOIN @queues q ON q.id = r.queue_id
    WHERE ${conditions.join(' AND ')} ORDER BY r.id LIMIT ${value(max)}::int`
  return session.link.run(async (connection) => {
    const [[lastRow], rows] = await Promise.all([
      connection.rows<{ readonly id: number }>('SELECT id FROM @requests ORDER BY id DESC LIMIT 1'),
      connection.rows<{ readonly id: number }>(sql, ...values),
    ])
    const ids = rows.map(({ id }) => id)
    const lastId = lastRow?.id ?? 0
    const isFull = ids.length === max
    const upTo = isFull ? (ids.at(-1) ?? after) : isShort ? lastId : after + WINDOW
    return { ids, upTo, last: !isFull && upTo >= lastId }
  })
}

type RecordRow = Omit<Row, 'host_id' | 'task_id' | 'hop_host'> & {
  readonly host_key: string
  readonly leased: boolean
  readonly parent_url: string | null
  readonly alias_url: string | null
  readonly attempts: string
}

/** The last of a chain of aliases is the one that stands for all. */
const RECORDS = `SELECT r.*, h.key AS host_key, p.url AS parent_url,
  EXISTS (SELECT 1 FROM @leases l WHERE l.id = r.id) AS leased,
  (WITH RECURSIVE chain AS (
     SELECT a.id, a.url, a.alias_of FROM @requests a WHERE a.id = r.alias_of
     UNION ALL SELECT a.id, a.url, a.alias_of FROM chain c JOIN @requests a ON a.id = c.alias_of)
   SELECT url FROM chain WHERE alias_of IS NULL) AS alias_url,
  coalesce((SELECT json_agg(t.record ORDER BY t.id)::text FROM @attempts t WHERE t.request_id = r.id), '[]') AS attempts
  FROM @requests r JOIN @queues q ON q.id = r.queue_id JOIN @hosts h ON h.id = q.host_id
  LEFT JOIN @requests p ON p.id = r.parent WHERE r.id = ANY($1::bigint[]) ORDER BY r.id`

async function readRecords(connection: Connection, task: Task, ids: readonly number[]): Promise<RequestRecord[]> {
  const rows = await connection.rows<RecordRow>(RECORDS, ids)
  return rows.map((row) => recordOf(row, task))
}

function recordOf(row: RecordRow, task: Task): RequestRecord {
  const hop = hopOf(row)
  const attempts = (JSON.parse(row.attempts) as string[]).map((record) => JSON.parse(record) as AttemptRecord)
  return {
    id: String(row.id),
    request: requestOf(row, { task: task.name, hostKey: row.host_key }),
    state: stateName(row.state, row.leased),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.status === null ? {} : { status: row.status }),
    ...(hop === undefined ? {} : { finalUrl: hop.url }),
    ...(row.parent_url === null ? {} : { parentUrl: row.parent_url }),
    ...(row.alias_url === null ? {} : { aliasOf: row.alias_url }),
    attempts,
  }
}

/** Where the host is not known: one look-up a host of the task. */
const ANYWHERE = `SELECT r.id FROM @queues q JOIN @requests r ON r.queue_id = q.id AND r.fp = $2
  WHERE q.task_id = $1::int LIMIT 1`

export async function findRecord(session: Session, name: string, fp: string): Promise<RequestRecord | undefined> {
  const task = await currentTask(session, name)
  return session.link.run(async (connection) => {
    const found = await connection.rows<{ readonly id: number }>(ANYWHERE, task.id, fp)
    const [record] = await readRecords(
      connection,
      task,
      found.map(({ id }) => id),
    )
    return record
  })
}

export interface ListPage {
  readonly after?: string
  readonly max: number
}

export async function listRecords(
  session: Session,
  filter: RequestFilter,
  { after, max }: ListPage,
): Promise<{ readonly records: readonly RequestRecord[]; readonly next?: string }> {
  const task = await currentTask(session, filter.task)
  const ids: number[] = []
  let cursor = Number(after ?? 0)
  for (let last = false; !last && ids.length <= max;) {
    // one more than asked for, to know whether there is more
    const window = await windowOf(session, task, { filter, after: cursor, max: max + 1 - ids.length })
    ids.push(...window.ids)
    cursor = window.upTo
    last = window.last
  }
  const page = ids.slice(0, max)
  const records = await session.link.run((connection) => readRecords(connection, task, page))
  const lastId = page.at(-1)
  return ids.length > max && lastId !== undefined ? { records, next: String(lastId) } : { records }
}

interface CountRow {
  readonly kind: string
  readonly depth: number
  readonly n: number
}

const ALL_COUNTS = `SELECT kind, depth, sum(n)::float8 AS n FROM @counts WHERE task_id = $1::int
  GROUP BY kind, depth HAVING sum(n) <> 0`

async function countsOf(session: Session, name: string): Promise<readonly CountRow[]> {
  const { id } = await currentTask(session, name)
  return session.link.run((connection) => connection.rows<CountRow>(ALL_COUNTS, id))
}

export async function statsOf(session: Session, name: string): Promise<FrontierStats> {
  const rows = await countsOf(session, name)
  const totals = new Map(rows.filter(({ depth }) => depth === TOTAL).map(({ kind, n }) => [kind, n]))
  const of = (kind: string): number => totals.get(kind) ?? 0
  const beginning = (prefix: string): [string, number][] =>
    [...totals].flatMap(([kind, n]) => (kind.startsWith(prefix) ? [[kind.slice(prefix.length), n]] : []))
  return {
    known: of('pending') + of('leased') + of('done') + of('failed') + of('skipped'),
    pending: of('pending'),
    leased: of('leased'),
    done: of('done'),
    failed: of('failed'),
    skipped: Object.fromEntries(beginning('skipped:')),
    hosts: of('hosts'),
    items: of('items'),
    counters: { ...COUNTERS_AT_ZERO, ...(Object.fromEntries(beginning('counter:')) as Record<CounterName, number>) },
  }
}

export async function levelsOf(session: Session, name: string): Promise<readonly LevelStats[]> {
  const levels = new Map<number, { -readonly [K in keyof LevelStats]: LevelStats[K] }>()
  for (const { kind, depth, n } of await countsOf(session, name)) {
    if (depth === TOTAL) continue
    const level = levels.get(depth) ?? { depth, pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
    if (kind in level) level[kind as keyof LevelStats] = n
    levels.set(depth, level)
  }
  return [...levels.values()].toSorted((a, b) => a.depth - b.depth)
}
