/** Counts of a task: sums over slots, so that owners add to them without waiting for each other. */

import type { RequestState } from '../../core/request.ts'
import type { Statement } from './link.ts'
import { SLOTS, TOTAL } from './schema.ts'
import type { Session } from './session.ts'

export type Counts = Map<string, { readonly taskId: number; readonly kind: string; readonly depth: number; n: number }>

export function addTo(
  counts: Counts,
  { taskId, kind, depth = TOTAL, by }: { taskId: number; kind: string; depth?: number; by: number },
): void {
  const key = `${taskId} ${kind} ${depth}`
  const count = counts.get(key) ?? { taskId, kind, depth, n: 0 }
  count.n += by
  counts.set(key, count)
}

/** The one place where the states of requests are counted. */
export function countState(
  counts: Counts,
  taskId: number,
  what: { readonly state: RequestState; readonly depth: number; readonly reason: string | null; readonly by: number },
): void {
  const { state, depth, reason, by } = what
  addTo(counts, { taskId, kind: state, depth, by })
  addTo(counts, { taskId, kind: state, by })
  if (state === 'skipped') addTo(counts, { taskId, kind: `skipped:${reason ?? ''}`, by })
}

const ADD_COUNTS = `INSERT INTO @counts AS c(task_id, kind, depth, slot, n)
  SELECT x."taskId", x.kind, x.depth, $2::int, x.n
  FROM json_to_recordset($1::json) AS x("taskId" int, kind text, depth int, n bigint)
  ORDER BY x."taskId", x.kind COLLATE "C", x.depth ON CONFLICT (task_id, kind, depth, slot) DO UPDATE SET n = c.n + excluded.n`

/** Last in every transaction, because others wait for these rows. */
export function countStatements({ ownerId }: Session, counts: Counts): Statement[] {
  const rows = [...counts.values()].filter(({ n }) => n !== 0)
  return rows.length === 0 ? [] : [[ADD_COUNTS, JSON.stringify(rows), ownerId % SLOTS]]
}

export const newCounts = (): Counts => new Map()
