/** Rows of requests: read, inserted, and put into their place. */

import type { JsonObject } from '../../core/json.ts'
import type { RequestState, StoredRequest } from '../../core/request.ts'
import { placeOf } from '../../frontier/order.ts'
import { DONE, FAILED, PENDING, SKIPPED } from './schema.ts'
import { count, queueById, touchQueue, touchTask } from './session.ts'
import type { Queue, Session } from './session.ts'

export interface Row {
  readonly id: number
  readonly queue_id: number
  readonly fp: string
  readonly state: number
  readonly depth: number
  readonly priority: number
  readonly url: string
  readonly reason: string | null
  readonly status: number | null
  readonly parent: number | null
  readonly alias_of: number | null
  readonly attempt: number
  readonly extra: string | null
  readonly hop: string | null
  /** The queue of the host that redirects have led to. */
  readonly hop_queue: number | null
  /** What is remembered of the last look at the page. */
  readonly visit: string | null
}

export interface Hop {
  readonly url: string
  readonly hops: readonly string[]
}

type Extra = Pick<StoredRequest, 'label' | 'userData' | 'method' | 'headers' | 'payload' | 'cache'>

const COLUMNS =
  'id, queue_id, fp, state, depth, priority, url, reason, status, parent, alias_of, attempt, extra, hop, hop_queue, visit'

export function rowById({ sql }: Session, id: number): Row | undefined {
  return sql.one<Row>(`SELECT ${COLUMNS} FROM requests WHERE id = ?`, id)
}

export function rowByFingerprint({ sql }: Session, queue: Queue, fingerprint: string): Row | undefined {
  return sql.one<Row>(`SELECT ${COLUMNS} FROM requests WHERE queue_id = ? AND fp = ?`, queue.id, fingerprint)
}

/** Where the host is not known: one look-up a host of the task. `near` is tried first. */
export function rowAnywhere(session: Session, taskId: number, fingerprint: string): Row | undefined {
  const columns = COLUMNS.replaceAll(/\w+/g, 'r.$&')
  return session.sql.one<Row>(
    `SELECT ${columns} FROM queues q CROSS JOIN requests r ON r.queue_id = q.id AND r.fp = ? WHERE q.task_id = ? LIMIT 1`,
    fingerprint,
    taskId,
  )
}

/** The request that stands for this one: itself, or where redirects led from one to the other. */
export function rootOf(session: Session, row: Row): Row {
  let root = row
  while (root.alias_of !== null) {
    const next = rowById(session, root.alias_of)
    if (next === undefined) return root
    root = next
  }
  return root
}

export interface NewRow {
  readonly request: StoredRequest
  readonly skip: string | undefined
  readonly parent: number | null
  readonly aliasOf?: number
}

/** Answers the id, or undefined when the fingerprint is known already: nothing is changed then. */
export function insertRow(session: Session, queue: Queue, from: NewRow): number | undefined {
  const { sql } = session
  const { request, skip } = from
  session.memory.lastRequestId ||= highestId(session)
  const id = session.memory.lastRequestId + 1
  const { fingerprint, depth, priority, url } = request
  const extra = extraOf(request)
  const { parent, aliasOf = null } = from
  const inserted =
    skip === undefined && extra === null && aliasOf === null
      ? sql.run(
          `INSERT INTO requests(id, queue_id, fp, state, depth, priority, url, parent)
           VALUES (?, ?, ?, ${PENDING}, ?, ?, ?, ?) ON CONFLICT(queue_id, fp) DO NOTHING`,
          id,
          queue.id,
          fingerprint,
          depth,
          priority,
          url,
          parent,
        )
      : sql.run(
          `INSERT INTO requests(id, queue_id, fp, state, depth, priority, url, reason, parent, alias_of, extra)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(queue_id, fp) DO NOTHING`,
          id,
          queue.id,
          fingerprint,
          skip === undefined ? PENDING : SKIPPED,
          depth,
          priority,
          url,
          skip ?? null,
          parent,
          aliasOf,
          extra,
        )
  if (inserted === 0) return undefined
  session.memory.lastRequestId = id
  const state = skip === undefined ? 'pending' : 'skipped'
  count(session, queue.task, { state, depth, by: 1, reason: skip ?? null })
  if (skip === undefined) enqueue(session, queue, { id, depth, priority })
  return id
}

/** Ids are never given twice, also after their requests were cleared. */
export function highestId({ sql }: Session): number {
  const row = sql.one<{ id: number }>(
    `SELECT max(ifnull((SELECT max(id) FROM requests), 0),
       ifnull((SELECT value FROM meta WHERE key = 'last_request_id'), 0)) AS id`,
  )
  return row?.id ?? 0
}

interface Placed {
  readonly id: number
  readonly depth: number
  readonly priority: number
}

/** Puts a request into the queue. */
export function enqueue(session: Session, queue: Queue, row: Placed): void {
  const { priority, level, id } = placeOf(row, queue.task.settings.order)
  session.sql.run('INSERT INTO ready VALUES (?, ?, ?, ?)', queue.id, 0 - priority, level, id)
  queue.ready++
  touchQueue(session, queue)
  if (queue.opened) return
  queue.opened = true
  queue.task.hosts++
  touchTask(session, queue.task)
}

/** Puts a request aside until its time has come. */
export function delay(session: Session, id: number, retryAtMs: number): void {
  session.sql.run('INSERT INTO delayed VALUES (?, ?)', id, retryAtMs)
}

/** Takes it out of the queue: false when it was not there, so it is delayed or leased. */
export function dequeue(session: Session, queue: Queue, row: Placed): boolean {
  const { priority, level, id } = placeOf(row, queue.task.settings.order)
  const gone = session.sql.run(
    'DELETE FROM ready WHERE queue_id = ? AND urgency = ? AND level = ? AND id = ?',
    queue.id,
    0 - priority,
    level,
    id,
  )
  if (gone === 0) return false
  queue.ready--
  touchQueue(session, queue)
  return true
}

/** The queue in which a request waits now. */
export function queueNow(session: Session, row: Pick<Row, 'queue_id' | 'hop_queue'>): Queue {
  const queue = queueById(session, row.hop_queue ?? row.queue_id)
  if (queue === undefined) throw new Error(`Queue ${row.hop_queue ?? row.queue_id} is not there`)
  return queue
}

/** The queue of the host of its own URL. */
export function ownQueue(session: Session, row: Pick<Row, 'queue_id'>): Queue {
  const queue = queueById(session, row.queue_id)
  if (queue === undefined) throw new Error(`Queue ${row.queue_id} is not there`)
  return queue
}

export function stateOf(session: Session, row: Pick<Row, 'id' | 'state'>): RequestState {
  if (row.state === DONE) return 'done'
  if (row.state === FAILED) return 'failed'
  if (row.state === SKIPPED) return 'skipped'
  const lease = session.sql.one('SELECT 1 FROM leases WHERE id = ?', row.id)
  return lease === undefined ? 'pending' : 'leased'
}

export function requestOf(row: Pick<Row, 'url' | 'fp' | 'depth' | 'priority' | 'extra'>, queue: Queue): StoredRequest {
  return {
    task: queue.task.name,
    url: row.url,
    fingerprint: row.fp,
    hostKey: queue.host.key,
    depth: row.depth,
    priority: row.priority,
    ...(row.extra === null ? {} : (JSON.parse(row.extra) as Extra)),
  }
}

/** What few requests have, as JSON; most have none of it. */
export function extraOf({ label, userData, method, headers, payload, cache }: StoredRequest): string | null {
  if (label === undefined && userData === undefined && method === undefined) {
    if (headers === undefined && payload === undefined && cache === undefined) return null
  }
  return JSON.stringify({ label, userData, method, headers, payload, cache } satisfies JsonObject)
}

export function hopOf(row: Pick<Row, 'hop'>): Hop | undefined {
  return row.hop === null ? undefined : (JSON.parse(row.hop) as Hop)
}
