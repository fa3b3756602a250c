/** The rules of the known-set over a draft: adding, reviving, and depths that come nearer. */

import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer } from '../../frontier/contract.ts'
import { decideAdd, skipOf } from '../../frontier/decide-add.ts'
import type { KnownRequest } from '../../frontier/decide-add.ts'
import { bumpRevision, keepEntry, keyOf, queueNow, rootOf, taskOf } from './draft.ts'
import type { Draft, Entry, Fields } from './draft.ts'
import { extraOf, stateName } from './rows.ts'
import { PENDING, SKIPPED } from './schema.ts'
import type { QueueRef } from './session.ts'

/** A request that a step of the transaction adds. */
export interface Addition {
  readonly request: StoredRequest
  readonly queue: QueueRef
  readonly parent: number | null
}

export function newFields(
  request: StoredRequest,
  from: { readonly skip: string | undefined; readonly parent: number | null; readonly aliasOf?: number },
): Fields {
  const { skip, parent, aliasOf = null } = from
  return {
    state: skip === undefined ? PENDING : SKIPPED,
    depth: request.depth,
    priority: request.priority,
    url: request.url,
    reason: skip ?? null,
    status: null,
    parent,
    aliasOf,
    attempt: 0,
    extra: extraOf(request),
    hop: null,
    hopQueue: null,
    itemCount: 0,
    where: skip === undefined ? 'ready' : undefined,
  }
}

/** Of a row that this transaction has inserted. */
export function keepNew(
  draft: Draft,
  { id, fp, queue, fields }: { readonly id: number; fp: string; queue: QueueRef; fields: Fields },
): void {
  keepEntry(draft, { id, fp, queue, before: fields, now: { ...fields }, isNew: true, isMet: false })
}

/** Answers as `add` does. Its row is in the draft, inserted or known. */
export function addRequest(draft: Draft, { request, queue, parent }: Addition): AddAnswer {
  const { maxDepth } = taskOf(draft, queue).settings
  const met = draft.byKey.get(keyOf(queue, request.fingerprint))
  if (met === undefined) throw new Error(`Request ${request.fingerprint} is neither known nor inserted`)
  if (!met.isMet) {
    meet(met, newFields(request, { skip: skipOf(request, maxDepth), parent }))
    return 'added'
  }
  const root = rootOf(draft, met)
  const decision = decideAdd(knownOf(root), request, maxDepth)
  const own = root === met ? { parent } : undefined
  switch (decision.kind) {
    case 'insert':
    case 'known':
      return 'known'
    case 'improve':
      setPlace(draft, root, decision)
      return 'updated'
    case 'defer':
      adopt(root, request, own)
      root.now.reason = 'depth'
      return decision.updated ? 'updated' : 'known'
    case 'revive':
      adopt(root, request, own)
      revive(root)
      return 'added'
  }
}

/** The step that a row was inserted for has come. */
export function meet(entry: Entry, fields: Fields): void {
  Object.assign(entry.now, fields)
  entry.isMet = true
}

/** Takes the request as it was met now. An alias lends its standing request only its depth and priority. */
function adopt({ now }: Entry, request: StoredRequest, own: { readonly parent: number | null } | undefined): void {
  now.depth = request.depth
  now.priority = request.priority
  if (own === undefined) return
  now.url = request.url
  now.extra = extraOf(request)
  now.parent = own.parent
}

/** A settled or refused request goes back to its queue as if it had never been tried. */
export function revive({ now }: Entry): void {
  now.state = PENDING
  now.where = 'ready'
  now.reason = null
  now.status = null
  now.attempt = 0
  now.hop = null
  now.hopQueue = null
}

/** Nearer or more urgent from now on; what it leads to follows: see lowering.ts. */
export function setPlace(draft: Draft, entry: Entry, to: { readonly depth: number; readonly priority: number }): void {
  const { now } = entry
  const isNearer = to.depth < now.depth
  now.depth = to.depth
  now.priority = to.priority
  if (!isNearer) return
  const { maxDepth } = taskOf(draft, queueNow(entry)).settings
  const inReach = maxDepth !== undefined && to.depth <= maxDepth
  if (now.state === SKIPPED && now.reason === 'depth' && inReach) revive(entry)
  draft.nearer.add(entry)
  const pages = draft.items.get(entry)?.filter(({ isPage }) => isPage === true).length ?? 0
  if (pages > 0) bumpRevision(draft, entry.queue.taskId, pages)
}

export function knownOf({ now }: Entry): KnownRequest {
  const { state, reason, depth, priority } = now
  return { state: stateName(state, false), reason: reason ?? undefined, depth, priority }
}
