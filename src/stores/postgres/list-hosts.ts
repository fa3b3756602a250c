/** The hosts of a task, for those who look. */

import type { Frontier } from '../../frontier/contract.ts'
import { hostLimits, hostReport } from '../../politeness/host-state.ts'
import { type HostRow, stateOf } from './hosts.ts'
import { currentTask } from './session.ts'
import type { Session } from './session.ts'

/** Queues that one statement looks at: hosts that nothing was queued of are passed over. */
const WINDOW = 10_000

type ListedRow = HostRow & {
  readonly queue_id: number
  readonly ready: number
  readonly opened: boolean
  readonly now: number
}

const HOSTS = `SELECT h.*, q.id AS queue_id, q.ready, q.opened, (SELECT @now()) AS now FROM (
  SELECT id, host_id, ready, opened FROM @queues WHERE task_id = $1::int AND id > $2::int ORDER BY id LIMIT $3::int) q
  JOIN @hosts h ON h.id = q.host_id ORDER BY q.id`

export async function listHosts(
  session: Session,
  name: string,
  { after, max }: { readonly after?: string; readonly max: number },
): ReturnType<Frontier['hosts']> {
  const task = await currentTask(session, name)
  const size = Math.min(WINDOW, max)
  const rows = await session.link.run((connection) =>
    connection.rows<ListedRow>(HOSTS, task.id, Number(after ?? 0), size),
  )
  const hosts = rows
    .filter(({ opened }) => opened)
    .map((row) => ({
      hostKey: row.key,
      ready: row.ready,
      ...hostReport(stateOf(row), hostLimits(task.settings, row.key), row.now),
    }))
  const last = rows.at(-1)
  return rows.length === size && last !== undefined ? { hosts, next: String(last.queue_id) } : { hosts }
}
