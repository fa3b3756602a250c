/** How a lease ends in the embedded store: all of it in one transaction. */

import type { FailedAttempt, Outcome, RedirectTarget } from '../../core/outcome.ts'
import type { RequestState } from '../../core/request.ts'
import type { CounterName, SettleAnswer, Settlement } from '../../frontier/contract.ts'
import { isRevivable, skipOf } from '../../frontier/decide-add.ts'
import { cameNearer, discoveredNow } from '../../frontier/settlement.ts'
import { itemJson } from '../../items/item-json.ts'
import { addRequest, FINGERPRINT_LENGTH, lowerChildren, lowerDepths } from './add.ts'
import { keepLinks } from './links.ts'
import { freePlace, tokenNumber } from './lease.ts'
import { delay, enqueue, hopOf, insertRow, queueNow, rootOf, rowByFingerprint, rowById, stateOf } from './rows.ts'
import type { Row } from './rows.ts'
import { DONE, FAILED, ITEMS_OF_TASK, PENDING, SKIPPED } from './schema.ts'
import { count, findQueue, queueOf, taskOf, touchTask } from './session.ts'
import type { Session, Task } from './session.ts'

/** One lease that is being settled. Depth and priority are what the request has by now. */
interface Settling {
  readonly id: number
  readonly task: Task
  readonly depth: number
  readonly priority: number
  /** Of its first new item, when it has any. */
  readonly itemSeq: number
}

export function settleOne(session: Session, settlement: Settlement): SettleAnswer {
  const { lease, outcome } = settlement
  const { failpoint } = session
  const id = Number(lease.id)
  const token = tokenNumber(session, lease.token)
  if (token === undefined) return 'lost'
  const held = session.sql.run(
    'DELETE FROM leases WHERE id = ? AND owner_id = ? AND token = ?',
    id,
    session.ownerId,
    token,
  )
  if (held === 0) return 'lost'
  failpoint?.('settle:lease-ended')
  const task = taskOf(session, lease.request.task)
  if (lease.unpaced !== true) {
    const queue = queueOf(session, task, lease.hostKey)
    freePlace(session, queue, { signal: settlement.host, leasedAtMs: lease.leasedAtMs })
  }
  failpoint?.('settle:host')
  const itemSeq = task.lastSeq + 1
  const row = settleRow(session, { id, task, itemSeq }, settlement)
  count(session, task, { state: 'leased', depth: row.depth, by: -1 })
  applyOutcome(session, { id, task, itemSeq, ...row }, outcome)
  failpoint?.('settle:outcome')
  keepItems(session, { id, task, itemSeq, ...row }, settlement)
  failpoint?.('settle:items')
  discover(session, { id, task, itemSeq, ...row }, settlement)
  failpoint?.('settle:discovered')
  keepLinks(session, { id, task }, settlement)
  failpoint?.('settle:links')
  for (const [name, by] of Object.entries(settlement.counts ?? {})) task.counters[name as CounterName] += by
  touchTask(session, task)
  return 'settled'
}

interface Ending {
  readonly state: number
  readonly reason: string | null
  readonly status: number | null
  /** Null: stays as it was. */
  readonly keepStatus: boolean
  readonly charge: number
}

/** The columns that an outcome sets; the rest of it is done by `applyOutcome`. */
function endingOf(outcome: Outcome): Ending {
  const kept = { reason: null, status: null, keepStatus: true, charge: 0 }
  switch (outcome.kind) {
    case 'done':
      return { ...kept, state: DONE, status: outcome.status, keepStatus: false }
    case 'skipped':
      return { ...kept, state: SKIPPED, reason: outcome.reason }
    case 'failed': {
      const { failure, status = null } = outcome.attempt
      return { state: FAILED, reason: failure, status, keepStatus: false, charge: 1 }
    }
    case 'retry': {
      const { status = null } = outcome.attempt
      return { ...kept, state: PENDING, status, keepStatus: false, charge: outcome.charged ? 1 : 0 }
    }
    case 'redirected':
    case 'released':
      return { ...kept, state: PENDING }
  }
}

interface Standing {
  readonly depth: number
  readonly priority: number
}

/** Writes the row and tells where it stands by now. */
function settleRow(
  session: Session,
  { id, itemSeq }: Pick<Settling, 'id' | 'task' | 'itemSeq'>,
  { outcome, items, lease, visit }: Settlement,
): Standing {
  const { sql } = session
  if (outcome.kind === 'done') {
    // What nearly all settlements are, at half the price: the request stands where it stood when it was leased.
    const { depth, priority } = lease.request
    const same = sql.run(
      `UPDATE requests SET state = ${DONE}, reason = NULL, status = ?, item_seq = ifnull(?, item_seq),
         item_count = ifnull(?, item_count), visit = ifnull(?, visit) WHERE id = ? AND depth = ? AND priority = ?`,
      outcome.status,
      items.length === 0 ? null : itemSeq,
      items.length === 0 ? null : items.length,
      visit ?? null,
      id,
      depth,
      priority,
    )
    if (same === 1) return { depth, priority }
  }
  const { state, reason, status, keepStatus, charge } = endingOf(outcome)
  const row = sql.one<Standing>(
    `UPDATE requests SET state = ?, reason = ?, status = iif(?, status, ?), attempt = attempt + ?,
       item_seq = ifnull(?, item_seq), item_count = ifnull(?, item_count), visit = ifnull(?, visit) WHERE id = ? RETURNING depth, priority`,
    state,
    reason,
    keepStatus ? 1 : 0,
    status,
    charge,
    items.length === 0 ? null : itemSeq,
    items.length === 0 ? null : items.length,
    visit ?? null,
    id,
  )
  if (row === undefined) throw new Error(`Request ${id} is leased and is not there`)
  return row
}

function applyOutcome(session: Session, settling: Settling, outcome: Outcome): void {
  const { task, depth } = settling
  const as = (state: RequestState, reason: string | null = null): void => {
    count(session, task, { state, depth, by: 1, reason })
  }
  switch (outcome.kind) {
    case 'done':
      as('done')
      return
    case 'skipped':
      as('skipped', outcome.reason)
      return
    case 'failed':
      logAttempt(session, settling.id, outcome.attempt)
      as('failed')
      return
    case 'retry':
      logAttempt(session, settling.id, outcome.attempt)
      as('pending')
      if (outcome.retryInMs > 0) delay(session, settling.id, session.storeClock.nowMs() + outcome.retryInMs)
      else putBack(session, settling)
      return
    case 'released':
      as('pending')
      putBack(session, settling)
      return
    case 'redirected':
      redirect(session, settling, outcome.to)
  }
}

function putBack(session: Session, { id }: Settling): void {
  const row = rowById(session, id)
  if (row !== undefined) enqueue(session, queueNow(session, row), row)
}

function logAttempt({ sql, clock }: Session, id: number, attempt: FailedAttempt): void {
  const record = JSON.stringify({ ...attempt, at: new Date(clock.nowMs()).toISOString() })
  sql.run('INSERT INTO attempts(request_id, record) VALUES (?, ?)', id, record)
}

function redirect(session: Session, settling: Settling, to: RedirectTarget): void {
  const { sql } = session
  const { id, task, depth, priority } = settling
  const targetQueue = findQueue(session, task, to.hostKey)
  const met = targetQueue === undefined ? undefined : rowByFingerprint(session, targetQueue, to.fingerprint)
  const target = met === undefined ? undefined : rootOf(session, met)
  if (target !== undefined && target.id !== id && !isRevivable(knownOf(session, target))) {
    count(session, task, { state: 'skipped', depth, by: 1, reason: 'duplicate' })
    sql.run(`UPDATE requests SET state = ${SKIPPED}, reason = 'duplicate', alias_of = ? WHERE id = ?`, target.id, id)
    lowerDepths(session, [{ id: target.id, depth }])
    return
  }
  const hopQueue = queueOf(session, task, to.hostKey)
  if (target === undefined) {
    const { url, fingerprint, hostKey } = to
    const request = { task: task.name, url, fingerprint, hostKey, depth, priority }
    insertRow(session, hopQueue, { request, skip: 'duplicate', parent: id, aliasOf: id })
  } else if (target.id !== id) {
    count(session, task, { state: 'skipped', depth: target.depth, by: -1, reason: target.reason })
    count(session, task, { state: 'skipped', depth: target.depth, by: 1, reason: 'duplicate' })
    sql.run("UPDATE requests SET reason = 'duplicate', alias_of = ? WHERE id = ?", id, target.id)
  }
  const row = rowById(session, id)
  const hops = [...((row === undefined ? undefined : hopOf(row))?.hops ?? []), to.hop]
  sql.run(
    'UPDATE requests SET hop = ?, hop_queue = ? WHERE id = ?',
    JSON.stringify({ url: to.url, hops }),
    hopQueue.id,
    id,
  )
  count(session, task, { state: 'pending', depth, by: 1 })
  enqueue(session, hopQueue, { id, depth, priority })
}

function knownOf(session: Session, row: Row): { state: RequestState; reason: string | undefined } {
  return { state: stateOf(session, row), reason: row.reason ?? undefined }
}

/** New items take the place of older ones: a page that is crawled again is in the list once. */
function keepItems(session: Session, { id, task, itemSeq, depth }: Settling, { items, outcome }: Settlement): void {
  const { sql } = session
  session.memory.hasReplaced ??= sql.one('SELECT 1 FROM replaced LIMIT 1') !== undefined
  if (session.memory.hasReplaced && (outcome.kind === 'done' || items.length > 0)) {
    dropReplaced(session, task, { id, hasNew: items.length > 0 })
  }
  if (items.length === 0) return
  for (const draft of items) {
    const itemId = task.id * ITEMS_OF_TASK + ++task.lastSeq
    sql.run('INSERT INTO items VALUES (?, ?, ?)', itemId, itemJson(draft, depth), draft.isPage === true ? 1 : 0)
  }
  task.items += items.length
  if (!GOES_ON.has(outcome.kind)) return
  sql.run('INSERT OR REPLACE INTO replaced VALUES (?, ?, ?)', id, itemSeq, items.length)
  session.memory.hasReplaced = true
}

/** Outcomes after which the request will be settled again. */
const GOES_ON: ReadonlySet<Outcome['kind']> = new Set(['retry', 'redirected', 'released'])

function dropReplaced(session: Session, task: Task, { id, hasNew }: { id: number; hasNew: boolean }): void {
  const { sql } = session
  const old = sql.one<{ item_seq: number; item_count: number }>(
    'DELETE FROM replaced WHERE request_id = ? RETURNING item_seq, item_count',
    id,
  )
  session.memory.hasReplaced = undefined
  if (old === undefined) return
  const from = task.id * ITEMS_OF_TASK + old.item_seq
  task.items -= sql.run('DELETE FROM items WHERE id >= ? AND id < ?', from, from + old.item_count)
  task.revision++
  if (!hasNew) sql.run('UPDATE requests SET item_seq = NULL, item_count = NULL WHERE id = ?', id)
}

function discover(session: Session, { id, task, depth }: Settling, settlement: Settlement): void {
  const { maxDepth } = task.settings
  const children: number[] = []
  for (const request of discoveredNow(settlement, depth)) {
    const { id: child } = addRequest(session, request, { task, parent: id })
    const skip = skipOf(request, maxDepth)
    if (maxDepth !== undefined && (skip === undefined || skip === 'depth')) children.push(child)
  }
  const known = settlement.knownLinks ?? []
  if (maxDepth === undefined || (children.length === 0 && known.length === 0)) return
  const links = known.filter((fingerprint) => fingerprint.length === FINGERPRINT_LENGTH).join('')
  session.sql.run('INSERT OR REPLACE INTO links VALUES (?, ?, ?)', id, JSON.stringify(children), links)
  // what the worker took for known is known at the depth it reckoned with
  if (cameNearer(settlement, depth)) lowerChildren(session, { id, depth })
}
