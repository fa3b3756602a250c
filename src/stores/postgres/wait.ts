/** Waiting for work without polling: the server tells when something has changed, here or on another machine. */

import type { Clock } from '../../core/clock.ts'
import { isFinished, leaseBudget } from '../../frontier/budget.ts'
import type { Frontier, LeaseOptions } from '../../frontier/contract.ts'
import { dueOf, dueRange } from '../../frontier/order.ts'
import type { Outlook } from '../../frontier/wait-for-work.ts'
import type { SharedBell } from './bell.ts'
import { TOTAL } from './schema.ts'
import { findTasks, taskIn } from './session.ts'
import type { Session } from './session.ts'

/** Nobody waits longer than this without looking: a lost wake-up costs a second, not the crawl. */
const LONGEST_WAIT_MS = 1000
const ABORT_GRACE_MS = 1000
type Scope = Omit<LeaseOptions, 'max' | 'leaseMs'>

interface OutlookRow {
  readonly now: number
  readonly retry_at: number | null
  readonly expires_at: number | null
  readonly left: boolean
  readonly id: number | null
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly due_at: number | null
  readonly silent_at: number | null
}

function firstDue(silent: boolean): string {
  const { fromMs, untilMs } = dueRange(silent)
  return `(SELECT q.due_ms FROM @queues q WHERE q.task_id = t.id AND q.due_ms BETWEEN ${fromMs} AND ${untilMs}
    ORDER BY q.due_ms LIMIT 1)`
}

/** One statement, so that all of it is true at one instant. */
const LOOK = `SELECT n.now, (SELECT retry_at FROM @delayed ORDER BY retry_at LIMIT 1) AS retry_at,
  (SELECT expires_at FROM @leases ORDER BY expires_at LIMIT 1) AS expires_at,
  EXISTS (SELECT 1 FROM @lowering w WHERE w.task_id = ANY($1::int[]))
    OR EXISTS (SELECT 1 FROM @tasks s WHERE s.id = ANY($1::int[]) AND s.sifting) AS left,
  t.id, c.pending, c.leased, c.done,
  ${firstDue(false)} AS due_at, ${firstDue(true)} AS silent_at
  FROM (SELECT @now() AS now OFFSET 0) n
  CROSS JOIN (SELECT id FROM @tasks WHERE id = ANY($1::int[]) AND name IS NOT NULL) t
  CROSS JOIN LATERAL (SELECT
    coalesce(sum(n) FILTER (WHERE kind = 'pending'), 0)::float8 AS pending,
    coalesce(sum(n) FILTER (WHERE kind = 'leased'), 0)::float8 AS leased,
    coalesce(sum(n) FILTER (WHERE kind = 'done'), 0)::float8 AS done
    FROM @counts k WHERE k.task_id = t.id AND k.kind IN ('pending', 'leased', 'done') AND k.depth = ${TOTAL}) c`

/** What `waitForWork` waits for: that a call of `lease` would change something, or that there is nothing left. */
async function look(session: Session, { tasks: names, pageLimit, maxSilent }: Scope): Promise<Outlook> {
  for (;;) {
    const tasks = await findTasks(session, names)
    const ids = names.map((name) => taskIn(tasks, name, session.location).id)
    const rows = await session.link.run((connection) => connection.rows<OutlookRow>(LOOK, ids))
    if (rows.length < new Set(ids).size) {
      // one was cleared: by its name there may be another
      for (const name of names) session.tasksByName.delete(name)
      continue
    }
    const [first] = rows
    if (first === undefined) return { kind: 'finished' }
    if (!first.left && rows.every((row) => isFinished(row, pageLimit))) return { kind: 'finished' }
    const open = rows.filter((row) => leaseBudget(row, pageLimit) > 0)
    const instants = [first.retry_at, first.expires_at, ...open.map((row) => row.due_at)]
    if (maxSilent !== 0) instants.push(...open.map((row) => dueOf(row.silent_at ?? Infinity, true)))
    const next = instants.reduce<number>((least, at) => Math.min(least, at ?? Infinity), Infinity)
    if (first.left || next <= first.now) return { kind: 'ready' }
    return next === Infinity ? { kind: 'wait' } : { kind: 'wait', inMs: next - first.now }
  }
}

export interface WaitPlace {
  readonly session: Session
  readonly bell: SharedBell
  /** Whether somebody's death has made work. */
  readonly buryDead: () => Promise<boolean>
}

export async function waitForWork(
  place: WaitPlace,
  scope: Scope,
  signal: AbortSignal,
): ReturnType<Frontier['waitForWork']> {
  const { session, bell, buryDead } = place
  for (;;) {
    if (signal.aborted) return 'aborted'
    const { rings } = bell
    const outlook = await unlessAborted(look(session, scope), session.clock, signal)
    if (outlook === 'aborted') return 'aborted'
    if (outlook.kind !== 'wait') return outlook.kind
    if (await buryDead()) return 'ready'
    // Something has changed since the look: it may be what is waited for.
    if (bell.rings !== rings) continue
    await bell.next(Math.max(1, Math.ceil(Math.min(outlook.inMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS))), signal)
  }
}

/** A look that is under way when the signal aborts may end, unless the server is out of reach. */
async function unlessAborted<T>(looking: Promise<T>, clock: Clock, signal: AbortSignal): Promise<T | 'aborted'> {
  const ended = new AbortController()
  let onAbort: (() => void) | undefined
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => void clock.sleep(ABORT_GRACE_MS, ended.signal).then(() => resolve('aborted'))
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([looking, aborted])
  } finally {
    ended.abort()
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
    // nobody hears of it any more
    looking.catch(() => undefined)
  }
}
