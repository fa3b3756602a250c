/** What the memory store holds, and the few steps by which it changes. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { SkipReason } from '../../core/outcome.ts'
import type { RequestState, StoredRequest } from '../../core/request.ts'
import type { AttemptRecord, CounterName, LevelStats, TaskSettings } from '../../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import { comesBefore, placeOf } from '../../frontier/order.ts'
import type { QueuePlace } from '../../frontier/order.ts'
import { createBell } from '../../frontier/wait-for-work.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'
import type { PageLinks } from '../../graph/contract.ts'
import type { HostLimits, HostSignal, HostState } from '../../politeness/contract.ts'
import { hostLimits, initialHostState, settleHost } from '../../politeness/host-state.ts'
import { createHeap } from '../../util/heap.ts'
import type { Heap } from '../../util/heap.ts'
import type { Random } from '../../util/random.ts'

export interface HeldLease {
  readonly token: string
  readonly leasedAtMs: number
  readonly unpaced?: true
  readonly silent?: true
  expiresAtMs: number
}

export interface Row {
  readonly id: number
  readonly task: Task
  /** Its depth and priority are what they are by now. */
  request: StoredRequest
  state: RequestState
  reason: string | undefined
  status: number | undefined
  parent: Row | undefined
  /** The request that stands for this one. */
  aliasOf: Row | undefined
  /** Tries charged so far. */
  attempt: number
  attempts: AttemptRecord[]
  /** Where redirects have led. */
  hop: { readonly url: string; readonly hostKey: string } | undefined
  hops: readonly string[]
  /** A pending request has exactly one of these two; a leased one has a lease. */
  entry: Entry | undefined
  retryAtMs: number | undefined
  lease: HeldLease | undefined
  /** Fingerprints of the pages it links to; kept where the task has a maximum depth. */
  children: ReadonlySet<string> | undefined
  items: readonly KeptItem[]
  visit: string | undefined
  links: PageLinks | undefined
}

export interface Entry extends QueuePlace {
  readonly row: Row
}

export interface Host {
  readonly key: string
  state: HostState
}

/** The requests of one task at one host that wait for their turn. */
export interface Queue {
  readonly id: number
  readonly task: Task
  readonly host: Host
  /** Entries that their row no longer points to are dead. */
  readonly heap: Heap<Entry>
  /** Something was queued here once; a host of which everything was refused is not one of the crawl's hosts. */
  opened: boolean
}

export interface KeptItem {
  readonly seq: number
  json: string
  readonly isPage: boolean
}

export interface Task {
  settings: TaskSettings
  readonly rows: Map<string, Row>
  readonly queues: Map<string, Queue>
  readonly levels: Map<number, { -readonly [K in keyof LevelStats]: LevelStats[K] }>
  readonly skipped: Map<SkipReason, number>
  readonly counts: Record<RequestState, number>
  readonly counters: Record<CounterName, number>
  /** What links lead to and was no request when they were kept: numbers by fingerprint. */
  readonly linkUrls: Map<string, { readonly id: number; readonly url: string }>
  items: KeptItem[]
  lastSeq: number
  revision: number
}

export interface Model {
  readonly clock: Clock
  readonly random: Random
  readonly bell: Bell
  readonly tasks: Map<string, Task>
  readonly hosts: Map<string, Host>
  readonly leased: Map<number, Row>
  readonly delayed: Set<Row>
  readonly state: Map<string, string>
  lastId: number
  lastQueueId: number
  lastToken: number
}

export function createModel(clock: Clock, random: Random): Model {
  return {
    clock,
    random,
    bell: createBell(clock),
    tasks: new Map(),
    hosts: new Map(),
    leased: new Map(),
    delayed: new Set(),
    state: new Map(),
    lastId: 0,
    lastQueueId: 0,
    lastToken: 0,
  }
}

export function createTask(settings: TaskSettings): Task {
  return {
    settings,
    rows: new Map(),
    queues: new Map(),
    levels: new Map(),
    skipped: new Map(),
    counts: { pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 },
    counters: { ...COUNTERS_AT_ZERO },
    linkUrls: new Map(),
    items: [],
    lastSeq: 0,
    revision: 0,
  }
}

export function taskOf(model: Model, name: string): Task {
  const task = model.tasks.get(name)
  if (task === undefined) {
    throw new CrawlError('CONFIG_INVALID', { context: { problem: `The task "${name}" was not opened in this store` } })
  }
  return task
}

/** Every change of a row's state, reason or depth goes through here, so that the counts are always true. */
export function change(row: Row, fields: Partial<Pick<Row, 'state' | 'reason' | 'request'>>): void {
  count(row, -1)
  Object.assign(row, fields)
  count(row, 1)
}

export function count(row: Row, by: 1 | -1): void {
  const { task, state } = row
  const { depth } = row.request
  const level = task.levels.get(depth) ?? { depth, pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
  level[state] += by
  task.levels.set(depth, level)
  task.counts[state] += by
  if (state !== 'skipped') return
  const reason = row.reason as SkipReason
  task.skipped.set(reason, (task.skipped.get(reason) ?? 0) + by)
}

export function queueOf(model: Model, task: Task, hostKey: string): Queue {
  const known = task.queues.get(hostKey)
  if (known !== undefined) return known
  const queue: Queue = {
    id: ++model.lastQueueId,
    task,
    host: hostOf(model, hostKey),
    heap: createHeap<Entry>(comesBefore),
    opened: false,
  }
  task.queues.set(hostKey, queue)
  return queue
}

function hostOf(model: Model, key: string): Host {
  let host = model.hosts.get(key)
  if (host === undefined) {
    host = { key, state: initialHostState() }
    model.hosts.set(key, host)
  }
  return host
}

export function hostKeyNow(row: Row): string {
  return row.hop?.hostKey ?? row.request.hostKey
}

/** Puts a pending row where it belongs: into its host's queue, or aside until `retryAtMs`. */
export function place(model: Model, row: Row, retryAtMs?: number): void {
  unplace(model, row)
  if (retryAtMs !== undefined) {
    row.retryAtMs = retryAtMs
    model.delayed.add(row)
    return
  }
  const { priority, depth } = row.request
  row.entry = { ...placeOf({ priority, depth, id: row.id }, row.task.settings.order), row }
  const queue = queueOf(model, row.task, hostKeyNow(row))
  queue.heap.push(row.entry)
  queue.opened = true
}

export function unplace(model: Model, row: Row): void {
  row.entry = undefined
  row.retryAtMs = undefined
  model.delayed.delete(row)
}

/** The next row of the queue, without taking it. */
export function head(queue: Queue): Row | undefined {
  for (;;) {
    const entry = queue.heap.peek()
    if (entry === undefined || entry.row.entry === entry) return entry?.row
    queue.heap.pop()
  }
}

/** Ends a lease and tells the host what became of it. The row's new state is the caller's business. */
export function endLease(model: Model, row: Row, signal: HostSignal): void {
  const lease = row.lease
  if (lease === undefined) return
  row.lease = undefined
  model.leased.delete(row.id)
  if (lease.unpaced === true) return
  const host = hostOf(model, hostKeyNow(row))
  host.state = settleHost(host.state, signal, {
    leasedAtMs: lease.leasedAtMs,
    nowMs: model.clock.monotonicMs(),
    limits: limitsOf(row.task, host.key),
    random: model.random,
  })
}

export function limitsOf(task: Task, hostKey: string): HostLimits {
  return hostLimits(task.settings, hostKey)
}
