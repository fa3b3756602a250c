/** How a lease ends in the MongoDB store: all of it in one record of the log. */

import type { FailedAttempt, Outcome, RedirectTarget } from '../../core/outcome.ts'
import type { AttemptRecord, CounterName, SettleAnswer, Settlement } from '../../frontier/contract.ts'
import { isRevivable } from '../../frontier/decide-add.ts'
import { cameNearer, childrenOf, discoveredNow } from '../../frontier/settlement.ts'
import { itemJson } from '../../items/item-json.ts'
import { requestKey } from './documents.ts'
import type { RequestDocument } from './documents.ts'
import { dropItem, putItem } from './items.ts'
import { addRequest, lowerDepths, wantRequests } from './known.ts'
import { freePlace, rowOfLease, wantLeases } from './lease.ts'
import { atRest, delayed, editTask, inQueue, insertRow, requestOf, rootOf, setRow, taskById } from './rows.ts'
import type { Task } from './rows.ts'
import type { Transaction } from './transaction.ts'

export function wantSettlements(tx: Transaction, settlements: readonly Settlement[]): void {
  wantLeases(
    tx,
    settlements.map(({ lease }) => lease),
  )
  for (const { lease, discovered, outcome } of settlements) {
    wantRequests(tx, lease.request.task, discovered)
    if (outcome.kind !== 'redirected') continue
    const { url, fingerprint, hostKey } = outcome.to
    wantRequests(tx, lease.request.task, [{ ...lease.request, url, fingerprint, hostKey }])
  }
}

export function settleOne(tx: Transaction, settlement: Settlement): SettleAnswer {
  const row = rowOfLease(tx, settlement.lease)
  const task = row === undefined ? undefined : taskById(tx, row.t)
  if (row === undefined || task === undefined) return 'lost'
  freePlace(tx, row, settlement.host)
  applyOutcome(tx, row, settlement.outcome)
  keepItems(tx, nowOf(tx, row), settlement)
  discover(tx, nowOf(tx, row), { task, settlement })
  const { counters } = editTask(tx, task.id)
  for (const [name, by] of Object.entries(settlement.counts ?? {})) counters[name as CounterName] += by
  return 'settled'
}

/** The request as it is after what was done so far. */
function nowOf(tx: Transaction, { t, fp }: RequestDocument): RequestDocument {
  const row = requestOf(tx, t, fp)
  if (row === undefined) throw new Error(`Request ${requestKey(t, fp)} is leased and is not there`)
  return row
}

function applyOutcome(tx: Transaction, row: RequestDocument, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'done':
      setRow(tx, row, atRest(row, { s: 'done', reason: undefined, status: outcome.status }))
      return
    case 'skipped':
      setRow(tx, row, atRest(row, { s: 'skipped', reason: outcome.reason }))
      return
    case 'failed': {
      const logged = withAttempt(tx, { ...row, tries: row.tries + 1 }, outcome.attempt)
      setRow(tx, row, atRest(logged, { s: 'failed', reason: outcome.attempt.failure }))
      return
    }
    case 'retry': {
      const logged = withAttempt(tx, { ...row, tries: row.tries + (outcome.charged ? 1 : 0) }, outcome.attempt)
      const { retryInMs } = outcome
      setRow(tx, row, retryInMs > 0 ? delayed(logged, tx.nowMs + retryInMs) : inQueue(tx, logged))
      return
    }
    case 'released':
      setRow(tx, row, inQueue(tx, row))
      return
    case 'redirected':
      redirect(tx, row, outcome.to)
  }
}

function withAttempt(tx: Transaction, row: RequestDocument, attempt: FailedAttempt): RequestDocument {
  const before = attemptsOf(row)
  const attempts = JSON.stringify([...before, { ...attempt, at: new Date(tx.wallMs).toISOString() }])
  return { ...row, status: attempt.status, attempts }
}

export function attemptsOf({ attempts }: RequestDocument): readonly AttemptRecord[] {
  return attempts === undefined ? [] : (JSON.parse(attempts) as AttemptRecord[])
}

function redirect(tx: Transaction, row: RequestDocument, to: RedirectTarget): void {
  const met = requestOf(tx, row.t, to.fingerprint)
  const target = met === undefined ? undefined : rootOf(tx, met)
  const isOther = target !== undefined && target.id !== row.id
  if (isOther && !isRevivable({ state: target.s, reason: target.reason })) {
    setRow(tx, row, atRest(row, { s: 'skipped', reason: 'duplicate', alias: target.fp }))
    lowerDepths(tx, [{ key: requestKey(target.t, target.fp), depth: row.depth }])
    return
  }
  if (target === undefined) {
    const { priority, depth, fp } = row
    const { url, fingerprint, hostKey } = to
    const request = { task: '', url, fingerprint, hostKey, depth, priority }
    insertRow(tx, row.t, { request, skip: 'duplicate', parent: fp, alias: fp })
  } else if (isOther) {
    setRow(tx, target, { ...target, reason: 'duplicate', alias: row.fp })
  }
  const hop = { url: to.url, h: to.hostKey, hops: [...(row.hop?.hops ?? []), to.hop] }
  setRow(tx, row, inQueue(tx, { ...row, hop }))
}

/** New items take the place of older ones: a page that is crawled again is in the list once. */
function keepItems(tx: Transaction, row: RequestDocument, { items, outcome }: Settlement): void {
  const replaces = row.items !== undefined && (outcome.kind === 'done' || items.length > 0)
  if (!replaces && items.length === 0) return
  const task = editTask(tx, row.t)
  if (replaces) dropItems(tx, row)
  const first = task.lastSeq + 1
  const page: number[] = []
  for (const draft of items) {
    const seq = ++task.lastSeq
    if (draft.isPage === true) page.push(seq)
    putItem(tx, row.t, { seq, json: itemJson(draft, row.depth) })
  }
  task.items += items.length
  const kept = items.length === 0 ? undefined : { seq: first, n: items.length, page }
  setRow(tx, row, { ...row, items: kept })
}

function dropItems(tx: Transaction, { t, items }: RequestDocument): void {
  if (items === undefined) return
  const task = editTask(tx, t)
  for (let old = items.seq; old < items.seq + items.n; old++) dropItem(tx, t, old)
  task.items -= items.n
  task.revision++
}

function discover(
  tx: Transaction,
  row: RequestDocument,
  { task, settlement }: { readonly task: Task; readonly settlement: Settlement },
): void {
  for (const request of discoveredNow(settlement, row.depth)) addRequest(tx, request, { task, parent: row.fp })
  const children = childrenOf(settlement, task.settings)
  if (children === undefined) return
  const key = requestKey(row.t, row.fp)
  tx.replace('links', key, { t: row.t, fps: [...children] })
  // what the worker took for known is known at the depth it reckoned with
  if (!cameNearer(settlement, row.depth)) return
  lowerDepths(
    tx,
    [...children].map((fp) => ({ key: requestKey(row.t, fp), depth: row.depth + 1 })),
  )
}
