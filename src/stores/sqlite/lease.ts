/** Who comes next in the embedded store: leases given, renewed and taken back. */

import { createAllowance, marksOf } from '../../frontier/allowance.ts'
import { isFinished, leaseBudget } from '../../frontier/budget.ts'
import type { Lease, LeaseOptions } from '../../frontier/contract.ts'
import { dueOf, dueRange, isAmongSilent, placeOf, turnOf } from '../../frontier/order.ts'
import type { DueRange } from '../../frontier/order.ts'
import type { Outlook } from '../../frontier/wait-for-work.ts'
import type { HostSignal } from '../../politeness/contract.ts'
import { isHostDown, isSilent, mayStart, reserve, settleHost, startLate } from '../../politeness/host-state.ts'
import { continueLowering } from './add.ts'
import { enqueue, hopOf, ownQueue, requestOf } from './rows.ts'
import type { Row } from './rows.ts'
import { count, findQueue, queueById, queueOf, setHost, taskOf, touchedQueues, touchQueue } from './session.ts'
import type { Queue, Session } from './session.ts'

type Scope = Pick<LeaseOptions, 'tasks' | 'pageLimit' | 'maxSilent'>

/** How many expired leases, or retries that are due, one call deals with. */
const MAX_RETURNS = 1000

export function leaseNext(session: Session, options: LeaseOptions): readonly Lease[] {
  const nowMs = session.storeClock.nowMs()
  continueLowering(session)
  takeBackExpired(session, nowMs)
  placeDue(session, nowMs)
  return giveLeases(session, planLeases(session, options, nowMs), { leaseMs: options.leaseMs, nowMs })
}

interface Plan {
  readonly queue: Queue
  /** One for each request of this queue, in the order in which places were reserved. */
  readonly turns: Turn[]
}

type Marks = Pick<Lease, 'unpaced' | 'silent'>

interface Turn {
  readonly turn: number
  readonly hostDown: boolean
  readonly marks: Marks
}

/** In rounds, one request a host, so that a host with many places does not take them all. Reserves as it goes. */
function planLeases(session: Session, options: LeaseOptions, nowMs: number): readonly Plan[] {
  const budgets = new Map(
    options.tasks.map((name) => {
      const task = taskOf(session, name)
      return [task, leaseBudget(task.counts, options.pageLimit)]
    }),
  )
  const plans = new Map<Queue, Plan>()
  let turn = 0
  const allowance = createAllowance(options)
  let round = startable(session, options, nowMs)
  while (round.length > 0 && turn < options.max) {
    const next: Queue[] = []
    for (const queue of round) {
      const { host, limits, task } = queue
      const plan = plans.get(queue) ?? { queue, turns: [] }
      const budget = budgets.get(task) ?? 0
      if (turn >= options.max || budget <= 0 || plan.turns.length >= queue.ready) continue
      const is = { mayStart: mayStart(host.state, limits, nowMs), isSilent: isSilent(host.state) }
      const giving = allowance.take(host.key, is)
      if (giving === undefined) continue
      plan.turns.push({ turn: turn++, hostDown: isHostDown(host.state, nowMs), marks: marksOf(giving) })
      plans.set(queue, plan)
      if (giving !== 'unpaced') setHost(session, host, reserve(host.state, limits, nowMs))
      budgets.set(task, budget - 1)
      next.push(queue)
    }
    round = next
  }
  return [...plans.values()]
}

/** The host whose turn came first comes first. */
function startable(session: Session, options: LeaseOptions, nowMs: number): Queue[] {
  const { tasks, max, pageLimit, maxSilent = max } = options
  // Of these the file does not know yet when they are due.
  const changed = touchedQueues(session)
  const queues: Queue[] = []
  for (const name of tasks) {
    const task = taskOf(session, name)
    if (leaseBudget(task.counts, pageLimit) === 0) continue
    const spare = 64 + changed.size
    const due = dueQueues(session, task.id, { ...dueRange(false, nowMs), max: Math.min(max, 1000) + spare })
    const most = Math.min(max, maxSilent, 1000)
    if (most > 0) due.push(...dueQueues(session, task.id, { ...dueRange(true, nowMs), max: most + spare }))
    for (const queue of due) if (!changed.has(queue)) queues.push(queue)
    for (const queue of changed) if (queue.task === task && queue.ready > 0) queues.push(queue)
  }
  const open = queues
    .filter((queue) => {
      const opens = mayStart(queue.host.state, queue.limits, nowMs)
      // What was due and cannot start after all, or stands among those of the other kind since an older version, gets its
      // due time reckoned anew.
      if (!opens || isMisplaced(queue)) touchQueue(session, queue)
      return opens
    })
    .toSorted((a, b) => turnOf(a.host.state, nowMs) - turnOf(b.host.state, nowMs) || a.id - b.id)
  return options.unpaced === undefined ? open : [...open, ...unpacedQueues(session, options, new Set(open))]
}

function isMisplaced({ host, dueMs }: Queue): boolean {
  return dueMs !== null && isSilent(host.state) !== isAmongSilent(dueMs)
}

function dueQueues(
  session: Session,
  taskId: number,
  { fromMs, untilMs, max }: DueRange & { readonly max: number },
): Queue[] {
  const rows = session.sql.all<{ id: number }>(
    'SELECT id FROM queues WHERE task_id = ? AND due_ms >= ? AND due_ms <= ? ORDER BY due_ms, id LIMIT ?',
    taskId,
    fromMs,
    untilMs,
    max,
  )
  return rows.map(({ id }) => queueById(session, id)).filter((queue) => queue !== undefined)
}

/** Queues that politeness keeps waiting, of hosts that may be given beside it. */
function unpacedQueues(
  session: Session,
  { tasks, unpaced = new Map() }: LeaseOptions,
  open: ReadonlySet<Queue>,
): Queue[] {
  const queues: Queue[] = []
  for (const hostKey of unpaced.keys()) {
    for (const name of tasks) {
      const queue = findQueue(session, taskOf(session, name), hostKey)
      if (queue !== undefined && queue.ready > 0 && !open.has(queue)) queues.push(queue)
    }
  }
  return queues
}

type LeasedRow = [
  id: number,
  fp: string,
  depth: number,
  priority: number,
  url: string,
  attempt: number,
  extra: string | null,
  hop: string | null,
  queueId: number,
  visit: string | null,
]

function giveLeases(
  session: Session,
  plans: readonly Plan[],
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): readonly Lease[] {
  if (plans.length === 0) return []
  const token = ++session.memory.lastToken
  const expiresAtMs = nowMs + leaseMs
  const leases: { readonly turn: number; readonly lease: Lease }[] = []
  for (const { queue, turns } of plans) {
    const rows = takeHead(session, queue, { n: turns.length, token, nowMs, expiresAtMs })
    for (const [index, row] of rows.entries()) {
      const { turn = 0, hostDown = false, marks = {} } = turns[index] ?? {}
      leases.push({ turn, lease: leaseOf(session, row, { queue, token, nowMs, expiresAtMs, hostDown, marks }) })
    }
    const unpaced = rows.filter((_row, index) => turns[index]?.marks.unpaced === true).map(([id]) => id)
    if (unpaced.length > 0) noteUnpaced(session, unpaced)
  }
  session.memory.nextExpiryMs = Math.min(session.memory.nextExpiryMs, expiresAtMs)
  return leases.toSorted((a, b) => a.turn - b.turn).map(({ lease }) => lease)
}

/** `leases.leased_at` of a lease that holds neither place nor time of its host. */
const UNPACED = -1

function noteUnpaced({ sql }: Session, ids: readonly number[]): void {
  sql.run(`UPDATE leases SET leased_at = ${UNPACED} WHERE id IN (SELECT value FROM json_each(?))`, JSON.stringify(ids))
}

/** Moves the first n requests of a queue into `leases`; three statements, whatever n is. */
function takeHead(
  session: Session,
  queue: Queue,
  lease: { readonly n: number; readonly token: number; readonly nowMs: number; readonly expiresAtMs: number },
): readonly LeasedRow[] {
  const { sql } = session
  const { n, token, nowMs, expiresAtMs } = lease
  // One JSON text is read in a third of the time that rows take through the driver.
  const found = sql.one<{ rows: string }>(
    `SELECT json_group_array(json_array(id, fp, depth, priority, url, attempt, extra, hop, queue_id, visit)) AS rows FROM (
       SELECT r.id, r.fp, r.depth, r.priority, r.url, r.attempt, r.extra, r.hop, r.queue_id, r.visit
       FROM ready q CROSS JOIN requests r ON r.id = q.id
       WHERE q.queue_id = ? ORDER BY q.urgency, q.level, q.id LIMIT ?)`,
    queue.id,
    n,
  )
  const rows = JSON.parse(found?.rows ?? '[]') as LeasedRow[]
  sql.run(
    `INSERT INTO leases SELECT id, ?, ?, queue_id, ?, ? FROM ready
     WHERE queue_id = ? ORDER BY urgency, level, id LIMIT ?`,
    session.ownerId,
    token,
    nowMs,
    expiresAtMs,
    queue.id,
    n,
  )
  const [id = 0, , depth = 0, priority = 0] = rows.at(-1) ?? []
  const last = placeOf({ id, depth, priority }, queue.task.settings.order)
  sql.run(
    'DELETE FROM ready WHERE queue_id = ? AND (urgency, level, id) <= (?, ?, ?)',
    queue.id,
    0 - last.priority,
    last.level,
    last.id,
  )
  if (rows.length < n) throw new Error(`Queue ${queue.id} counts ${queue.ready} requests, found ${rows.length}`)
  queue.ready -= n
  touchQueue(session, queue)
  return rows
}

function leaseOf(
  session: Session,
  [id, fp, depth, priority, url, attempt, extra, hopJson, queueId, visit]: LeasedRow,
  held: {
    readonly queue: Queue
    readonly token: number
    readonly nowMs: number
    readonly expiresAtMs: number
    readonly hostDown: boolean
    readonly marks: Marks
  },
): Lease {
  const { queue, token, nowMs, expiresAtMs, hostDown, marks } = held
  const hop = hopOf({ hop: hopJson })
  count(session, queue.task, { state: 'pending', depth, by: -1 })
  count(session, queue.task, { state: 'leased', depth, by: 1 })
  const own = hop === undefined ? queue : ownQueue(session, { queue_id: queueId })
  return {
    id: String(id),
    request: requestOf({ url, fp, depth, priority, extra }, own),
    url: hop?.url ?? url,
    hostKey: queue.host.key,
    hops: hop?.hops ?? [],
    attempt: attempt + 1,
    token: `${session.ownerName}.${token}`,
    leasedAtMs: nowMs,
    expiresAtMs,
    hostDown,
    ...marks,
    ...(visit === null ? {} : { visit }),
  }
}

/** The number inside a token of this session; undefined when another session gave it. */
export function tokenNumber(session: Session, token: string): number | undefined {
  const dot = token.lastIndexOf('.')
  return token.slice(0, dot) === session.ownerName ? Number(token.slice(dot + 1)) : undefined
}

export function renewLeases(session: Session, leases: readonly Lease[], leaseMs: number): boolean[] {
  const expiresAtMs = session.storeClock.nowMs() + leaseMs
  return leases.map((lease) => {
    const token = tokenNumber(session, lease.token)
    if (token === undefined) return false
    const renewed = session.sql.run(
      'UPDATE leases SET expires_at = ? WHERE id = ? AND owner_id = ? AND token = ?',
      expiresAtMs,
      Number(lease.id),
      session.ownerId,
      token,
    )
    // A shorter lease than before must be seen to expire, too.
    session.memory.nextExpiryMs = Math.min(session.memory.nextExpiryMs, expiresAtMs)
    return renewed === 1
  })
}

export function moveNextTimes(session: Session, leases: readonly Lease[]): void {
  const nowMs = session.storeClock.nowMs()
  for (const lease of leases) {
    if (tokenNumber(session, lease.token) === undefined) continue
    const { host, limits } = queueOf(session, taskOf(session, lease.request.task), lease.hostKey)
    setHost(session, host, startLate(host.state, limits, nowMs))
  }
}

export interface LeaseRow {
  readonly id: number
  readonly queue_id: number
  readonly leased_at: number
}

function takeBackExpired(session: Session, nowMs: number): void {
  if (nowMs < session.memory.nextExpiryMs) return
  const { sql } = session
  const expired = sql.all<LeaseRow>(
    'SELECT id, queue_id, leased_at FROM leases WHERE expires_at <= ? LIMIT ?',
    nowMs,
    MAX_RETURNS,
  )
  for (const lease of expired) takeBack(session, lease, { charged: true })
  session.memory.nextExpiryMs =
    sql.one<{ at: number | null }>('SELECT min(expires_at) AS at FROM leases')?.at ?? Infinity
}

/** Nobody knows whether it was sent: the place is free again, the host's next time stays. */
export function takeBack(session: Session, lease: LeaseRow, { charged }: { readonly charged: boolean }): void {
  const { sql } = session
  sql.run('DELETE FROM leases WHERE id = ?', lease.id)
  const queue = queueById(session, lease.queue_id)
  if (queue === undefined) return
  endUnknown(session, queue, lease)
  const row = sql.one<Pick<Row, 'id' | 'depth' | 'priority'>>(
    'UPDATE requests SET attempt = attempt + ? WHERE id = ? RETURNING id, depth, priority',
    charged ? 1 : 0,
    lease.id,
  )
  if (row === undefined) return
  count(session, queue.task, { state: 'leased', depth: row.depth, by: -1 })
  count(session, queue.task, { state: 'pending', depth: row.depth, by: 1 })
  enqueue(session, queue, row)
}

/** Of a lease of which nobody knows how it went. */
export function endUnknown(session: Session, queue: Queue, lease: Pick<LeaseRow, 'leased_at'>): void {
  if (lease.leased_at === UNPACED) return
  freePlace(session, queue, { signal: { kind: 'troubled' }, leasedAtMs: lease.leased_at })
}

export function freePlace(
  session: Session,
  { host, limits }: Queue,
  { signal, leasedAtMs }: { readonly signal: HostSignal; readonly leasedAtMs: number },
): void {
  const { random } = session
  setHost(
    session,
    host,
    settleHost(host.state, signal, { leasedAtMs, nowMs: session.storeClock.nowMs(), limits, random }),
  )
}

function placeDue(session: Session, nowMs: number): void {
  const { sql } = session
  const due = sql.all<Pick<Row, 'id' | 'depth' | 'priority' | 'queue_id'>>(
    `SELECT r.id, r.depth, r.priority, ifnull(r.hop_queue, r.queue_id) AS queue_id
     FROM delayed d CROSS JOIN requests r ON r.id = d.id WHERE d.retry_at <= ? ORDER BY d.retry_at LIMIT ?`,
    nowMs,
    MAX_RETURNS,
  )
  for (const row of due) {
    sql.run('DELETE FROM delayed WHERE id = ?', row.id)
    const queue = queueById(session, row.queue_id)
    if (queue !== undefined) enqueue(session, queue, row)
  }
}

/** What `waitForWork` waits for: that a call of `lease` would change something, or that there is nothing left. */
export function look(session: Session, { tasks: names, pageLimit, maxSilent }: Scope): Outlook {
  const { sql } = session
  const nowMs = session.storeClock.nowMs()
  const tasks = names.map((name) => taskOf(session, name))
  const left = sql.one('SELECT 1 FROM lowering LIMIT 1') !== undefined
  if (!left && tasks.every((task) => isFinished(task.counts, pageLimit))) return { kind: 'finished' }
  const instants = [
    sql.one<{ at: number | null }>('SELECT min(retry_at) AS at FROM delayed')?.at,
    sql.one<{ at: number | null }>('SELECT min(expires_at) AS at FROM leases')?.at,
  ]
  for (const task of tasks) {
    if (leaseBudget(task.counts, pageLimit) === 0) continue
    instants.push(firstDue(session, task.id, false))
    if (maxSilent !== 0) instants.push(firstDue(session, task.id, true))
  }
  const next = instants.reduce<number>((least, at) => Math.min(least, at ?? Infinity), Infinity)
  if (left || next <= nowMs) return { kind: 'ready' }
  return next === Infinity ? { kind: 'wait' } : { kind: 'wait', inMs: next - nowMs }
}

function firstDue({ sql }: Session, taskId: number, silent: boolean): number {
  const { fromMs, untilMs } = dueRange(silent)
  const first = sql.one<{ at: number | null }>(
    'SELECT min(due_ms) AS at FROM queues WHERE task_id = ? AND due_ms >= ? AND due_ms <= ?',
    taskId,
    fromMs,
    untilMs,
  )
  return dueOf(first?.at ?? Infinity, silent)
}
