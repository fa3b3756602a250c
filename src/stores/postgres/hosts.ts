/** Hosts and their queues as one transaction holds them: locked, changed in memory, written as numbers. */

import type { HostState } from '../../politeness/contract.ts'
import { hostLimits, isSilent, nextStartMs } from '../../politeness/host-state.ts'
import type { HostLimits } from '../../politeness/contract.ts'
import { comesBefore, dueAt } from '../../frontier/order.ts'
import type { QueuePlace } from '../../frontier/order.ts'
import type { Session, Task } from './session.ts'

export interface HostRow {
  readonly id: number
  readonly key: string
  readonly next_at: number
  readonly in_flight: number
  readonly crawl_delay: number
  readonly backoff_step: number
  readonly backoff_at: number
  readonly silent: number
  readonly down_until: number
}

interface QueueRow {
  readonly id: number
  readonly task_id: number
  readonly host_id: number
  readonly ready: number
  readonly opened: boolean
  readonly due_ms: number | null
  readonly head_urgency: number
  readonly head_level: number
  readonly head_id: number
}

export interface Host {
  readonly id: number
  readonly key: string
  state: HostState
  isChanged: boolean
  readonly queues: Queue[]
}

export interface Queue {
  readonly id: number
  readonly taskId: number
  readonly host: Host
  readonly limits: HostLimits
  ready: number
  opened: boolean
  /** Where it stands among those that are due: see `dueAt`. */
  readonly dueMs: number | null
  /** Nothing that is ready comes before it. */
  head: QueuePlace
  isChanged: boolean
}

export interface HeldHosts {
  readonly nowMs: number
  readonly hosts: ReadonlyMap<number, Host>
  readonly queues: ReadonlyMap<number, Queue>
}

/** How many results `hostScript` adds. */
export const HOST_RESULTS = 3

/**
 * Locks the hosts, always in the same order; whoever changes anything in a queue holds its host. The clock is read when
 * they are held, so that a start is never reckoned from before a wait.
 */
export function hostScript(ids: readonly number[], { skipLocked = false } = {}): string {
  const list = ids.length === 0 ? 'NULL' : ids.join(', ')
  const skip = skipLocked ? ' SKIP LOCKED' : ''
  return `SELECT * FROM @hosts WHERE id IN (${list}) ORDER BY id FOR NO KEY UPDATE${skip};
    SELECT * FROM @queues WHERE host_id IN (${list}); SELECT @now() AS now`
}

/** Of the results of `hostScript`; queues of hosts that were not had are left out. */
export function heldHosts(
  session: Session,
  [hostRows = [], queueRows = [], clock = []]: readonly (readonly object[])[],
): HeldHosts {
  const [{ now: nowMs }] = clock as readonly [{ readonly now: number }]
  const hosts = new Map<number, Host>()
  for (const row of hostRows as readonly HostRow[]) {
    hosts.set(row.id, { id: row.id, key: row.key, state: stateOf(row), isChanged: false, queues: [] })
  }
  const queues = new Map<number, Queue>()
  for (const row of queueRows as readonly QueueRow[]) {
    const host = hosts.get(row.host_id)
    const task = session.tasksById.get(row.task_id)
    if (host === undefined || task === undefined) continue
    const queue = queueFrom(row, host, task)
    host.queues.push(queue)
    queues.set(queue.id, queue)
  }
  return { nowMs, hosts, queues }
}

/** Tasks of the queues that the session does not know: their limits are needed, too. */
export function unknownTasks(session: Session, results: readonly (readonly object[])[]): number[] {
  const rows = (results[1] ?? []) as readonly QueueRow[]
  return [...new Set(rows.map(({ task_id: id }) => id))].filter((id) => !session.tasksById.has(id))
}

export function stateOf(row: HostRow): HostState {
  return {
    nextAtMs: row.next_at,
    inFlight: row.in_flight,
    crawlDelayMs: row.crawl_delay,
    backoffStep: row.backoff_step,
    backoffAtMs: row.backoff_at,
    silentFailures: row.silent,
    downUntilMs: row.down_until,
  }
}

function queueFrom(row: QueueRow, host: Host, task: Task): Queue {
  return {
    id: row.id,
    taskId: row.task_id,
    host,
    limits: hostLimits(task.settings, host.key),
    ready: row.ready,
    opened: row.opened,
    dueMs: row.due_ms,
    head: { priority: 0 - row.head_urgency, level: row.head_level, id: row.head_id },
    isChanged: false,
  }
}

export function setHost(host: Host, state: HostState): void {
  host.state = state
  host.isChanged = true
}

/** A request has come into the queue or left it. */
export function moveReady(queue: Queue, by: number, place?: QueuePlace): void {
  queue.ready += by
  queue.isChanged = true
  if (place !== undefined && comesBefore(place, queue.head)) queue.head = place
}

/** A script that writes what has changed; empty when nothing has. */
export function writeHosts({ hosts, queues, nowMs }: HeldHosts): string {
  const changed = [...hosts.values()].filter(({ isChanged }) => isChanged)
  const states = changed.map(({ id, state }) => {
    const { nextAtMs, inFlight, crawlDelayMs, backoffStep, backoffAtMs, silentFailures, downUntilMs } = state
    return `(${id}, ${nextAtMs}::float8, ${inFlight}, ${crawlDelayMs}::float8, ${backoffStep}, ${backoffAtMs}::float8,
      ${silentFailures}, ${downUntilMs}::float8)`
  })
  const rows = [...queues.values()].flatMap((queue) => queueValues(queue, nowMs))
  const scripts: string[] = []
  if (states.length > 0) {
    scripts.push(`UPDATE @hosts h SET next_at = v.a, in_flight = v.b, crawl_delay = v.c, backoff_step = v.d,
      backoff_at = v.e, silent = v.f, down_until = v.g
      FROM (VALUES ${states.join(', ')}) AS v(id, a, b, c, d, e, f, g) WHERE h.id = v.id`)
  }
  if (rows.length > 0) {
    scripts.push(`UPDATE @queues q SET ready = v.a, opened = v.b, due_ms = v.c, head_urgency = v.d, head_level = v.e,
      head_id = v.f FROM (VALUES ${rows.join(', ')}) AS v(id, a, b, c, d, e, f) WHERE q.id = v.id`)
  }
  return scripts.join('; ')
}

function queueValues(queue: Queue, nowMs: number): string[] {
  const { id, ready, opened, head, host, limits } = queue
  const startMs = ready > 0 ? nextStartMs(host.state, limits, nowMs) : Infinity
  const dueMs = Number.isFinite(startMs) ? dueAt(startMs, isSilent(host.state)) : null
  if (!queue.isChanged && dueMs === queue.dueMs) return []
  const due = dueMs === null ? 'NULL::float8' : `${dueMs}::float8`
  return [`(${id}, ${ready}, ${opened}, ${due}, '${0 - head.priority}'::float8, ${head.level}, ${head.id})`]
}
