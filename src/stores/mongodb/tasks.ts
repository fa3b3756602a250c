/** Tasks of the MongoDB store: opened, opened anew with other settings, put back, forgotten. */

import { CrawlError } from '../../core/errors.ts'
import type { RequestFilter, TaskSettings } from '../../frontier/contract.ts'
import { decideDepthChange } from '../../frontier/decide-add.ts'
import { LEASED } from './documents.ts'
import type { Kind, RequestDocument } from './documents.ts'
import { refuseForDepth, revive } from './known.ts'
import { freePlace } from './lease.ts'
import type { Ledger } from './ledger.ts'
import { matchingKeys } from './records.ts'
import { atRest, editMeta, editTask, findTask, inQueue, isQueued, metaOf, newTask, setRow, taskById } from './rows.ts'
import { chunksOf } from './server.ts'
import type { Server } from './server.ts'
import type { Transaction } from './transaction.ts'

export interface Parts {
  readonly ledger: Ledger
  readonly server: Server
}

/** Rows that one transaction changes. */
const CHUNK = 500

export async function openTask(parts: Parts, settings: TaskSettings): Promise<void> {
  const { ledger } = parts
  const { name } = settings
  const before = await ledger.write({ run: (tx) => createOrCheck(tx, settings, parts.server.place.location) })
  if (before === undefined) return
  const { reviveUpTo, refuseBeyond } = decideDepthChange(before.maxDepth, settings.maxDepth)
  if (reviveUpTo !== undefined) {
    await inChunks(parts, { task: name, state: 'skipped', reason: 'depth' }, (tx, row) => {
      if (row.s !== 'skipped' || row.reason !== 'depth' || row.depth > reviveUpTo) return 0
      revive(tx, row)
      return 1
    })
  }
  if (refuseBeyond !== undefined) {
    await inChunks(parts, { task: name, state: 'pending' }, (tx, row) => {
      if (row.s !== 'pending' || row.depth <= refuseBeyond) return 0
      refuseForDepth(tx, row)
      return 1
    })
  }
  // Last, so that a crash in between finds the old settings and begins again.
  const reorder = await ledger.write({ run: (tx) => replaceSettings(tx, settings) })
  if (reorder) await reorderQueues(parts, name)
}

/** Answers the settings so far, when there are any and they differ. */
function createOrCheck(tx: Transaction, settings: TaskSettings, location: string): TaskSettings | undefined {
  const task = findTask(tx, settings.name)
  if (task === undefined) {
    const meta = editMeta(tx)
    const id = ++meta.lastTask
    meta.tasks.push({ name: settings.name, id })
    tx.create('tasks', String(id), newTask(settings.name, settings))
    return undefined
  }
  const { identity } = task.settings
  if (identity !== settings.identity) {
    const context = { location, what: 'rules of identity', expected: settings.identity, found: identity }
    throw new CrawlError('STORE_RULES_CHANGED', { context })
  }
  const isSame = task.doc.settings === JSON.stringify(settings) && task.doc.reorder !== true
  return isSame ? undefined : task.settings
}

/** Answers whether what is queued must be put in another order. */
function replaceSettings(tx: Transaction, settings: TaskSettings): boolean {
  const task = findTask(tx, settings.name)
  if (task === undefined) return false
  const doc = editTask(tx, task.id)
  if (task.settings.order !== settings.order) doc.reorder = true
  doc.settings = JSON.stringify(settings)
  return doc.reorder === true
}

async function reorderQueues(parts: Parts, name: string): Promise<void> {
  await inChunks(parts, { task: name, state: 'pending' }, (tx, row) => {
    if (!isQueued(row)) return 0
    const placed = inQueue(tx, row)
    if (placed.b === row.b) return 0
    setRow(tx, row, placed)
    return 1
  })
  await parts.ledger.write({
    run: (tx) => {
      const task = findTask(tx, name)
      if (task !== undefined) editTask(tx, task.id).reorder = undefined
    },
  })
}

/** Goes through the rows of a filter once, a chunk a transaction. Answers how many the change counted. */
async function inChunks(
  { ledger, server }: Parts,
  filter: RequestFilter,
  change: (tx: Transaction, row: RequestDocument) => number,
): Promise<number> {
  let changed = 0
  for (let after: number | undefined = 0; after !== undefined;) {
    const window = await matchingKeys({ ledger, server }, filter, { after, max: CHUNK })
    const { keys } = window
    changed += await ledger.write({
      prepare: (tx) => {
        tx.want('requests', keys)
      },
      weight: CHUNK,
      run: (tx) => {
        let sum = 0
        for (const key of keys) {
          const row = tx.get('requests', key)
          if (row !== undefined && taskById(tx, row.t) !== undefined) sum += change(tx, row)
        }
        return sum
      },
    })
    after = window.next
  }
  return changed
}

export function requeue(parts: Parts, filter: RequestFilter): Promise<number> {
  return inChunks(parts, filter, (tx, row) => {
    const isSettled = row.s === 'done' || row.s === 'failed' || (row.s === 'skipped' && filter.state === 'skipped')
    const { maxDepth = Infinity } = taskById(tx, row.t)?.settings ?? {}
    if (!isSettled || row.alias !== undefined || row.depth > maxDepth) return 0
    if (filter.state !== undefined && filter.state !== row.s) return 0
    revive(tx, row)
    return 1
  })
}

export async function clearTask(parts: Parts, name: string): Promise<void> {
  await parts.ledger.write({
    run: (tx) => {
      disown(tx, name)
    },
  })
  await sweep(parts)
}

/** From now on nobody sees the task; its documents are swept afterwards, also after a crash. */
function disown(tx: Transaction, name: string): void {
  const task = findTask(tx, name)
  if (task === undefined) return
  const keys = tx.head('requests', LEASED, { n: Number.MAX_SAFE_INTEGER })
  tx.need('requests', keys)
  for (const key of keys) {
    const row = tx.get('requests', key)
    if (row === undefined || row.t !== task.id) continue
    freePlace(tx, row, { kind: 'troubled' })
    setRow(tx, row, atRest(row, { s: 'skipped', reason: 'filtered' }))
  }
  tx.put('tasks', String(task.id), undefined)
  const meta = editMeta(tx)
  meta.tasks = meta.tasks.filter((one) => one.id !== task.id)
  meta.cleared.push(task.id)
}

const OF_TASKS = ['requests', 'items', 'links', 'queues', 'levels'] as const satisfies readonly Kind[]
/** Ids asked for at once: there may be more than fit into one answer. */
const SWEEP_CHUNK = 5000

/** Deletes the documents of tasks that were cleared. Nobody writes them any more, so this needs no record of the log. */
export async function sweep({ ledger, server }: Parts): Promise<void> {
  const cleared = await ledger.read((tx) => [...metaOf(tx).cleared])
  if (cleared.length > 0) await ledger.applyAll()
  for (const id of cleared) {
    for (const kind of OF_TASKS) {
      const ids = await server.ids(kind, { 'd.t': id })
      for (const some of chunksOf(ids, SWEEP_CHUNK)) await server.purge(kind, some)
    }
    await ledger.write({
      run: (tx) => {
        if (!metaOf(tx).cleared.includes(id)) return
        const meta = editMeta(tx)
        meta.cleared = meta.cleared.filter((one) => one !== id)
      },
    })
  }
}
