/** Hosts that a lease of the PostgreSQL store may be of, and what is due before; nothing is locked yet. */

import type { LeaseOptions } from '../../frontier/contract.ts'
import { dueOf, dueRange } from '../../frontier/order.ts'
import type { Connection } from './connection.ts'
import type { Session, Task } from './session.ts'
import type { DueWork } from './upkeep.ts'

/** More hosts than leases are looked at: some cannot start after all. */
const SPARE_HOSTS = 16

export interface Wanted extends Omit<LeaseOptions, 'tasks'> {
  readonly tasks: readonly Task[]
}

const DUE_WORK = `SELECT EXISTS (SELECT 1 FROM @leases WHERE expires_at <= t.now) AS expired,
  EXISTS (SELECT 1 FROM @delayed WHERE retry_at <= t.now) AS delayed,
  EXISTS (SELECT 1 FROM @lowering WHERE task_id = ANY($1::int[])) AS lowering,
  EXISTS (SELECT 1 FROM @tasks WHERE id = ANY($1::int[]) AND sifting) AS sifting
  FROM (SELECT @now() AS now OFFSET 0) t`

function dueHosts(silent: boolean): string {
  const { fromMs, untilMs } = dueRange(silent, 0)
  return `SELECT q.host_id AS id, q.due_ms AS due FROM unnest($1::int[]) AS t(id) CROSS JOIN LATERAL (
    SELECT host_id, due_ms, id FROM @queues
    WHERE task_id = t.id AND due_ms >= ${fromMs} AND due_ms <= (SELECT @now()) + ${untilMs}
    ORDER BY due_ms, id LIMIT $2) q ORDER BY q.due_ms, q.id LIMIT $2`
}
const DUE = dueHosts(false)
const DUE_SILENT = dueHosts(true)

/** Hosts that may be given beside politeness, and have something waiting. */
const BESIDE = `SELECT DISTINCT h.id FROM @hosts h JOIN @queues q ON q.host_id = h.id
  WHERE h.key = ANY($2::text[]) AND q.task_id = ANY($1::int[]) AND q.ready > 0`

interface HostDue {
  readonly id: number
  readonly due: number
}

/** What follows looks again. */
export async function findCandidates(
  { link }: Session,
  wanted: Wanted,
): Promise<{ readonly due: DueWork; readonly hostIds: readonly number[] }> {
  const { tasks, max, unpaced } = wanted
  const ids = tasks.map(({ id }) => id)
  const silent = Math.min(max, wanted.maxSilent ?? max)
  return link.run(async (connection) => {
    const [[due], answering, quiet, beside] = await Promise.all([
      connection.rows<DueWork>(DUE_WORK, ids),
      connection.rows<HostDue>(DUE, ids, max + SPARE_HOSTS),
      silent > 0 ? connection.rows<HostDue>(DUE_SILENT, ids, silent + SPARE_HOSTS) : [],
      unpaced === undefined ? [] : besideOf(connection, ids, [...unpaced.keys()]),
    ])
    if (due === undefined) throw new Error('Expected one row of due work, found none')
    // no more are locked than may be of use: those whose turn comes first
    const hosts = [...answering, ...quiet.map((host) => ({ id: host.id, due: dueOf(host.due, true) }))]
      .toSorted((a, b) => a.due - b.due)
      .slice(0, max + 2 * SPARE_HOSTS)
    return { due, hostIds: [...new Set([...hosts, ...beside].map(({ id }) => id))] }
  })
}

function besideOf(
  connection: Connection,
  ids: readonly number[],
  keys: readonly string[],
): Promise<readonly { readonly id: number }[]> {
  return connection.rows(BESIDE, ids, keys)
}
