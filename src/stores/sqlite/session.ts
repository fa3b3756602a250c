/** What an open store works with: the connection, and the hot rows of tasks, hosts and queues kept in memory. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { RequestState } from '../../core/request.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import type { CounterName, TaskSettings } from '../../frontier/contract.ts'
import { dueAt } from '../../frontier/order.ts'
import type { HostLimits, HostState } from '../../politeness/contract.ts'
import { hostLimits, initialHostState, isSilent, nextStartMs } from '../../politeness/host-state.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'
import { TOTAL } from './schema.ts'
import type { StoreClock } from './store-clock.ts'

export interface Task {
  readonly id: number
  readonly name: string
  settings: TaskSettings
  hosts: number
  items: number
  lastSeq: number
  revision: number
  readonly counters: Record<CounterName, number>
  /** Totals over all depths. */
  readonly counts: Record<RequestState, number>
  /** Changes of `counts` rows since the transaction began, by `kind|depth`. */
  readonly changes: Map<string, number>
  dirty: boolean
}

export interface Host {
  readonly id: number
  readonly key: string
  state: HostState
  readonly queues: Queue[]
  /** Its state changed since the due times of its queues were reckoned. */
  dirty: boolean
}

export interface Queue {
  readonly id: number
  readonly task: Task
  readonly host: Host
  readonly limits: HostLimits
  ready: number
  opened: boolean
  /** Where it stands among those that are due: see `dueAt`. */
  dueMs: number | null
  dirty: boolean
}

export interface Session {
  readonly sql: Connection
  readonly location: string
  readonly clock: Clock
  readonly random: Random
  readonly ownerId: number
  readonly ownerName: string
  readonly storeClock: StoreClock
  /** Only in tests: may end the process between two steps. */
  readonly failpoint: ((name: string) => void) | undefined
  readonly tasksByName: Map<string, Task>
  readonly tasksById: Map<number, Task>
  readonly hostsByKey: Map<string, Host>
  readonly queuesById: Map<number, Queue>
  readonly touched: { readonly hosts: Set<Host>; readonly queues: Set<Queue>; readonly tasks: Set<Task> }
  readonly memory: Memory
}

/** What is remembered of the file, one for all owners that this process works for. */
interface Memory {
  /** Of other connections' commits, as SQLite counts them. */
  dataVersion: number
  /** Of requests; 0 when it must be asked for. */
  lastRequestId: number
  lastToken: number
  /** No lease expires before: as far as this session knows. */
  nextExpiryMs: number
  /** Undefined: must be asked for. */
  hasReplaced: boolean | undefined
}

/** Above this many hosts the memory is emptied: it is only a cache. */
const MAX_CACHED_HOSTS = 8192

/** To be called inside a transaction, before anything else: forgets what others may have changed. */
export function refresh(session: Session): void {
  const row = session.sql.one<{ data_version: number }>('PRAGMA data_version')
  const version = row?.data_version ?? 0
  if (version === session.memory.dataVersion && session.hostsByKey.size <= MAX_CACHED_HOSTS) return
  const byOthers = version !== session.memory.dataVersion
  session.memory.dataVersion = version
  forget(session)
  if (byOthers) session.memory.nextExpiryMs = 0
}

/** After a rollback, or when others have written: everything is read again from the file. */
export function forget(session: Session): void {
  session.tasksByName.clear()
  session.tasksById.clear()
  session.hostsByKey.clear()
  session.queuesById.clear()
  session.touched.hosts.clear()
  session.touched.queues.clear()
  session.touched.tasks.clear()
  session.memory.lastRequestId = 0
  session.memory.hasReplaced = undefined
}

interface TaskRow {
  id: number
  name: string
  settings: string
  hosts: number
  items: number
  last_seq: number
  revision: number
  counters: string
}

export function findTask(session: Session, name: string): Task | undefined {
  const known = session.tasksByName.get(name)
  if (known !== undefined) return known
  const row = session.sql.one<TaskRow>('SELECT * FROM tasks WHERE name = ?', name)
  return row === undefined ? undefined : loadTask(session, row)
}

export function taskOf(session: Session, name: string): Task {
  const task = findTask(session, name)
  if (task !== undefined) return task
  const problem = `The task "${name}" was not opened in ${session.location}`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

function taskById(session: Session, id: number): Task | undefined {
  const known = session.tasksById.get(id)
  if (known !== undefined) return known
  const row = session.sql.one<TaskRow>('SELECT * FROM tasks WHERE id = ? AND name IS NOT NULL', id)
  return row === undefined ? undefined : loadTask(session, row)
}

function loadTask(session: Session, row: TaskRow): Task {
  const counts: Record<RequestState, number> = { pending: 0, leased: 0, done: 0, failed: 0, skipped: 0 }
  const totals = session.sql.all<{ kind: string; n: number }>(
    'SELECT kind, n FROM counts WHERE task_id = ? AND depth = ?',
    row.id,
    TOTAL,
  )
  for (const { kind, n } of totals) if (kind in counts) counts[kind as RequestState] = n
  const task: Task = {
    id: row.id,
    name: row.name,
    settings: JSON.parse(row.settings) as TaskSettings,
    hosts: row.hosts,
    items: row.items,
    lastSeq: row.last_seq,
    revision: row.revision,
    counters: { ...COUNTERS_AT_ZERO, ...(JSON.parse(row.counters) as Record<CounterName, number>) },
    counts,
    changes: new Map(),
    dirty: false,
  }
  session.tasksByName.set(task.name, task)
  session.tasksById.set(task.id, task)
  return task
}

function findHost(session: Session, key: string): Host | undefined {
  const known = session.hostsByKey.get(key)
  if (known !== undefined) return known
  const row = session.sql.one<{ id: number; state: string }>('SELECT id, state FROM hosts WHERE key = ?', key)
  if (row === undefined) return undefined
  const state = { ...initialHostState(), ...(JSON.parse(row.state) as HostState) }
  const host: Host = { id: row.id, key, state, queues: [], dirty: false }
  session.hostsByKey.set(key, host)
  const queues = session.sql.all<{ id: number; task_id: number; ready: number; opened: number; due_ms: number | null }>(
    'SELECT id, task_id, ready, opened, due_ms FROM queues WHERE host_id = ? ORDER BY id',
    row.id,
  )
  for (const { id, task_id: taskId, ready, opened, due_ms: dueMs } of queues) {
    const task = taskById(session, taskId)
    if (task !== undefined) keepQueue(session, { id, task, host, ready, opened: opened !== 0, dueMs })
  }
  return host
}

export function findQueue(session: Session, task: Task, hostKey: string): Queue | undefined {
  return findHost(session, hostKey)?.queues.find((queue) => queue.task === task)
}

export function queueOf(session: Session, task: Task, hostKey: string): Queue {
  let host = findHost(session, hostKey)
  if (host === undefined) {
    const { sql } = session
    sql.run('INSERT INTO hosts(key, state) VALUES (?, ?)', hostKey, JSON.stringify(initialHostState()))
    host = findHost(session, hostKey)
  }
  if (host === undefined) throw new Error(`Host ${hostKey} was inserted and is not there`)
  const queue = host.queues.find((candidate) => candidate.task === task)
  if (queue !== undefined) return queue
  const row = session.sql.one<{ id: number }>(
    'INSERT INTO queues(task_id, host_id, ready, opened) VALUES (?, ?, 0, 0) RETURNING id',
    task.id,
    host.id,
  )
  return keepQueue(session, { id: row?.id ?? 0, task, host, ready: 0, opened: false, dueMs: null })
}

function keepQueue(session: Session, fields: Omit<Queue, 'limits' | 'dirty'>): Queue {
  const queue: Queue = { ...fields, limits: hostLimits(fields.task.settings, fields.host.key), dirty: false }
  fields.host.queues.push(queue)
  session.queuesById.set(queue.id, queue)
  return queue
}

/** Of an id that a row carries: it exists, unless its task was cleared. */
export function queueById(session: Session, id: number): Queue | undefined {
  const known = session.queuesById.get(id)
  if (known !== undefined) return known
  const row = session.sql.one<{ key: string }>(
    'SELECT h.key FROM queues q JOIN hosts h ON h.id = q.host_id WHERE q.id = ?',
    id,
  )
  if (row !== undefined) findHost(session, row.key)
  return session.queuesById.get(id)
}

export function setHost(session: Session, host: Host, state: HostState): void {
  host.state = state
  host.dirty = true
  session.touched.hosts.add(host)
}

export function touchQueue(session: Session, queue: Queue): void {
  queue.dirty = true
  session.touched.queues.add(queue)
}

export function touchTask(session: Session, task: Task): void {
  task.dirty = true
  session.touched.tasks.add(task)
}

/** The one place where counts change. `reason` of a skip. */
export function count(
  session: Session,
  task: Task,
  change: {
    readonly state: RequestState
    readonly depth: number
    readonly by: number
    readonly reason?: string | null
  },
): void {
  const { state, depth, by, reason } = change
  task.counts[state] += by
  bump(task, `${state}|${depth}`, by)
  bump(task, `${state}|${TOTAL}`, by)
  if (state === 'skipped') bump(task, `skipped:${reason ?? ''}|${TOTAL}`, by)
  session.touched.tasks.add(task)
}

function bump({ changes }: Task, key: string, by: number): void {
  changes.set(key, (changes.get(key) ?? 0) + by)
}

/** Writes the hot rows that a transaction changed, once each. To be called just before its end. */
export function flush(session: Session): void {
  const { touched, sql } = session
  flushQueues(session)
  for (const host of touched.hosts) {
    sql.run('UPDATE hosts SET state = ? WHERE id = ?', JSON.stringify(host.state), host.id)
  }
  for (const task of touched.tasks) flushTask(session, task)
  touched.hosts.clear()
  touched.tasks.clear()
}

/** Queues whose due time in the file is not true any more. */
export function touchedQueues({ touched }: Session): ReadonlySet<Queue> {
  for (const host of touched.hosts) {
    if (!host.dirty) continue
    host.dirty = false
    for (const queue of host.queues) touched.queues.add(queue)
  }
  return touched.queues
}

function flushQueues(session: Session): void {
  const { touched, sql } = session
  const nowMs = session.storeClock.nowMs()
  for (const queue of touchedQueues(session)) {
    const startMs = queue.ready > 0 ? nextStartMs(queue.host.state, queue.limits, nowMs) : Infinity
    const dueMs = Number.isFinite(startMs) ? dueAt(startMs, isSilent(queue.host.state)) : null
    if (!queue.dirty && dueMs === queue.dueMs) continue
    queue.dirty = false
    queue.dueMs = dueMs
    const opened = queue.opened ? 1 : 0
    sql.run('UPDATE queues SET ready = ?, opened = ?, due_ms = ? WHERE id = ?', queue.ready, opened, dueMs, queue.id)
  }
  touched.queues.clear()
}

function flushTask({ sql }: Session, task: Task): void {
  for (const [key, by] of task.changes) {
    if (by === 0) continue
    const bar = key.lastIndexOf('|')
    sql.run(
      'INSERT INTO counts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
      task.id,
      key.slice(0, bar),
      Number(key.slice(bar + 1)),
      by,
    )
  }
  task.changes.clear()
  if (!task.dirty) return
  task.dirty = false
  const { hosts, items, lastSeq, revision, counters } = task
  sql.run(
    'UPDATE tasks SET hosts = ?, items = ?, last_seq = ?, revision = ?, counters = ? WHERE id = ?',
    hosts,
    items,
    lastSeq,
    revision,
    JSON.stringify(counters),
    task.id,
  )
}
