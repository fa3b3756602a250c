/** The known-set of the memory store: adding, reviving, aliases, and depths that come nearer. */

import { withDepth } from '../../items/item-json.ts'
import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer } from '../../frontier/contract.ts'
import { decideAdd } from '../../frontier/decide-add.ts'
import { change, count, place, queueOf } from './model.ts'
import type { Model, Row, Task } from './model.ts'

export function addRequest(model: Model, request: StoredRequest, origin: { task: Task; parent?: Row }): AddAnswer {
  const { task, parent } = origin
  const met = task.rows.get(request.fingerprint)
  const row = met === undefined ? undefined : rootOf(met)
  const decision = decideAdd(row === undefined ? undefined : knownOf(row), request, task.settings.maxDepth)
  if (row === undefined || decision.kind === 'insert') {
    const skip = decision.kind === 'insert' ? decision.skip : undefined
    insertRow(model, task, { request, skip, parent })
    return 'added'
  }
  switch (decision.kind) {
    case 'known':
      return 'known'
    case 'improve':
      setPlace(model, row, { depth: row.request.depth, priority: decision.priority })
      lowerDepth(model, row, decision.depth)
      return 'updated'
    case 'defer':
      adopt(row, { request, parent, viaAlias: row !== met })
      change(row, { reason: 'depth' })
      return decision.updated ? 'updated' : 'known'
    case 'revive':
      adopt(row, { request, parent, viaAlias: row !== met })
      revive(model, row)
      return 'added'
  }
}

export function insertRow(
  model: Model,
  task: Task,
  from: { request: StoredRequest; skip: string | undefined; parent: Row | undefined; aliasOf?: Row },
): Row {
  const { skip: _, ...request } = from.request
  const row: Row = {
    id: ++model.lastId,
    task,
    request,
    state: from.skip === undefined ? 'pending' : 'skipped',
    reason: from.skip,
    status: undefined,
    parent: from.parent,
    aliasOf: from.aliasOf,
    attempt: 0,
    attempts: [],
    hop: undefined,
    hops: [],
    entry: undefined,
    retryAtMs: undefined,
    lease: undefined,
    children: undefined,
    items: [],
    visit: undefined,
    links: undefined,
  }
  task.rows.set(from.request.fingerprint, row)
  queueOf(model, task, from.request.hostKey)
  count(row, 1)
  if (row.state === 'pending') place(model, row)
  return row
}

/** The request that stands for this one: itself, or where redirects led from one to the other. */
export function rootOf(row: Row): Row {
  let root = row
  while (root.aliasOf !== undefined) root = root.aliasOf
  return root
}

/** A settled or refused row goes back to its queue as if it had never been tried. */
export function revive(model: Model, row: Row): void {
  row.hop = undefined
  row.hops = []
  row.attempt = 0
  row.status = undefined
  change(row, { state: 'pending', reason: undefined })
  place(model, row)
}

/** Lowers the depth of a row, and of all that it leads to; see invariant 8. */
export function lowerDepth(model: Model, row: Row, depth: number): void {
  const work = [{ row, depth }]
  for (const { row: near, depth: to } of work) {
    if (to >= near.request.depth) continue
    setPlace(model, near, { depth: to, priority: near.request.priority })
    for (const fingerprint of near.children ?? []) {
      const child = near.task.rows.get(fingerprint)
      if (child !== undefined) work.push({ row: rootOf(child), depth: to + 1 })
    }
  }
}

/** Brings what a row leads to nearer, and all that this leads to. */
export function lowerChildren(model: Model, row: Row): void {
  for (const fingerprint of row.children ?? []) {
    const child = row.task.rows.get(fingerprint)
    if (child !== undefined) lowerDepth(model, rootOf(child), row.request.depth + 1)
  }
}

function setPlace(model: Model, row: Row, to: { readonly depth: number; readonly priority: number }): void {
  const nearer = to.depth < row.request.depth
  change(row, { request: { ...row.request, depth: to.depth, priority: to.priority } })
  if (row.entry !== undefined) place(model, row)
  if (!nearer) return
  const { maxDepth } = row.task.settings
  const inReach = maxDepth !== undefined && to.depth <= maxDepth
  if (row.state === 'skipped' && row.reason === 'depth' && inReach) revive(model, row)
  for (const item of row.items) {
    if (!item.isPage) continue
    item.json = withDepth(item.json, to.depth)
    row.task.revision++
  }
}

/** Takes the request as it was met now. An alias lends its standing request only its depth and priority. */
function adopt(row: Row, from: { request: StoredRequest; parent: Row | undefined; viaAlias: boolean }): void {
  const { skip: _, ...request } = from.request
  const { depth, priority } = request
  change(row, { request: from.viaAlias ? { ...row.request, depth, priority } : request })
  if (!from.viaAlias) row.parent = from.parent
}

function knownOf(row: Row): { state: Row['state']; reason: string | undefined; depth: number; priority: number } {
  return { state: row.state, reason: row.reason, depth: row.request.depth, priority: row.request.priority }
}
