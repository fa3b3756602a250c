/** The known-set of the MongoDB store: adding, reviving, and depths that come nearer. */

import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer } from '../../frontier/contract.ts'
import { decideAdd } from '../../frontier/decide-add.ts'
import { withDepth } from '../../items/item-json.ts'
import { itemKey, queueKey, requestKey } from './documents.ts'
import type { Lowering, RequestDocument } from './documents.ts'
import { changeItem } from './items.ts'
import {
  atRest,
  editMeta,
  editTask,
  extraOf,
  findTask,
  inQueue,
  insertRow,
  isQueued,
  metaOf,
  requestOf,
  rootOf,
  setRow,
  taskById,
} from './rows.ts'
import type { Task } from './rows.ts'
import type { Transaction } from './transaction.ts'

/** Names what `addRequest` needs of these, where the task is at hand. */
export function wantRequests(tx: Transaction, taskName: string, requests: readonly StoredRequest[]): void {
  const task = findTask(tx, taskName)
  if (task === undefined) return
  tx.want(
    'requests',
    requests.map(({ fingerprint }) => requestKey(task.id, fingerprint)),
  )
  const hosts = new Set(requests.map(({ hostKey }) => hostKey))
  tx.want('hosts', hosts)
  tx.want(
    'queues',
    [...hosts].map((host) => queueKey(task.id, host)),
  )
}

export function addRequest(
  tx: Transaction,
  request: StoredRequest,
  { task, parent }: { readonly task: Task; readonly parent?: string },
): AddAnswer {
  const met = requestOf(tx, task.id, request.fingerprint)
  const row = met === undefined ? undefined : rootOf(tx, met)
  const known =
    row === undefined ? undefined : { state: row.s, reason: row.reason, depth: row.depth, priority: row.priority }
  const decision = decideAdd(known, request, task.settings.maxDepth)
  if (row === undefined || decision.kind === 'insert') {
    const skip = decision.kind === 'insert' ? decision.skip : undefined
    insertRow(tx, task.id, { request, skip, parent })
    return 'added'
  }
  const own = row === met ? { request, parent } : undefined
  switch (decision.kind) {
    case 'known':
      return 'known'
    case 'improve':
      setPlace(tx, row, { depth: row.depth, priority: decision.priority })
      lowerDepths(tx, [{ key: requestKey(row.t, row.fp), depth: decision.depth }])
      return 'updated'
    case 'defer':
      setRow(tx, row, { ...adopted(row, request, own), reason: 'depth' })
      return decision.updated ? 'updated' : 'known'
    case 'revive':
      revive(tx, row, adopted(row, request, own))
      return 'added'
  }
}

/** A skipped row takes the request as it was met now. An alias lends its standing request only depth and priority. */
function adopted(
  row: RequestDocument,
  request: StoredRequest,
  own: { readonly parent: string | undefined } | undefined,
): RequestDocument {
  const { depth, priority } = request
  if (own === undefined) return { ...row, depth, priority }
  return { ...row, depth, priority, url: request.url, extra: extraOf(request), parent: own.parent }
}

/** A settled or refused row goes back to its queue as if it had never been tried. `now`: with what else changes. */
export function revive(tx: Transaction, old: RequestDocument, now: RequestDocument = old): void {
  const { hop: _, ...rest } = now
  setRow(tx, old, inQueue(tx, { ...rest, tries: 0, status: undefined }))
}

export function refuseForDepth(tx: Transaction, row: RequestDocument): void {
  setRow(tx, row, atRest(row, { s: 'skipped', reason: 'depth' }))
}

/** Steps of one transaction; the rest is kept in the store and done by those that follow. */
const MAX_STEPS = 1000
/** Of what a document of the rest holds. */
const LOWERINGS_A_DOCUMENT = 5000

/** Brings requests, and all that they lead to, nearer: see invariant 8. Level by level, so that each is read at once. */
export function lowerDepths(tx: Transaction, first: readonly Lowering[]): void {
  const nearer: RequestDocument[] = []
  let level = [...first]
  let steps = 0
  while (level.length > 0 && steps < MAX_STEPS) {
    const now = level.splice(0, MAX_STEPS - steps)
    steps += now.length
    tx.need(
      'requests',
      now.map(({ key }) => key),
    )
    const near = now.flatMap(({ key, depth }) => {
      const met = tx.get('requests', key)
      const row = met === undefined || taskById(tx, met.t) === undefined ? undefined : rootOf(tx, met)
      if (row === undefined || depth >= row.depth) return []
      setPlace(tx, row, { depth, priority: row.priority })
      nearer.push({ ...row, depth })
      return [{ key: requestKey(row.t, row.fp), depth }]
    })
    tx.need(
      'links',
      near.map(({ key }) => key),
    )
    for (const { key, depth } of near) {
      const links = tx.get('links', key)
      for (const fp of links?.fps ?? []) level.push({ key: requestKey(links?.t ?? 0, fp), depth: depth + 1 })
    }
  }
  lowerItems(tx, nearer)
  for (let from = 0; from < level.length; from += LOWERINGS_A_DOCUMENT) {
    const meta = editMeta(tx)
    const id = String(++meta.lastLowering)
    meta.lowering.push(id)
    tx.create('lowering', id, { list: level.slice(from, from + LOWERINGS_A_DOCUMENT) })
  }
}

/** Goes on with what an earlier transaction left. */
export function continueLowering(tx: Transaction): void {
  const [id] = metaOf(tx).lowering
  if (id === undefined) return
  const list = tx.get('lowering', id)?.list ?? []
  const rest = list.slice(MAX_STEPS / 4)
  if (rest.length > 0) tx.put('lowering', id, { list: rest })
  else {
    tx.put('lowering', id, undefined)
    editMeta(tx).lowering.shift()
  }
  lowerDepths(tx, list.slice(0, MAX_STEPS / 4))
}

function setPlace(
  tx: Transaction,
  row: RequestDocument,
  to: { readonly depth: number; readonly priority: number },
): void {
  if (to.depth === row.depth && to.priority === row.priority) return
  const now = { ...row, ...to }
  if (to.depth < row.depth && comesInReach(tx, row, to.depth)) revive(tx, row, now)
  else setRow(tx, row, isQueued(row) ? inQueue(tx, now) : now)
}

function comesInReach(tx: Transaction, { t, s, reason }: RequestDocument, depth: number): boolean {
  const { maxDepth } = taskById(tx, t)?.settings ?? {}
  return s === 'skipped' && reason === 'depth' && maxDepth !== undefined && depth <= maxDepth
}

/** The page's own record follows its depth. */
function lowerItems(tx: Transaction, rows: readonly RequestDocument[]): void {
  const pages = rows.flatMap(({ t, items, depth }) =>
    (items?.page ?? []).map((seq) => ({ t, depth, key: itemKey(t, seq) })),
  )
  tx.need(
    'items',
    pages.map(({ key }) => key),
  )
  for (const { t, depth, key } of pages) {
    if (changeItem(tx, key, (json) => withDepth(json, depth))) editTask(tx, t).revision++
  }
}
