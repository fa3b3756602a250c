/** Requests, queues, hosts and counts inside a transaction: the few places through which everything is changed. */

import { CrawlError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { StoredRequest } from '../../core/request.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import type { TaskSettings } from '../../frontier/contract.ts'
import { placeOf } from '../../frontier/order.ts'
import type { HostLimits, HostState } from '../../politeness/contract.ts'
import { hostLimits, initialHostState, isSilent, nextStartMs } from '../../politeness/host-state.ts'
import { DELAYED, dueList, LEASED, levelKey, META, queueKey, requestKey, STATES } from './documents.ts'
import type { HostDocument, MetaDocument, QueueDocument, RequestDocument, TaskDocument } from './documents.ts'
import type { Transaction } from './transaction.ts'

/** A task with its number and its settings. */
export interface Task {
  readonly id: number
  readonly settings: TaskSettings
  readonly doc: TaskDocument
}

const EMPTY_META: MetaDocument = {
  lastRequest: 0,
  lastQueue: 0,
  lastTask: 0,
  lastToken: 0,
  tasks: [],
  owners: [],
  cleared: [],
  lowering: [],
  lastLowering: 0,
}

export function metaOf(tx: Transaction): Readonly<MetaDocument> {
  return tx.get('meta', META) ?? EMPTY_META
}

export function editMeta(tx: Transaction): MetaDocument {
  const meta = tx.edit('meta', META)
  if (meta !== undefined) return meta
  const fresh = structuredClone(EMPTY_META)
  tx.put('meta', META, fresh)
  return fresh
}

export function findTask(tx: Transaction, name: string): Task | undefined {
  const entry = metaOf(tx).tasks.find((one) => one.name === name)
  return entry === undefined ? undefined : taskById(tx, entry.id)
}

/** Undefined: it was cleared. */
export function taskById(tx: Transaction, id: number): Task | undefined {
  const doc = tx.get('tasks', String(id))
  return doc === undefined ? undefined : { id, doc, settings: settingsOf(doc) }
}

/** Throws CONFIG_INVALID when nobody opened it. */
export function taskOf(tx: Transaction, name: string): Task {
  const task = findTask(tx, name)
  if (task !== undefined) return task
  throw new CrawlError('CONFIG_INVALID', { context: { problem: `The task "${name}" was not opened in this store` } })
}

const parsed = new WeakMap<TaskDocument, { readonly text: string; readonly settings: TaskSettings }>()

function settingsOf(doc: TaskDocument): TaskSettings {
  const known = parsed.get(doc)
  if (known !== undefined && known.text === doc.settings) return known.settings
  const settings = JSON.parse(doc.settings) as TaskSettings
  parsed.set(doc, { text: doc.settings, settings })
  return settings
}

export function editTask(tx: Transaction, id: number): TaskDocument {
  const doc = tx.edit('tasks', String(id))
  if (doc === undefined) throw new Error(`Task ${id} is not there`)
  return doc
}

export function newTask(name: string, settings: TaskSettings): TaskDocument {
  return {
    name,
    settings: JSON.stringify(settings),
    counts: { pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 },
    skipped: {},
    counters: { ...COUNTERS_AT_ZERO },
    hosts: 0,
    items: 0,
    lastSeq: 0,
    revision: 0,
  }
}

function hostOf(tx: Transaction, key: string): HostDocument {
  const host = tx.edit('hosts', key)
  if (host !== undefined) return host
  const fresh: HostDocument = { state: initialHostState(), tasks: [] }
  tx.put('hosts', key, fresh)
  return fresh
}

export function hostState(tx: Transaction, key: string): HostState {
  return tx.get('hosts', key)?.state ?? initialHostState()
}

export function setHost(tx: Transaction, key: string, state: HostState): void {
  hostOf(tx, key).state = state
  touchedOf(tx).hosts.add(key)
}

export function limitsOf(task: Task, hostKey: string): HostLimits {
  return hostLimits(task.settings, hostKey)
}

/** The queue of a task at a host; made when it is not there. */
function openQueue(tx: Transaction, taskId: number, hostKey: string): QueueDocument {
  const key = queueKey(taskId, hostKey)
  const queue = tx.edit('queues', key)
  if (queue !== undefined) return queue
  const fresh: QueueDocument = { t: taskId, host: hostKey, id: ++editMeta(tx).lastQueue, ready: 0, opened: false }
  tx.put('queues', key, fresh)
  const host = hostOf(tx, hostKey)
  if (!host.tasks.includes(taskId)) host.tasks.push(taskId)
  return fresh
}

/** What a transaction has changed and must see to at its end. */
interface Touched {
  readonly hosts: Set<string>
  readonly queues: Set<string>
}
const touched = new WeakMap<Transaction, Touched>()

export function touchedOf(tx: Transaction): Touched {
  let own = touched.get(tx)
  if (own === undefined) {
    own = { hosts: new Set(), queues: new Set() }
    touched.set(tx, own)
  }
  return own
}

/** Keys of queues whose due time as it stands is not true any more. */
export function touchedQueues(tx: Transaction): ReadonlySet<string> {
  const { hosts, queues } = touchedOf(tx)
  for (const host of hosts) for (const id of tx.get('hosts', host)?.tasks ?? []) queues.add(queueKey(id, host))
  hosts.clear()
  return queues
}

/** Reckons due times anew: the last thing of a transaction. */
export function flush(tx: Transaction): void {
  const keys = [...touchedQueues(tx)]
  tx.need('queues', keys)
  for (const key of keys) {
    const queue = tx.get('queues', key)
    const task = queue === undefined ? undefined : taskById(tx, queue.t)
    if (queue === undefined || task === undefined) continue
    const state = hostState(tx, queue.host)
    const dueMs = queue.ready > 0 ? nextStartMs(state, limitsOf(task, queue.host), tx.nowMs) : Number.POSITIVE_INFINITY
    const { q: _q, a: _a, b: _b, c: _c, ...rest } = queue
    const placed: QueueDocument = Number.isFinite(dueMs)
      ? { ...rest, q: dueList(queue.t, isSilent(state)), a: dueMs, b: 0, c: queue.id }
      : rest
    if (queue.q !== placed.q || queue.a !== placed.a) tx.put('queues', key, placed)
  }
}

export function requestOf(tx: Transaction, taskId: number, fingerprint: string): RequestDocument | undefined {
  return tx.get('requests', requestKey(taskId, fingerprint))
}

/** The request that stands for this one: itself, or where redirects led from one to the other. */
export function rootOf(tx: Transaction, row: RequestDocument): RequestDocument {
  let root = row
  while (root.alias !== undefined) {
    const next = requestOf(tx, root.t, root.alias)
    if (next === undefined) return root
    root = next
  }
  return root
}

/** The host in whose queue it waits now. */
export function hostNow(row: RequestDocument): string {
  return row.hop?.h ?? row.h
}

/** Every change of a request goes through here, so that counts and queues are always true. */
export function setRow(tx: Transaction, old: RequestDocument | undefined, now: RequestDocument): void {
  if (old !== undefined) {
    count(tx, old, -1)
    leaveQueue(tx, old)
  }
  count(tx, now, 1)
  enterQueue(tx, now)
  tx.put('requests', requestKey(now.t, now.fp), now)
}

/** Of a request that comes back to its queue, or goes on waiting there at another place. */
export function inQueue(tx: Transaction, row: RequestDocument): RequestDocument {
  const order = taskById(tx, row.t)?.settings.order ?? 'bfs'
  const { priority, level, id } = placeOf(row, order)
  const { lease: _, ...rest } = row
  return {
    ...rest,
    s: 'pending',
    reason: undefined,
    q: queueKey(row.t, hostNow(row)),
    a: 0 - priority,
    b: level,
    c: id,
  }
}

/** Pending, and not put aside. */
export function isQueued({ s, q }: RequestDocument): boolean {
  return s === 'pending' && q !== DELAYED
}

export function delayed(row: RequestDocument, untilMs: number): RequestDocument {
  const { lease: _, ...rest } = row
  return { ...rest, s: 'pending', reason: undefined, q: DELAYED, a: untilMs, b: 0, c: row.id }
}

export function leased(
  row: RequestDocument,
  lease: NonNullable<RequestDocument['lease']>,
  expiresAtMs: number,
): RequestDocument {
  return { ...row, s: 'leased', lease, q: LEASED, a: expiresAtMs, b: 0, c: row.id }
}

/** Of a request that waits for nothing any more. */
export function atRest(row: RequestDocument, fields: Partial<RequestDocument>): RequestDocument {
  const { lease: _l, q: _q, a: _a, b: _b, c: _c, ...rest } = row
  return { ...rest, ...fields }
}

function leaveQueue(tx: Transaction, { q, t }: RequestDocument): void {
  if (q === undefined || q === DELAYED || q === LEASED) return
  const queue = tx.edit('queues', q)
  if (queue === undefined) throw new Error(`Queue ${q} of task ${t} is not there`)
  queue.ready--
  touchedOf(tx).queues.add(q)
}

function enterQueue(tx: Transaction, row: RequestDocument): void {
  const { q } = row
  if (q === undefined || q === DELAYED || q === LEASED) return
  const queue = openQueue(tx, row.t, hostNow(row))
  queue.ready++
  touchedOf(tx).queues.add(q)
  if (queue.opened) return
  queue.opened = true
  editTask(tx, row.t).hosts++
}

function count(tx: Transaction, { t, s, depth, reason = '' }: RequestDocument, by: 1 | -1): void {
  const task = editTask(tx, t)
  task.counts[s] += by
  if (s === 'skipped') task.skipped[reason] = (task.skipped[reason] ?? 0) + by
  const key = levelKey(t, depth)
  let block = tx.edit('levels', key)
  if (block === undefined) {
    block = { t, levels: {} }
    tx.put('levels', key, block)
  }
  const level = (block.levels[String(depth).replace('.', ',')] ??= STATES.map(() => 0))
  const at = STATES.indexOf(s)
  level[at] = (level[at] ?? 0) + by
}

/** A new request in its queue, or recorded as refused. Its fingerprint must not be known. */
export function insertRow(
  tx: Transaction,
  taskId: number,
  from: {
    readonly request: StoredRequest
    readonly skip: string | undefined
    readonly parent: string | undefined
    readonly alias?: string
  },
): RequestDocument {
  const { request, skip, parent, alias } = from
  openQueue(tx, taskId, request.hostKey)
  const row: RequestDocument = {
    t: taskId,
    id: ++editMeta(tx).lastRequest,
    fp: request.fingerprint,
    h: request.hostKey,
    s: skip === undefined ? 'pending' : 'skipped',
    depth: request.depth,
    priority: request.priority,
    url: request.url,
    extra: extraOf(request),
    reason: skip,
    parent,
    alias,
    tries: 0,
  }
  setRow(tx, undefined, skip === undefined ? inQueue(tx, row) : row)
  return row
}

type Extra = Pick<StoredRequest, 'label' | 'userData' | 'method' | 'headers' | 'payload' | 'cache'>

/** What few requests have; most have none of it. */
export function extraOf({ label, userData, method, headers, payload, cache }: StoredRequest): string | undefined {
  const text = JSON.stringify({ label, userData, method, headers, payload, cache } satisfies JsonObject)
  return text === '{}' ? undefined : text
}

export function storedRequest(row: RequestDocument, taskName: string): StoredRequest {
  const { url, fp, h, depth, priority, extra } = row
  return {
    task: taskName,
    url,
    fingerprint: fp,
    hostKey: h,
    depth,
    priority,
    ...(extra === undefined ? {} : (JSON.parse(extra) as Extra)),
  }
}
