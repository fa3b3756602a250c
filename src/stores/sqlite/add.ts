/** The known-set of the embedded store: adding, reviving, and depths that come nearer. */

import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer } from '../../frontier/contract.ts'
import { decideAdd, skipOf } from '../../frontier/decide-add.ts'
import { withDepth } from '../../items/item-json.ts'
import {
  dequeue,
  enqueue,
  extraOf,
  insertRow,
  ownQueue,
  queueNow,
  rootOf,
  rowAnywhere,
  rowByFingerprint,
  rowById,
  stateOf,
} from './rows.ts'
import type { Row } from './rows.ts'
import { ITEMS_OF_TASK, PENDING, SKIPPED } from './schema.ts'
import { count, queueOf, taskOf, touchTask } from './session.ts'
import type { Queue, Session, Task } from './session.ts'

export interface Added {
  readonly answer: AddAnswer
  /** Of the request itself, not of what stands for it. */
  readonly id: number
}

export function addRequests(session: Session, requests: readonly StoredRequest[]): AddAnswer[] {
  return requests.map((request) => addRequest(session, request, { task: taskOf(session, request.task) }).answer)
}

export function addRequest(
  session: Session,
  request: StoredRequest,
  { task, parent = null }: { readonly task: Task; readonly parent?: number | null },
): Added {
  const queue = queueOf(session, task, request.hostKey)
  const { maxDepth } = task.settings
  const inserted = insertRow(session, queue, { request, skip: skipOf(request, maxDepth), parent })
  if (inserted !== undefined) return { answer: 'added', id: inserted }
  const met = rowByFingerprint(session, queue, request.fingerprint)
  if (met === undefined) throw new Error(`Request ${request.fingerprint} is known and is not there`)
  const row = rootOf(session, met)
  const state = stateOf(session, row)
  const decision = decideAdd({ ...row, state, reason: row.reason ?? undefined }, request, maxDepth)
  const own = row === met ? { request, parent } : undefined
  switch (decision.kind) {
    case 'insert':
    case 'known':
      return { answer: 'known', id: met.id }
    case 'improve':
      setPlace(session, row, { depth: row.depth, priority: decision.priority })
      lowerDepths(session, [{ id: row.id, depth: decision.depth }])
      return { answer: 'updated', id: met.id }
    case 'defer':
      adopt(session, row, { request, own, reason: 'depth' })
      return { answer: decision.updated ? 'updated' : 'known', id: met.id }
    case 'revive':
      adopt(session, row, { request, own, reason: row.reason })
      revive(session, { ...row, depth: request.depth, priority: request.priority })
      return { answer: 'added', id: met.id }
  }
}

/** A skipped row takes the request as it was met now. An alias lends its standing request only depth and priority. */
function adopt(
  session: Session,
  row: Row,
  from: { request: StoredRequest; own: { parent: number | null } | undefined; reason: string | null },
): void {
  const { request, own, reason } = from
  const { task } = ownQueue(session, row)
  count(session, task, { state: 'skipped', depth: row.depth, by: -1, reason: row.reason })
  count(session, task, { state: 'skipped', depth: request.depth, by: 1, reason })
  session.sql.run(
    'UPDATE requests SET depth = ?, priority = ?, reason = ?, url = ?, extra = ?, parent = ? WHERE id = ?',
    request.depth,
    request.priority,
    reason,
    own === undefined ? row.url : request.url,
    own === undefined ? row.extra : extraOf(request),
    own === undefined ? row.parent : own.parent,
    row.id,
  )
}

/** A settled or refused row goes back to its queue as if it had never been tried. `row` as it is in the file. */
export function revive(session: Session, row: Row): void {
  const queue = ownQueue(session, row)
  const state = stateOf(session, row)
  count(session, queue.task, { state, depth: row.depth, by: -1, reason: row.reason })
  count(session, queue.task, { state: 'pending', depth: row.depth, by: 1 })
  session.sql.run(
    `UPDATE requests SET state = ${PENDING}, reason = NULL, status = NULL, attempt = 0, hop = NULL, hop_queue = NULL
     WHERE id = ?`,
    row.id,
  )
  const old = session.sql.run(
    'INSERT OR REPLACE INTO replaced SELECT id, item_seq, item_count FROM requests WHERE id = ? AND item_count > 0',
    row.id,
  )
  if (old > 0) session.memory.hasReplaced = true
  enqueue(session, queue, row)
}

interface Lowering {
  readonly id: number
  readonly depth: number
}

/** Steps of one transaction; the rest is kept in the file and done by those that follow. */
const MAX_STEPS = 2000

/** Brings requests, and all that they lead to, nearer: see invariant 8. */
export function lowerDepths(session: Session, first: readonly Lowering[]): void {
  const work = [...first]
  let steps = 0
  for (const next of work) {
    if (++steps > MAX_STEPS) break
    const met = rowById(session, next.id)
    if (met === undefined) continue
    const row = rootOf(session, met)
    if (next.depth >= row.depth) continue
    setPlace(session, row, { depth: next.depth, priority: row.priority })
    for (const id of childrenOf(session, row)) work.push({ id, depth: next.depth + 1 })
  }
  for (const { id, depth } of work.slice(steps - (steps > MAX_STEPS ? 1 : 0))) {
    session.sql.run(
      'INSERT INTO lowering VALUES (?, ?) ON CONFLICT DO UPDATE SET depth = min(depth, excluded.depth)',
      id,
      depth,
    )
  }
}

/** Brings what a request leads to nearer, and all that this leads to. `depth`: of the request. */
export function lowerChildren(session: Session, { id, depth }: Lowering): void {
  const row = rowById(session, id)
  if (row === undefined) return
  lowerDepths(
    session,
    childrenOf(session, row).map((child) => ({ id: child, depth: depth + 1 })),
  )
}

/** Goes on with what an earlier transaction left. */
export function continueLowering(session: Session): void {
  const rest = session.sql.all<Lowering>(`SELECT id, depth FROM lowering ORDER BY depth LIMIT ${MAX_STEPS / 4}`)
  for (const { id } of rest) session.sql.run('DELETE FROM lowering WHERE id = ?', id)
  if (rest.length > 0) lowerDepths(session, rest)
}

function childrenOf(session: Session, row: Row): number[] {
  const links = session.sql.one<{ ids: string; known: string }>(
    'SELECT ids, known FROM links WHERE request_id = ?',
    row.id,
  )
  if (links === undefined) return []
  const near = queueNow(session, row)
  const ids = JSON.parse(links.ids) as number[]
  for (let at = 0; at < links.known.length; at += FINGERPRINT_LENGTH) {
    const fingerprint = links.known.slice(at, at + FINGERPRINT_LENGTH)
    const child = rowByFingerprint(session, near, fingerprint) ?? rowAnywhere(session, near.task.id, fingerprint)
    if (child !== undefined) ids.push(child.id)
  }
  return ids
}

/** Known links are kept as one string of fingerprints, which all have this length. */
export const FINGERPRINT_LENGTH = 16

function setPlace(session: Session, row: Row, to: { readonly depth: number; readonly priority: number }): void {
  if (to.depth === row.depth && to.priority === row.priority) return
  const queue = queueNow(session, row)
  const { task } = queue
  const state = stateOf(session, row)
  session.sql.run('UPDATE requests SET depth = ?, priority = ? WHERE id = ?', to.depth, to.priority, row.id)
  count(session, task, { state, depth: row.depth, by: -1, reason: row.reason })
  count(session, task, { state, depth: to.depth, by: 1, reason: row.reason })
  if (state === 'pending' && dequeue(session, queue, row)) enqueue(session, queue, { id: row.id, ...to })
  if (to.depth >= row.depth) return
  const { maxDepth } = task.settings
  const inReach = maxDepth !== undefined && to.depth <= maxDepth
  if (row.state === SKIPPED && row.reason === 'depth' && inReach) revive(session, { ...row, ...to })
  lowerItems(session, queue, { id: row.id, depth: to.depth })
}

/** The page's own record follows its depth. */
function lowerItems(session: Session, { task }: Queue, { id, depth }: Lowering): void {
  const { sql } = session
  const kept = sql.one<{ item_seq: number | null; item_count: number | null }>(
    'SELECT item_seq, item_count FROM requests WHERE id = ?',
    id,
  )
  if (kept === undefined || kept.item_seq === null || kept.item_count === null) return
  const from = task.id * ITEMS_OF_TASK + kept.item_seq
  const items = sql.all<{ id: number; json: string }>(
    'SELECT id, json FROM items WHERE id >= ? AND id < ? AND is_page = 1',
    from,
    from + kept.item_count,
  )
  for (const item of items) {
    sql.run('UPDATE items SET json = ? WHERE id = ?', withDepth(item.json, depth), item.id)
    task.revision++
    touchTask(session, task)
  }
}
