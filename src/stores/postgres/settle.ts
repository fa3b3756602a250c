/** How a lease ends in the PostgreSQL store: the rules over a draft. */

import type { Outcome, RedirectTarget } from '../../core/outcome.ts'
import type { CounterName, Settlement } from '../../frontier/contract.ts'
import { isRevivable, skipOf } from '../../frontier/decide-add.ts'
import { cameNearer, discoveredNow } from '../../frontier/settlement.ts'
import { bumpRevision, keyOf, metBy, queueNow, rootOf, taskOf } from './draft.ts'
import type { Draft, Entry } from './draft.ts'
import { addRequest, knownOf, meet, newFields, setPlace } from './known.ts'
import { hopOf } from './rows.ts'
import { DONE, FAILED, PENDING, SKIPPED } from './schema.ts'
import { queueOf } from './session.ts'

/** All fingerprints have this length, so that many are kept as one string. */
const FINGERPRINT_LENGTH = 16

/** `entry` is leased by this settlement's lease, and its row is locked for this transaction. */
export function settleOne(draft: Draft, entry: Entry, settlement: Settlement): void {
  const { lease, outcome, host } = settlement
  if (lease.unpaced !== true) draft.signals.push({ queue: queueNow(entry), signal: host, leasedAtMs: lease.leasedAtMs })
  applyOutcome(draft, entry, outcome)
  keepItems(draft, entry, settlement)
  discover(draft, entry, settlement)
  for (const [name, by] of Object.entries(settlement.counts ?? {})) {
    draft.counters.push({ taskId: entry.queue.taskId, name: name as CounterName, by })
  }
}

function applyOutcome(draft: Draft, entry: Entry, outcome: Outcome): void {
  const { now } = entry
  switch (outcome.kind) {
    case 'done':
      Object.assign(now, { state: DONE, where: undefined, reason: null, status: outcome.status })
      return
    case 'skipped':
      Object.assign(now, { state: SKIPPED, where: undefined, reason: outcome.reason })
      return
    case 'failed':
      now.attempt++
      draft.attempts.push({ entry, attempt: outcome.attempt })
      Object.assign(now, {
        state: FAILED,
        where: undefined,
        reason: outcome.attempt.failure,
        status: outcome.attempt.status ?? null,
      })
      return
    case 'retry':
      if (outcome.charged) now.attempt++
      draft.attempts.push({ entry, attempt: outcome.attempt })
      now.status = outcome.attempt.status ?? null
      putBack(entry, outcome.retryInMs)
      return
    case 'released':
      putBack(entry, 0)
      return
    case 'redirected':
      redirect(draft, entry, outcome.to)
  }
}

export function putBack({ now }: Entry, inMs: number): void {
  now.state = PENDING
  now.reason = null
  now.where = inMs > 0 ? { retryInMs: inMs } : 'ready'
}

function redirect(draft: Draft, entry: Entry, to: RedirectTarget): void {
  const { now } = entry
  const task = taskOf(draft, entry.queue)
  const queue = queueOf(draft.session, { taskId: task.id, hostKey: to.hostKey })
  const met = metBy(draft, { queue, fp: to.fingerprint })
  const target = met === undefined ? undefined : rootOf(draft, met)
  if (target !== undefined && target !== entry && !isRevivable(knownOf(target))) {
    Object.assign(now, { state: SKIPPED, where: undefined, reason: 'duplicate', aliasOf: target.id })
    if (now.depth < target.now.depth) setPlace(draft, target, { depth: now.depth, priority: target.now.priority })
    return
  }
  if (target === undefined) {
    const alias = draft.byKey.get(keyOf(queue, to.fingerprint))
    if (alias === undefined) throw new Error(`Request ${to.fingerprint} is neither known nor inserted`)
    meet(alias, newFields(aliasRequest(entry, to, task.name), aliasOrigin(entry)))
  } else if (target !== entry) {
    target.now.aliasOf = entry.id
    target.now.reason = 'duplicate'
  }
  now.hop = JSON.stringify({ url: to.url, hops: [...(hopOf(now)?.hops ?? []), to.hop] })
  now.hopQueue = queue
  putBack(entry, 0)
}

/** The target of a redirect as it is recorded where nobody knew it. */
export function aliasRequest(
  { now }: Entry,
  { url, fingerprint, hostKey }: RedirectTarget,
  task: string,
): Parameters<typeof newFields>[0] {
  return { task, url, fingerprint, hostKey, depth: now.depth, priority: now.priority }
}

export function aliasOrigin({ id }: Entry): Parameters<typeof newFields>[1] {
  return { skip: 'duplicate', parent: id, aliasOf: id }
}

/** New items take the place of older ones: a page that is crawled again is in the list once. */
function keepItems(draft: Draft, entry: Entry, { items, outcome }: Settlement): void {
  const { now } = entry
  if (now.itemCount > 0 && (outcome.kind === 'done' || items.length > 0)) {
    draft.dropped.add(entry)
    bumpRevision(draft, entry.queue.taskId, 1)
    now.itemCount = 0
  }
  if (items.length > 0) draft.items.set(entry, items)
  now.itemCount += items.length
}

function discover(draft: Draft, entry: Entry, settlement: Settlement): void {
  const task = taskOf(draft, entry.queue)
  const { maxDepth } = task.settings
  const children: number[] = []
  for (const request of discoveredNow(settlement, entry.now.depth)) {
    const queue = queueOf(draft.session, { taskId: task.id, hostKey: request.hostKey })
    addRequest(draft, { request, queue, parent: entry.id })
    const skip = skipOf(request, maxDepth)
    const child = draft.byKey.get(keyOf(queue, request.fingerprint))
    if (child !== undefined && (skip === undefined || skip === 'depth')) children.push(child.id)
  }
  const known = (settlement.knownLinks ?? []).filter((fingerprint) => fingerprint.length === FINGERPRINT_LENGTH)
  if (maxDepth === undefined || (children.length === 0 && known.length === 0)) return
  draft.links.set(entry, { ids: children, known: known.join('') })
  // what the worker took for known is known at the depth it reckoned with
  if (cameNearer(settlement, entry.now.depth)) draft.nearer.add(entry)
}
