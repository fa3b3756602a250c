/** Who comes next in the MongoDB store: leases given, renewed and taken back. */

import { createAllowance, marksOf } from '../../frontier/allowance.ts'
import { isFinished, leaseBudget } from '../../frontier/budget.ts'
import type { Lease, LeaseOptions } from '../../frontier/contract.ts'
import { turnOf } from '../../frontier/order.ts'
import type { Outlook } from '../../frontier/wait-for-work.ts'
import type { HostSignal } from '../../politeness/contract.ts'
import { isHostDown, isSilent, mayStart, reserve, settleHost, startLate } from '../../politeness/host-state.ts'
import { DELAYED, dueList, LEASED, queueKey, requestKey } from './documents.ts'
import type { QueueDocument, RequestDocument } from './documents.ts'
import { continueLowering } from './known.ts'
import {
  editMeta,
  findTask,
  hostNow,
  hostState,
  inQueue,
  leased,
  limitsOf,
  metaOf,
  requestOf,
  setHost,
  setRow,
  storedRequest,
  taskById,
  taskOf,
  touchedOf,
  touchedQueues,
} from './rows.ts'
import type { Task } from './rows.ts'
import type { Transaction } from './transaction.ts'

type Scope = Pick<LeaseOptions, 'tasks' | 'pageLimit' | 'maxSilent'>

/** How many expired leases, or retries that are due, one call deals with. */
const MAX_RETURNS = 1000

interface Queue {
  readonly key: string
  readonly task: Task
  readonly doc: QueueDocument
}

export function leaseNext(tx: Transaction, owner: string, options: LeaseOptions): readonly Lease[] {
  continueLowering(tx)
  takeBackExpired(tx)
  placeDue(tx)
  return giveLeases(tx, planLeases(tx, options), { owner, leaseMs: options.leaseMs })
}

interface Plan {
  readonly queue: Queue
  /** One for each request of this queue, in the order in which places were reserved. */
  readonly turns: Turn[]
}

interface Turn {
  readonly turn: number
  readonly hostDown: boolean
  readonly marks: Pick<Lease, 'unpaced' | 'silent'>
}

/** In rounds, one request a host, so that a host with many places does not take them all. Reserves as it goes. */
function planLeases(tx: Transaction, options: LeaseOptions): readonly Plan[] {
  const budgets = new Map(
    options.tasks.map((name) => {
      const task = taskOf(tx, name)
      return [task.id, leaseBudget(task.doc.counts, options.pageLimit)]
    }),
  )
  const plans = new Map<string, Plan>()
  const allowance = createAllowance(options)
  let turn = 0
  let round = options.max > 0 ? [...startable(tx, options), ...unpacedQueues(tx, options)] : []
  while (round.length > 0 && turn < options.max) {
    const next: Queue[] = []
    for (const queue of round) {
      const { task, doc } = queue
      const limits = limitsOf(task, doc.host)
      const state = hostState(tx, doc.host)
      const plan = plans.get(queue.key) ?? { queue, turns: [] }
      const budget = budgets.get(task.id) ?? 0
      if (turn >= options.max || budget <= 0 || plan.turns.length >= doc.ready) continue
      const is = { mayStart: mayStart(state, limits, tx.nowMs), isSilent: isSilent(state) }
      const giving = allowance.take(doc.host, is)
      if (giving === undefined) continue
      plan.turns.push({ turn: turn++, hostDown: isHostDown(state, tx.nowMs), marks: marksOf(giving) })
      plans.set(queue.key, plan)
      if (giving !== 'unpaced') setHost(tx, doc.host, reserve(state, limits, tx.nowMs))
      budgets.set(task.id, budget - 1)
      next.push(queue)
    }
    round = next
  }
  return [...plans.values()]
}

/** The host whose turn came first comes first. */
function startable(tx: Transaction, { tasks, max, pageLimit, maxSilent = max }: LeaseOptions): Queue[] {
  // Of these the lists do not say yet when they are due.
  const changed = new Set(touchedQueues(tx))
  const keys: string[] = [...changed]
  for (const name of tasks) {
    const task = taskOf(tx, name)
    if (leaseBudget(task.doc.counts, pageLimit) === 0) continue
    for (const silent of maxSilent > 0 ? [false, true] : [false]) {
      const n = Math.min(max, silent ? maxSilent : max, 1000) + 64 + changed.size
      const due = tx.head('queues', dueList(task.id, silent), { n, until: tx.nowMs })
      keys.push(...due.filter((key) => !changed.has(key)))
    }
  }
  const queues = queuesOf(tx, keys, tasks)
  return queues
    .filter(({ key, task, doc }) => {
      if (doc.ready === 0 || leaseBudget(task.doc.counts, pageLimit) === 0) return false
      const state = hostState(tx, doc.host)
      const opens = mayStart(state, limitsOf(task, doc.host), tx.nowMs)
      // What was due and cannot start after all, or stands among those of the other kind since an older version, gets its
      // due time reckoned anew.
      if (!opens || doc.q !== dueList(task.id, isSilent(state))) touchedOf(tx).queues.add(key)
      return opens
    })
    .toSorted((a, b) => turnAt(tx, a) - turnAt(tx, b) || a.doc.id - b.doc.id)
}

/** Queues that politeness keeps waiting, of hosts that may be given beside it. */
function unpacedQueues(tx: Transaction, { tasks, pageLimit, unpaced }: LeaseOptions): Queue[] {
  if (unpaced === undefined) return []
  const keys = tasks.flatMap((name) => [...unpaced.keys()].map((host) => queueKey(taskOf(tx, name).id, host)))
  return queuesOf(tx, keys, tasks)
    .filter(({ task, doc }) => {
      if (doc.ready === 0 || leaseBudget(task.doc.counts, pageLimit) === 0) return false
      return !mayStart(hostState(tx, doc.host), limitsOf(task, doc.host), tx.nowMs)
    })
    .toSorted((a, b) => tasks.indexOf(a.task.doc.name) - tasks.indexOf(b.task.doc.name) || a.doc.id - b.doc.id)
}

function queuesOf(tx: Transaction, keys: readonly string[], tasks: readonly string[]): Queue[] {
  tx.need('queues', keys)
  const wanted = new Set(tasks)
  const queues = keys.flatMap((key): Queue[] => {
    const doc = tx.get('queues', key)
    const task = doc === undefined ? undefined : taskById(tx, doc.t)
    return doc === undefined || task === undefined || !wanted.has(task.doc.name) ? [] : [{ key, task, doc }]
  })
  tx.need(
    'hosts',
    queues.map(({ doc }) => doc.host),
  )
  return queues
}

function turnAt(tx: Transaction, { doc }: Queue): number {
  return turnOf(hostState(tx, doc.host), tx.nowMs)
}

function giveLeases(
  tx: Transaction,
  plans: readonly Plan[],
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
): readonly Lease[] {
  if (plans.length === 0) return []
  const heads = headsOf(tx, plans)
  tx.need('requests', heads.flat())
  const token = ++editMeta(tx).lastToken
  const expiresAtMs = tx.nowMs + leaseMs
  const leases = plans.flatMap(({ queue, turns }, index) =>
    turns.map(({ turn, hostDown, marks }, at) => {
      const row = tx.get('requests', heads[index]?.[at] ?? '')
      if (row === undefined || row.q !== queue.key) {
        throw new Error(`Queue ${queue.key} counts ${queue.doc.ready} requests, found ${heads[index]?.length ?? 0}`)
      }
      const { unpaced } = marks
      const lease = { owner, token, atMs: tx.nowMs, ...(unpaced === undefined ? {} : { unpaced }) }
      setRow(tx, row, leased(row, lease, expiresAtMs))
      const held = { queue, token: `${owner}.${token}`, atMs: tx.nowMs, expiresAtMs }
      return { turn, lease: { ...leaseOf(row, held), hostDown, ...marks } }
    }),
  )
  return leases.toSorted((a, b) => a.turn - b.turn).map(({ lease }) => lease)
}

/** The first requests of each queue; what is not at hand of all of them is read in one go. */
function headsOf(tx: Transaction, plans: readonly Plan[]): string[][] {
  let stopped: unknown
  const heads = plans.map(({ queue, turns }) => {
    try {
      return tx.head('requests', queue.key, { n: turns.length })
    } catch (error) {
      stopped = error
      return []
    }
  })
  if (stopped !== undefined) throw stopped instanceof Error ? stopped : new Error(String(stopped))
  return heads
}

function leaseOf(
  row: RequestDocument,
  held: {
    readonly queue: Queue
    readonly token: string
    readonly atMs: number
    readonly expiresAtMs: number
  },
): Omit<Lease, keyof Turn> {
  const { queue, token, atMs, expiresAtMs } = held
  return {
    id: String(row.id),
    request: storedRequest(row, queue.task.doc.name),
    url: row.hop?.url ?? row.url,
    hostKey: queue.doc.host,
    hops: row.hop?.hops ?? [],
    attempt: row.tries + 1,
    token,
    leasedAtMs: atMs,
    expiresAtMs,
  }
}

/** The request of a lease, if the lease is still good. */
export function rowOfLease(tx: Transaction, lease: Lease): RequestDocument | undefined {
  const task = findTask(tx, lease.request.task)
  const row = task === undefined ? undefined : requestOf(tx, task.id, lease.request.fingerprint)
  if (row?.lease === undefined || String(row.id) !== lease.id) return undefined
  return `${row.lease.owner}.${row.lease.token}` === lease.token ? row : undefined
}

export function wantLeases(tx: Transaction, leases: readonly Lease[]): void {
  for (const { request, hostKey } of leases) {
    const task = findTask(tx, request.task)
    if (task === undefined) continue
    tx.want('requests', [requestKey(task.id, request.fingerprint)])
    tx.want('hosts', [hostKey])
    tx.want('queues', [queueKey(task.id, hostKey)])
  }
}

export function renewLeases(tx: Transaction, leases: readonly Lease[], leaseMs: number): boolean[] {
  return leases.map((lease) => {
    const row = rowOfLease(tx, lease)
    if (row?.lease === undefined) return false
    setRow(tx, row, leased(row, row.lease, tx.nowMs + leaseMs))
    return true
  })
}

export function moveNextTimes(tx: Transaction, leases: readonly Lease[]): void {
  for (const lease of leases) {
    const row = rowOfLease(tx, lease)
    const task = row === undefined ? undefined : taskById(tx, row.t)
    if (row === undefined || task === undefined) continue
    const host = hostNow(row)
    setHost(tx, host, startLate(hostState(tx, host), limitsOf(task, host), tx.nowMs))
  }
}

function takeBackExpired(tx: Transaction): void {
  for (const row of liveRows(tx, tx.head('requests', LEASED, { n: MAX_RETURNS, until: tx.nowMs }))) {
    takeBack(tx, row, { charged: true })
  }
}

/** The requests of these keys. What a slow process has left of a task that was cleared is swept away. */
export function liveRows(tx: Transaction, keys: readonly string[]): RequestDocument[] {
  tx.need('requests', keys)
  return keys.flatMap((key) => {
    const row = tx.get('requests', key)
    if (row === undefined) return []
    if (taskById(tx, row.t) !== undefined) return [row]
    tx.put('requests', key, undefined)
    return []
  })
}

/** Nobody knows whether it was sent: the place is free again, the host's next time stays. */
export function takeBack(tx: Transaction, row: RequestDocument, { charged }: { readonly charged: boolean }): void {
  freePlace(tx, row, { kind: 'troubled' })
  const tries = row.tries + (charged ? 1 : 0)
  setRow(tx, row, inQueue(tx, { ...row, tries }))
}

export function freePlace(tx: Transaction, row: RequestDocument, signal: HostSignal): void {
  const task = taskById(tx, row.t)
  if (task === undefined || row.lease === undefined || row.lease.unpaced === true) return
  const host = hostNow(row)
  const { nowMs, random } = tx
  const options = { leasedAtMs: row.lease.atMs, nowMs, limits: limitsOf(task, host), random }
  setHost(tx, host, settleHost(hostState(tx, host), signal, options))
}

function placeDue(tx: Transaction): void {
  const due = liveRows(tx, tx.head('requests', DELAYED, { n: MAX_RETURNS, until: tx.nowMs }))
  for (const row of due) setRow(tx, row, inQueue(tx, row))
}

/** What `waitForWork` waits for: that a call of `lease` would change something, or that there is nothing left. */
export function look(tx: Transaction, { tasks: names, pageLimit, maxSilent }: Scope, nowMs: number): Outlook {
  const tasks = names.map((name) => taskOf(tx, name))
  const left = metaOf(tx).lowering.length > 0
  if (!left && tasks.every((task) => isFinished(task.doc.counts, pageLimit))) return { kind: 'finished' }
  const instants = [tx.first('requests', DELAYED), tx.first('requests', LEASED)]
  for (const task of tasks) {
    if (leaseBudget(task.doc.counts, pageLimit) === 0) continue
    instants.push(tx.first('queues', dueList(task.id, false)))
    if (maxSilent !== 0) instants.push(tx.first('queues', dueList(task.id, true)))
  }
  const next = instants.reduce<number>((least, at) => Math.min(least, at ?? Infinity), Infinity)
  if (left || next <= nowMs) return { kind: 'ready' }
  return next === Infinity ? { kind: 'wait' } : { kind: 'wait', inMs: next - nowMs }
}
