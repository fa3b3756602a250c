/** Who comes next in the PostgreSQL store: leases given, renewed, and told to start late. */

import { createAllowance, marksOf } from '../../frontier/allowance.ts'
import { leaseBudget } from '../../frontier/budget.ts'
import type { Lease, LeaseOptions } from '../../frontier/contract.ts'
import { comesBefore, isAmongSilent, placeOf, turnOf } from '../../frontier/order.ts'
import type { QueuePlace } from '../../frontier/order.ts'
import { isHostDown, isSilent, mayStart, reserve, startLate } from '../../politeness/host-state.ts'
import { findCandidates } from './candidates.ts'
import type { Wanted } from './candidates.ts'
import { withTasks } from './change.ts'
import type { Connection } from './connection.ts'
import { countState, countStatements, newCounts } from './counts.ts'
import { heldHosts, HOST_RESULTS, hostScript, moveReady, setHost, unknownTasks, writeHosts } from './hosts.ts'
import type { HeldHosts, Queue } from './hosts.ts'
import type { Ending, Statement } from './link.ts'
import { lockScript } from './locks.ts'
import { TOTAL, UNPACED } from './schema.ts'
import { hopOf, requestOf, ROW_COLUMNS, ROW_JOINS } from './rows.ts'
import type { Row } from './rows.ts'
import { ensureQueues, findTasks, learnTasks, queueOf, TASK_RESULTS, taskHead, tasksNow } from './session.ts'
import type { Session, Task } from './session.ts'
import { tokenNumber, tokenOf } from './tokens.ts'
import { tidyUp } from './upkeep.ts'

/** Hosts that another holds just now are waited for only when there is nothing else; so many at once. */
const MAX_WAITED = 16
const MAX_LEASES = 500

export async function lease(session: Session, options: LeaseOptions): Promise<readonly Lease[]> {
  return withTasks(session, options.tasks, async (tasks) => {
    const wanted = { ...options, max: Math.min(options.max, MAX_LEASES), tasks: [...tasks.values()] }
    let seen = await findCandidates(session, wanted)
    // What is due may have to come back first: an expired lease, a retry, a depth to be passed on.
    if (await tidyUp(session, wanted.tasks, seen.due)) seen = await findCandidates(session, wanted)
    return leaseAt(session, wanted, seen.hostIds)
  })
}

interface Taken {
  readonly leases: readonly Lease[]
  /** Hosts that others hold just now. */
  readonly missed: readonly number[]
}

async function leaseAt(
  session: Session,
  wanted: Wanted,
  hostIds: readonly number[],
): Promise<{ readonly answer: readonly Lease[] } | undefined> {
  if (hostIds.length === 0 || wanted.max === 0) return { answer: [] }
  const first = await takeLeases(session, wanted, { hostIds, skipLocked: true })
  if (first === undefined || first.leases.length > 0 || first.missed.length === 0) {
    return first === undefined ? undefined : { answer: first.leases }
  }
  const second = await takeLeases(session, wanted, { hostIds: first.missed.slice(0, MAX_WAITED), skipLocked: false })
  return second === undefined ? undefined : { answer: second.leases }
}

interface HostChoice {
  readonly hostIds: readonly number[]
  readonly skipLocked: boolean
}

const TOTALS = (ids: readonly number[]): string =>
  `SELECT task_id, kind, sum(n)::float8 AS n FROM @counts WHERE task_id IN (${ids.join(', ')})
   AND kind IN ('pending', 'leased', 'done') AND depth = ${TOTAL} GROUP BY 1, 2`

/** One transaction of three round trips. Undefined: a task has been cleared. */
async function takeLeases(
  session: Session,
  wanted: Wanted,
  { hostIds, skipLocked }: HostChoice,
): Promise<Taken | undefined> {
  const ids = wanted.tasks.map(({ id }) => id)
  const { pageLimit } = wanted
  // Only leases add to what the limit counts; so one at a time is enough to keep it.
  const limit = lockScript(session.prefix, ids, { kind: 'limit', shared: false })
  return session.link.transact<Taken | undefined>({
    head: `${taskHead(session, ids)}; ${pageLimit === undefined ? '' : `${limit};`} ${hostScript(hostIds, { skipLocked })};
      ${pageLimit === undefined ? '' : TOTALS(ids)}`,
    work: async (connection, results) => {
      const tasks = tasksNow(session, ids, results[TASK_RESULTS - 1])
      if (tasks === undefined) return { statements: [], tail: '', answer: undefined }
      const found = results.slice(TASK_RESULTS + (pageLimit === undefined ? 0 : 1))
      await learnTasks(session, connection, unknownTasks(session, found))
      const held = heldHosts(session, found)
      const missed = hostIds.filter((id) => !held.hosts.has(id))
      const budgets = budgetsOf(tasks, found[HOST_RESULTS], pageLimit)
      const plans = planLeases(held, { ...wanted, tasks: ids }, budgets)
      return giveLeases(session, { connection, held, plans, missed, leaseMs: wanted.leaseMs })
    },
  })
}

function budgetsOf(
  tasks: ReadonlyMap<number, Task>,
  totals: readonly object[] | undefined,
  pageLimit: number | undefined,
): Map<number, number> {
  const budgets = new Map<number, number>()
  for (const id of tasks.keys()) {
    const counts = { pending: 0, leased: 0, done: 0 }
    for (const row of (totals ?? []) as readonly { task_id: number; kind: keyof typeof counts; n: number }[]) {
      if (row.task_id === id) counts[row.kind] = row.n
    }
    budgets.set(id, leaseBudget(counts, pageLimit))
  }
  return budgets
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

type Planning = Omit<Wanted, 'tasks'> & { readonly tasks: readonly number[] }

/** In rounds, one request a host, so that a host with many places does not take them all. Reserves as it goes. */
function planLeases(held: HeldHosts, options: Planning, budgets: Map<number, number>): readonly Plan[] {
  const { nowMs } = held
  const { max } = options
  const allowance = createAllowance(options)
  const plans = new Map<Queue, Plan>()
  let turn = 0
  let round = [...startable(held, budgets), ...unpacedQueues(held, options, budgets)]
  while (round.length > 0 && turn < max) {
    const next: Queue[] = []
    for (const queue of round) {
      const { host, limits, taskId } = queue
      const plan = plans.get(queue) ?? { queue, turns: [] }
      const budget = budgets.get(taskId) ?? 0
      if (turn >= max || budget <= 0 || plan.turns.length >= queue.ready) continue
      const is = { mayStart: mayStart(host.state, limits, nowMs), isSilent: isSilent(host.state) }
      const giving = allowance.take(host.key, is)
      if (giving === undefined) continue
      plan.turns.push({ turn: turn++, hostDown: isHostDown(host.state, nowMs), marks: marksOf(giving) })
      plans.set(queue, plan)
      if (giving !== 'unpaced') setHost(host, reserve(host.state, limits, nowMs))
      budgets.set(taskId, budget - 1)
      next.push(queue)
    }
    round = next
  }
  return [...plans.values()]
}

/** The host whose turn came first comes first. */
function startable({ queues, nowMs }: HeldHosts, budgets: ReadonlyMap<number, number>): Queue[] {
  return [...queues.values()]
    .filter((queue) => {
      if (queue.ready === 0 || !budgets.has(queue.taskId)) return false
      const opens = mayStart(queue.host.state, queue.limits, nowMs)
      // What was due and cannot start after all, or stands among those of the other kind since an older version, gets its
      // due time reckoned anew.
      if (!opens || isMisplaced(queue)) queue.isChanged = true
      return opens
    })
    .toSorted((a, b) => turnOf(a.host.state, nowMs) - turnOf(b.host.state, nowMs) || a.id - b.id)
}

function isMisplaced({ host, dueMs }: Queue): boolean {
  return dueMs !== null && isSilent(host.state) !== isAmongSilent(dueMs)
}

/** Queues that politeness keeps waiting, of hosts that may be given beside it. */
function unpacedQueues(
  { queues, nowMs }: HeldHosts,
  { tasks, unpaced }: Planning,
  budgets: ReadonlyMap<number, number>,
): Queue[] {
  if (unpaced === undefined) return []
  return [...queues.values()]
    .filter(({ host, limits, taskId, ready }) => {
      return ready > 0 && budgets.has(taskId) && unpaced.has(host.key) && !mayStart(host.state, limits, nowMs)
    })
    .toSorted((a, b) => tasks.indexOf(a.taskId) - tasks.indexOf(b.taskId) || a.id - b.id)
}

/** Moves the first requests of each queue into `leases`: one statement, whatever their number. */
const TAKE = `WITH head AS MATERIALIZED (
    SELECT p.q, d.urgency, d.level, d.id
    FROM json_to_recordset($1::json) AS p(q int, n int, u text, l int, i bigint) CROSS JOIN LATERAL (
      SELECT urgency, level, id FROM @ready WHERE queue_id = p.q AND (urgency, level, id) >= (p.u::float8, p.l, p.i)
      ORDER BY urgency, level, id LIMIT p.n) d),
  gone AS (DELETE FROM @ready r USING head
    WHERE r.queue_id = head.q AND r.urgency = head.urgency AND r.level = head.level AND r.id = head.id),
  held AS (INSERT INTO @leases SELECT id, $2::int, $3::bigint, q, $4::float8, $5::float8 FROM head)
  SELECT ${ROW_COLUMNS}, head.q AS from_queue, oh.key AS own_host FROM head JOIN @requests r ON r.id = head.id
  ${ROW_JOINS} JOIN @hosts oh ON oh.id = q.host_id`

type TakenRow = Row & { readonly from_queue: number; readonly own_host: string }

interface Giving {
  readonly connection: Connection
  readonly held: HeldHosts
  readonly plans: readonly Plan[]
  readonly missed: readonly number[]
  readonly leaseMs: number
}

async function giveLeases(session: Session, giving: Giving): Promise<Ending<Taken>> {
  const { connection, held, plans, missed, leaseMs } = giving
  if (plans.length === 0) return { statements: [], tail: writeHosts(held), answer: { leases: [], missed } }
  const token = ++session.lastToken
  const times = { leasedAtMs: held.nowMs, expiresAtMs: held.nowMs + leaseMs }
  const wanted = plans.map(({ queue, turns }) => {
    const { priority, level, id } = queue.head
    return { q: queue.id, n: turns.length, u: String(0 - priority), l: level, i: id }
  })
  const rows = await connection.rows<TakenRow>(
    TAKE,
    JSON.stringify(wanted),
    session.ownerId,
    token,
    times.leasedAtMs,
    times.expiresAtMs,
  )
  const counts = newCounts()
  const leases: { readonly turn: number; readonly lease: Lease }[] = []
  const unpaced: number[] = []
  for (const { queue, turns } of plans) {
    const own = inOrder(session, queue, rows)
    if (own.length < turns.length) {
      throw new Error(`Queue ${queue.id} counts ${queue.ready} requests, found ${own.length} of ${turns.length}`)
    }
    moveReady(queue, 0 - own.length)
    for (const row of own.slice(-1)) queue.head = placeIn(session, queue, row)
    for (const [index, row] of own.entries()) {
      const { turn = 0, hostDown = false, marks = {} } = turns[index] ?? {}
      if (marks.unpaced === true) unpaced.push(row.id)
      for (const [state, by] of [
        ['pending', -1],
        ['leased', 1],
      ] as const) {
        countState(counts, queue.taskId, { state, depth: row.depth, reason: null, by })
      }
      leases.push({
        turn,
        lease: { ...leaseOf(session, row, queue), ...times, token: tokenOf(session, token), hostDown, ...marks },
      })
    }
  }
  const inTurn = leases.toSorted((a, b) => a.turn - b.turn).map((each) => each.lease)
  return {
    statements: [...noteUnpaced(unpaced), ...countStatements(session, counts)],
    tail: writeHosts(held),
    answer: { leases: inTurn, missed },
  }
}

function noteUnpaced(ids: readonly number[]): Statement[] {
  return ids.length === 0 ? [] : [[`UPDATE @leases SET leased_at = ${UNPACED} WHERE id = ANY($1::bigint[])`, ids]]
}

/** Rows of this queue, in its order. */
function inOrder(session: Session, queue: Queue, rows: readonly TakenRow[]): readonly TakenRow[] {
  return rows
    .filter((row) => row.from_queue === queue.id)
    .map((row) => ({ row, place: placeIn(session, queue, row) }))
    .toSorted((a, b) => (comesBefore(a.place, b.place) ? -1 : 1))
    .map(({ row }) => row)
}

function placeIn({ tasksById }: Session, { taskId }: Queue, row: TakenRow): QueuePlace {
  return placeOf(row, tasksById.get(taskId)?.settings.order ?? 'bfs')
}

type OwnPart = Omit<Lease, 'leasedAtMs' | 'expiresAtMs' | 'token' | keyof Turn>

function leaseOf(session: Session, row: TakenRow, queue: Queue): OwnPart {
  const hop = hopOf(row)
  const task = session.tasksById.get(queue.taskId)?.name ?? ''
  return {
    id: String(row.id),
    request: requestOf(row, { task, hostKey: row.own_host }),
    url: hop?.url ?? row.url,
    hostKey: queue.host.key,
    hops: hop?.hops ?? [],
    attempt: row.attempt + 1,
  }
}

/** Rows that another transaction has locked are being settled, or taken back: those are not waited for. */
const RENEW = `WITH held AS (
    SELECT l.id FROM json_to_recordset($1::json) AS x(id bigint, token bigint)
    JOIN @leases l ON l.id = x.id AND l.token = x.token AND l.owner_id = $2::int ORDER BY l.id FOR UPDATE OF l SKIP LOCKED)
  UPDATE @leases l SET expires_at = (SELECT @now()) + $3::float8 FROM held WHERE l.id = held.id RETURNING l.id, l.token`

export async function renew(session: Session, leases: readonly Lease[], leaseMs: number): Promise<readonly boolean[]> {
  const own = ownLeases(session, leases)
  if (own.length === 0) return leases.map(() => false)
  // a worker that has stopped may hold all that the other connections wait for
  const rows = await session.link.run(
    (connection) =>
      connection.rows<{ readonly id: number; readonly token: number }>(
        RENEW,
        JSON.stringify(own),
        session.ownerId,
        leaseMs,
      ),
    { urgent: true },
  )
  const renewed = new Map(rows.map(({ id, token }) => [id, token]))
  return leases.map(({ id, token }) => {
    const number = tokenNumber(session, token)
    return number !== undefined && renewed.get(Number(id)) === number
  })
}

function ownLeases(session: Session, leases: readonly Lease[]): { readonly id: number; readonly token: number }[] {
  return leases.flatMap((each) => {
    const token = tokenNumber(session, each.token)
    return token === undefined ? [] : [{ id: Number(each.id), token }]
  })
}

/** These leases' hosts are asked only now. */
export async function moveNextTimes(session: Session, leases: readonly Lease[]): Promise<void> {
  const own = new Map(ownLeases(session, leases).map(({ id, token }) => [id, token]))
  const named = await findTasks(
    session,
    leases.map(({ request }) => request.task),
  )
  const late = leases.flatMap((each) => {
    const task = named.get(each.request.task)
    return task !== undefined && own.has(Number(each.id)) ? [{ each, task, hostKey: each.hostKey }] : []
  })
  if (late.length === 0) return
  const names = late.map(({ task, hostKey }) => ({ taskId: task.id, hostKey }))
  await ensureQueues(session, names)
  const queues = names.map((name) => queueOf(session, name))
  const ids = [...new Set(late.map(({ task }) => task.id))]
  await session.link.transact({
    head: `${taskHead(session, ids)};
      SELECT id, token FROM @leases WHERE owner_id = ${session.ownerId} AND id IN (${[...own.keys()].join(', ')});
      ${hostScript([...new Set(queues.map(({ hostId }) => hostId))])}`,
    work: async (connection, results) => {
      const nothing = { statements: [], tail: '', answer: undefined }
      if (tasksNow(session, ids, results[TASK_RESULTS - 1]) === undefined) return nothing
      const [leaseRows, ...hostRows] = results.slice(TASK_RESULTS)
      const tokens = new Map(
        (leaseRows as readonly { id: number; token: number }[]).map(({ id, token }) => [id, token]),
      )
      await learnTasks(session, connection, unknownTasks(session, hostRows))
      const held = heldHosts(session, hostRows)
      for (const [n, { each }] of late.entries()) {
        const queue = held.queues.get(queues[n]?.id ?? 0)
        if (queue === undefined || tokens.get(Number(each.id)) !== own.get(Number(each.id))) continue
        setHost(queue.host, startLate(queue.host.state, queue.limits, held.nowMs))
      }
      return { ...nothing, tail: writeHosts(held) }
    },
  })
}
