/** How a lease ends in the memory store. */

import type { FailedAttempt, Outcome, RedirectTarget } from '../../core/outcome.ts'
import type { CounterName, SettleAnswer, Settlement } from '../../frontier/contract.ts'
import { isRevivable } from '../../frontier/decide-add.ts'
import { cameNearer, childrenOf, discoveredNow } from '../../frontier/settlement.ts'
import { itemJson } from '../../items/item-json.ts'
import { keepLinks } from './links.ts'
import { addRequest, insertRow, lowerChildren, lowerDepth, rootOf } from './known.ts'
import { change, endLease, place } from './model.ts'
import type { KeptItem, Model, Row } from './model.ts'

export function settleOne(model: Model, settlement: Settlement): SettleAnswer {
  const row = model.leased.get(Number(settlement.lease.id))
  if (row === undefined || row.lease?.token !== settlement.lease.token) return 'lost'
  endLease(model, row, settlement.host)
  row.visit = settlement.visit ?? row.visit
  applyOutcome(model, row, settlement.outcome)
  keepItems(row, settlement)
  for (const request of discoveredNow(settlement, row.request.depth)) {
    addRequest(model, request, { task: row.task, parent: row })
  }
  keepLinks(row, settlement)
  row.children = childrenOf(settlement, row.task.settings) ?? row.children
  // what the worker took for known is known at the depth it reckoned with
  if (cameNearer(settlement, row.request.depth)) lowerChildren(model, row)
  for (const [name, by] of Object.entries(settlement.counts ?? {})) {
    row.task.counters[name as CounterName] += by
  }
  return 'settled'
}

function applyOutcome(model: Model, row: Row, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'done':
      row.status = outcome.status
      change(row, { state: 'done', reason: undefined })
      return
    case 'skipped':
      change(row, { state: 'skipped', reason: outcome.reason })
      return
    case 'redirected':
      redirect(model, row, outcome.to)
      return
    case 'retry':
      if (outcome.charged) row.attempt++
      logAttempt(model, row, outcome.attempt)
      putBack(model, row, outcome.retryInMs)
      return
    case 'failed':
      row.attempt++
      logAttempt(model, row, outcome.attempt)
      change(row, { state: 'failed', reason: outcome.attempt.failure })
      return
    case 'released':
      putBack(model, row, 0)
  }
}

export function putBack(model: Model, row: Row, inMs: number): void {
  change(row, { state: 'pending', reason: undefined })
  place(model, row, inMs > 0 ? model.clock.monotonicMs() + inMs : undefined)
}

function logAttempt(model: Model, row: Row, attempt: FailedAttempt): void {
  row.status = attempt.status
  row.attempts.push({ ...attempt, at: new Date(model.clock.nowMs()).toISOString() })
}

function redirect(model: Model, row: Row, to: RedirectTarget): void {
  const met = row.task.rows.get(to.fingerprint)
  const target = met === undefined ? undefined : rootOf(met)
  if (target !== undefined && target !== row && !isRevivable(target)) {
    row.aliasOf = target
    change(row, { state: 'skipped', reason: 'duplicate' })
    lowerDepth(model, target, row.request.depth)
    return
  }
  if (target === undefined) {
    const { priority, depth } = row.request
    const { url, fingerprint, hostKey } = to
    const request = { task: row.request.task, url, fingerprint, hostKey, depth, priority }
    insertRow(model, row.task, { request, skip: 'duplicate', parent: row, aliasOf: row })
  } else if (target !== row) {
    target.aliasOf = row
    change(target, { reason: 'duplicate' })
  }
  row.hop = { url: to.url, hostKey: to.hostKey }
  row.hops = [...row.hops, to.hop]
  putBack(model, row, 0)
}

/** New items take the place of older ones: a page that is crawled again is in the list once. */
function keepItems(row: Row, { items, outcome }: Settlement): void {
  const { task } = row
  if (row.items.length > 0 && (outcome.kind === 'done' || items.length > 0)) {
    const old = new Set(row.items)
    task.items = task.items.filter((item) => !old.has(item))
    task.revision++
    row.items = []
  }
  const kept = items.map((draft): KeptItem => ({
    seq: ++task.lastSeq,
    json: itemJson(draft, row.request.depth),
    isPage: draft.isPage === true,
  }))
  task.items.push(...kept)
  row.items = [...row.items, ...kept]
}
