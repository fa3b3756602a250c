/** What an open store works with: its connections, and what never changes of tasks and queues, kept in memory. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { TaskSettings } from '../../frontier/contract.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'
import { initialHostState } from '../../politeness/host-state.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'
import type { Link } from './link.ts'
import { lockScript } from './locks.ts'

export interface Task {
  readonly id: number
  readonly name: string
  readonly settings: TaskSettings
  /** Its depth limit was changed, and not every request knows it yet. */
  readonly sifting: boolean
}

/** Where the requests of one task at one host are. */
export interface QueueRef {
  readonly id: number
  readonly hostId: number
  readonly taskId: number
}

export interface Session {
  readonly link: Link
  readonly prefix: string
  readonly location: string
  readonly clock: Clock
  readonly random: Random
  /** Tells everyone who waits, here and elsewhere, that something has changed. */
  readonly bell: Bell
  readonly ownerId: number
  readonly ownerName: string
  readonly tasksByName: Map<string, Task>
  readonly tasksById: Map<number, Task>
  /** By task and host key. */
  readonly queues: Map<string, QueueRef>
  lastToken: number
}

/** Above this many the memory is emptied: it is only a cache. */
const MAX_CACHED_QUEUES = 50_000

interface TaskRow {
  readonly id: number
  readonly name: string
  readonly settings: string
  readonly sifting: boolean
}

const TASK_COLUMNS = 'id, name, settings, sifting'

function keepTask(session: Session, { id, name, settings, sifting }: TaskRow): Task {
  const task: Task = { id, name, settings: JSON.parse(settings) as TaskSettings, sifting }
  session.tasksByName.set(name, task)
  session.tasksById.set(id, task)
  return task
}

export function forgetTask(session: Session, task: Pick<Task, 'id' | 'name'>): void {
  session.tasksByName.delete(task.name)
  session.tasksById.delete(task.id)
}

/** Tasks of these names, as far as there are any; perhaps as they were some time ago. */
export async function findTasks(session: Session, names: Iterable<string>): Promise<ReadonlyMap<string, Task>> {
  const wanted = [...new Set(names)]
  const missing = wanted.filter((name) => !session.tasksByName.has(name))
  if (missing.length > 0) {
    const rows = await session.link.run((connection) =>
      connection.rows<TaskRow>(`SELECT ${TASK_COLUMNS} FROM @tasks WHERE name = ANY($1)`, missing),
    )
    for (const row of rows) keepTask(session, row)
  }
  return new Map(
    wanted.flatMap((name) => {
      const task = session.tasksByName.get(name)
      return task === undefined ? [] : [[name, task] as const]
    }),
  )
}

/** Of a name that must be there. Throws CONFIG_INVALID. */
export function taskIn(tasks: ReadonlyMap<string, Task>, name: string, location: string): Task {
  const task = tasks.get(name)
  if (task !== undefined) return task
  const problem = `The task "${name}" was not opened in ${location}`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

/** The same for reading: what is told of a task must be of the one that has the name now. */
export async function currentTask(session: Session, name: string): Promise<Task> {
  session.tasksByName.delete(name)
  return taskIn(await findTasks(session, [name]), name, session.location)
}

/** How many results `taskHead` adds to those of a head. */
export const TASK_RESULTS = 2

/** Begins a transaction that changes requests of these tasks: none of them is changed or cleared before its end. */
export function taskHead({ prefix }: Session, ids: readonly number[], { alone = false } = {}): string {
  const lock = lockScript(prefix, ids, { kind: 'task', shared: !alone })
  return `${lock}; SELECT ${TASK_COLUMNS} FROM @tasks WHERE id IN (${ids.join(', ')}) AND name IS NOT NULL`
}

/** The tasks as they are now; undefined when one of them has been cleared: its id is good for nothing any more. */
export function tasksNow(
  session: Session,
  ids: readonly number[],
  rows: readonly object[] | undefined,
): ReadonlyMap<number, Task> | undefined {
  const found = ((rows ?? []) as readonly TaskRow[]).map((row) => keepTask(session, row))
  const tasks = new Map(found.map((task) => [task.id, task]))
  const gone = ids.filter((id) => !tasks.has(id))
  for (const id of gone) {
    const task = session.tasksById.get(id)
    if (task !== undefined) forgetTask(session, task)
  }
  return gone.length === 0 ? tasks : undefined
}

export interface QueueName {
  readonly taskId: number
  readonly hostKey: string
}

const queueKey = ({ taskId, hostKey }: QueueName): string => `${taskId} ${hostKey}`

interface QueueRow {
  readonly id: number
  readonly host_id: number
  readonly task_id: number
  readonly key: string
}

const WANTED = 'json_to_recordset($1::json) AS x("taskId" int, "hostKey" text, n int)'
const FIND_QUEUES = `SELECT q.id, q.host_id, q.task_id, h.key FROM ${WANTED}
  JOIN @hosts h ON h.key = x."hostKey" JOIN @queues q ON q.host_id = h.id AND q.task_id = x."taskId"`
const ADD_HOSTS = `INSERT INTO @hosts(key, next_at, in_flight, crawl_delay, backoff_step, backoff_at, silent, down_until)
  SELECT key, ${newHost()} FROM (SELECT DISTINCT x."hostKey" AS key FROM ${WANTED}) w
  WHERE NOT EXISTS (SELECT 1 FROM @hosts h WHERE h.key = w.key) ORDER BY key ON CONFLICT DO NOTHING`
/** Inserted in one order by all, against deadlocks; numbered as they came, which is whose turn is first. */
const ADD_QUEUES = `INSERT INTO @queues(id, task_id, host_id) OVERRIDING SYSTEM VALUE
  SELECT (SELECT array_agg(nextval(pg_get_serial_sequence('@queues', 'id')))
    FROM generate_series(1, json_array_length($1::json)))[x.n], x."taskId", h.id FROM ${WANTED} JOIN @hosts h ON h.key = x."hostKey"
  WHERE NOT EXISTS (SELECT 1 FROM @queues q WHERE q.host_id = h.id AND q.task_id = x."taskId")
  ORDER BY h.id, x."taskId" ON CONFLICT DO NOTHING`

function newHost(): string {
  const state = initialHostState()
  return [
    state.nextAtMs,
    state.inFlight,
    state.crawlDelayMs,
    state.backoffStep,
    state.backoffAtMs,
    state.silentFailures,
    state.downUntilMs,
  ].join(', ')
}

/**
 * Makes queues that are not there yet. Not part of a transaction, so that nobody waits for a host that another is just
 * making: an empty queue is nothing that anyone sees.
 */
export async function ensureQueues(session: Session, names: readonly QueueName[]): Promise<void> {
  if (session.queues.size > MAX_CACHED_QUEUES) session.queues.clear()
  const missing = new Map(names.map((name) => [queueKey(name), name]))
  for (const key of missing.keys()) if (session.queues.has(key)) missing.delete(key)
  if (missing.size === 0) return
  const wanted = JSON.stringify([...missing.values()].map((name, at) => ({ ...name, n: at + 1 })))
  await session.link.run(async (connection) => {
    const keep = (rows: readonly QueueRow[]): boolean => {
      for (const row of rows) {
        const { id, host_id: hostId, task_id: taskId, key } = row
        session.queues.set(queueKey({ taskId, hostKey: key }), { id, hostId, taskId })
      }
      return rows.length >= missing.size
    }
    if (keep(await connection.rows<QueueRow>(FIND_QUEUES, wanted))) return
    await connection.rows(ADD_HOSTS, wanted)
    await connection.rows(ADD_QUEUES, wanted)
    keep(await connection.rows<QueueRow>(FIND_QUEUES, wanted))
  })
}

/** After `ensureQueues`. */
export function queueOf({ queues }: Session, name: QueueName): QueueRef {
  const queue = queues.get(queueKey(name))
  if (queue === undefined) throw new Error(`The queue of task ${name.taskId} at ${name.hostKey} is not there`)
  return queue
}

/** Reads tasks by id, inside a transaction. */
export async function learnTasks(session: Session, connection: Connection, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await connection.rows<TaskRow>(
    `SELECT ${TASK_COLUMNS} FROM @tasks WHERE id = ANY($1::int[]) AND name IS NOT NULL`,
    ids,
  )
  for (const row of rows) keepTask(session, row)
}
