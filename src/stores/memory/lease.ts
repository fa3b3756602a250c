/** Who comes next in the memory store: leases given, renewed and taken back. */

import type { Lease, LeaseOptions } from '../../frontier/contract.ts'
import { createAllowance, marksOf } from '../../frontier/allowance.ts'
import { isFinished, leaseBudget } from '../../frontier/budget.ts'
import { turnOf } from '../../frontier/order.ts'
import type { Outlook } from '../../frontier/wait-for-work.ts'
import { isHostDown, isSilent, mayStart, reserve, startLate } from '../../politeness/host-state.ts'
import { change, endLease, head, limitsOf, place, queueOf, taskOf, unplace } from './model.ts'
import type { Model, Queue, Row } from './model.ts'
import { putBack } from './settle.ts'

type Scope = Pick<LeaseOptions, 'tasks' | 'pageLimit' | 'maxSilent'>

export function leaseNext(model: Model, options: LeaseOptions): readonly Lease[] {
  const nowMs = model.clock.monotonicMs()
  takeBackExpired(model, nowMs)
  for (const row of model.delayed) if (due(row.retryAtMs, nowMs)) place(model, row)
  const leases: Lease[] = []
  const allowance = createAllowance(options)
  // In rounds, one request a host, so that a host with many places does not take them all.
  let round = [...startable(model, options, nowMs), ...unpacedQueues(model, options, nowMs)]
  while (round.length > 0 && leases.length < options.max) {
    const next: Queue[] = []
    for (const queue of round) {
      const row = waiting(queue, options)
      if (leases.length >= options.max || row === undefined) continue
      const { key, state } = queue.host
      const giving = allowance.take(key, { mayStart: isOpen(queue, nowMs), isSilent: isSilent(state) })
      if (giving === undefined) continue
      leases.push(hold(model, { row, queue, leaseMs: options.leaseMs, nowMs, marks: marksOf(giving) }))
      next.push(queue)
    }
    round = next
  }
  return leases
}

/** The host whose turn came first comes first. */
function startable(model: Model, scope: Scope, nowMs: number): Queue[] {
  return scope.tasks
    .flatMap((name) => [...taskOf(model, name).queues.values()])
    .filter((queue) => canStart(queue, scope, nowMs))
    .toSorted((a, b) => turnOf(a.host.state, nowMs) - turnOf(b.host.state, nowMs) || a.id - b.id)
}

/** Queues that politeness keeps waiting, of hosts that may be given beside it. */
function unpacedQueues(model: Model, options: LeaseOptions, nowMs: number): Queue[] {
  const { unpaced } = options
  if (unpaced === undefined) return []
  return options.tasks
    .flatMap((name) => [...taskOf(model, name).queues.values()])
    .filter((queue) => unpaced.has(queue.host.key) && waiting(queue, options) !== undefined && !isOpen(queue, nowMs))
}

function canStart(queue: Queue, scope: Scope, nowMs: number): boolean {
  return waiting(queue, scope) !== undefined && isWanted(queue, scope) && isOpen(queue, nowMs)
}

/** The request that comes next, if the task may have one more. */
function waiting(queue: Queue, { pageLimit }: Pick<Scope, 'pageLimit'>): Row | undefined {
  return leaseBudget(queue.task.counts, pageLimit) === 0 ? undefined : head(queue)
}

function isOpen({ host, task }: Queue, nowMs: number): boolean {
  return mayStart(host.state, limitsOf(task, host.key), nowMs)
}

interface Holding {
  readonly row: Row
  readonly queue: Queue
  readonly leaseMs: number
  readonly nowMs: number
  readonly marks: Pick<Lease, 'unpaced' | 'silent'>
}

function hold(model: Model, { row, queue, leaseMs, nowMs, marks }: Holding): Lease {
  const { host, task } = queue
  const hostDown = isHostDown(host.state, nowMs)
  if (marks.unpaced !== true) host.state = reserve(host.state, limitsOf(task, host.key), nowMs)
  unplace(model, row)
  change(row, { state: 'leased' })
  row.lease = {
    token: String(++model.lastToken),
    leasedAtMs: nowMs,
    expiresAtMs: nowMs + leaseMs,
    ...marks,
  }
  model.leased.set(row.id, row)
  return {
    id: String(row.id),
    request: row.request,
    url: row.hop?.url ?? row.request.url,
    hostKey: host.key,
    hops: row.hops,
    attempt: row.attempt + 1,
    ...row.lease,
    hostDown,
    ...(row.visit === undefined ? {} : { visit: row.visit }),
  }
}

export function renew(model: Model, held: Lease, leaseMs: number): boolean {
  const lease = model.leased.get(Number(held.id))?.lease
  if (lease === undefined || lease.token !== held.token) return false
  lease.expiresAtMs = model.clock.monotonicMs() + leaseMs
  return true
}

export function moveNextTime(model: Model, held: Lease): void {
  const row = model.leased.get(Number(held.id))
  if (row?.lease === undefined || row.lease.token !== held.token) return
  const { host, task } = queueOf(model, taskOf(model, held.request.task), held.hostKey)
  host.state = startLate(host.state, limitsOf(task, host.key), model.clock.monotonicMs())
}

function takeBackExpired(model: Model, nowMs: number): void {
  for (const row of model.leased.values()) {
    if (!due(row.lease?.expiresAtMs, nowMs)) continue
    // Nobody knows whether it was sent: the place is free again, the host's next time stays.
    endLease(model, row, { kind: 'troubled' })
    row.attempt++
    putBack(model, row, 0)
  }
}

/** What `waitForWork` waits for: that a call of `lease` would change something, or that there is nothing left. */
export function look(model: Model, scope: Scope): Outlook {
  const nowMs = model.clock.monotonicMs()
  const tasks = scope.tasks.map((name) => taskOf(model, name))
  if (tasks.every((task) => isFinished(task.counts, scope.pageLimit))) return { kind: 'finished' }
  const instants = [...model.delayed].map((row) => row.retryAtMs)
  for (const row of model.leased.values()) instants.push(row.lease?.expiresAtMs)
  if (startable(model, scope, nowMs).length > 0 || instants.some((at) => due(at, nowMs))) return { kind: 'ready' }
  for (const task of tasks) {
    for (const queue of task.queues.values()) if (isWanted(queue, scope)) instants.push(queue.host.state.nextAtMs)
  }
  const later = instants.filter((at) => at !== undefined && at > nowMs) as number[]
  return later.length === 0 ? { kind: 'wait' } : { kind: 'wait', inMs: later.reduce((a, b) => Math.min(a, b)) - nowMs }
}

/** Something of it waits, and a call of `lease` could give it. */
function isWanted(queue: Queue, { maxSilent }: Scope): boolean {
  return head(queue) !== undefined && !(maxSilent === 0 && isSilent(queue.host.state))
}

function due(atMs: number | undefined, nowMs: number): boolean {
  return atMs !== undefined && atMs <= nowMs
}
