/** The hosts of a task, for those who look. */

import type { Frontier, HostRecord } from '../../frontier/contract.ts'
import type { HostState } from '../../politeness/contract.ts'
import { hostLimits, hostReport, initialHostState } from '../../politeness/host-state.ts'
import type { Session, Task } from './session.ts'

/** Queues that one question looks at: those of other tasks, and of hosts that nothing was queued of, are passed over. */
const WINDOW = 10_000

interface HostRow {
  readonly id: number
  readonly key: string
  readonly state: string
  readonly ready: number
}

export function hostsOf(
  { sql, storeClock }: Session,
  task: Task,
  { after, max }: { readonly after?: string; readonly max: number },
): Awaited<ReturnType<Frontier['hosts']>> {
  const from = Number(after ?? 0)
  const lastId = sql.one<{ id: number | null }>('SELECT max(id) AS id FROM queues')?.id ?? 0
  const upTo = from + WINDOW
  const rows = sql.all<HostRow>(
    `SELECT q.id, h.key, h.state, q.ready FROM queues q CROSS JOIN hosts h ON h.id = q.host_id
     WHERE q.id > ? AND q.id <= ? AND q.task_id = ? AND q.opened = 1 ORDER BY q.id LIMIT ?`,
    from,
    upTo,
    task.id,
    max,
  )
  const nowMs = storeClock.nowMs()
  const hosts = rows.map(({ key, state, ready }): HostRecord => {
    const known = { ...initialHostState(), ...(JSON.parse(state) as HostState) }
    return { hostKey: key, ready, ...hostReport(known, hostLimits(task.settings, key), nowMs) }
  })
  const next = rows.length === max ? (rows.at(-1)?.id ?? upTo) : upTo
  return next < lastId ? { hosts, next: String(next) } : { hosts }
}
