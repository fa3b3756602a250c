/** What a draft does to items: new ones at the end of their task's list, older ones replaced or changed in place. */

import { itemJson, withDepth } from '../../items/item-json.ts'
import { addTo } from './counts.ts'
import type { Counts } from './counts.ts'
import { bumpRevision } from './draft.ts'
import type { Draft } from './draft.ts'
import type { Statement } from './link.ts'

const DROP_ITEMS = 'DELETE FROM @items WHERE request_id = ANY($1::bigint[])'
const OLD_PAGES = 'SELECT task_id, seq, json, request_id FROM @items WHERE request_id = ANY($1::bigint[]) AND is_page'
const CHANGE_ITEMS = `UPDATE @items i SET json = x.json
  FROM json_to_recordset($1::json) AS x(task int, seq bigint, json text) WHERE i.task_id = x.task AND i.seq = x.seq`
const REVISE = 'UPDATE @places SET revision = revision + $2::int WHERE task_id = $1::int'
/** The row of the task is held until the commit: so whoever reads an item finds all those before it. */
const ADD_ITEMS = `WITH place AS (UPDATE @places SET last_seq = last_seq + $2::int WHERE task_id = $1::int
    RETURNING last_seq - $2::int AS before)
  INSERT INTO @items(task_id, seq, request_id, json, is_page)
  SELECT $1::int, place.before + x.n, x.id, x.json, x.page
  FROM place, json_to_recordset($3::json) AS x(n int, id bigint, json text, page bool)`

export async function itemStatements(draft: Draft, counts: Counts): Promise<Statement[]> {
  const statements: Statement[] = []
  if (draft.dropped.size > 0) {
    statements.push([DROP_ITEMS, [...draft.dropped].map(({ id }) => id)])
    for (const { before, queue } of draft.dropped) {
      addTo(counts, { taskId: queue.taskId, kind: 'items', by: 0 - before.itemCount })
    }
  }
  const moved = await movedPages(draft)
  if (moved.length > 0) statements.push([CHANGE_ITEMS, JSON.stringify(moved)])
  for (const taskId of [...draft.tasks.keys()].toSorted((a, b) => a - b)) {
    const revised = draft.revisions.get(taskId) ?? 0
    if (revised > 0) statements.push([REVISE, taskId, revised])
    const rows = newItems(draft, taskId)
    if (rows.length === 0) continue
    statements.push([ADD_ITEMS, taskId, rows.length, JSON.stringify(rows)])
    addTo(counts, { taskId, kind: 'items', by: rows.length })
  }
  return statements
}

function newItems(draft: Draft, taskId: number): object[] {
  const rows: object[] = []
  for (const [{ id, queue, now }, items] of draft.items) {
    if (queue.taskId !== taskId) continue
    for (const item of items) {
      rows.push({ n: rows.length + 1, id, json: itemJson(item, now.depth), page: item.isPage === true })
    }
  }
  return rows
}

/** Records of pages, readable already, whose requests have come nearer. */
async function movedPages(draft: Draft): Promise<object[]> {
  const ids = [...draft.nearer]
    .filter((entry) => entry.before.itemCount > 0 && !draft.dropped.has(entry))
    .map(({ id }) => id)
  if (ids.length === 0) return []
  const pages = await draft.connection.rows<{ task_id: number; seq: number; json: string; request_id: number }>(
    OLD_PAGES,
    ids,
  )
  return pages.map(({ task_id: task, seq, json, request_id: id }) => {
    bumpRevision(draft, task, 1)
    return { task, seq, json: withDepth(json, draft.entries.get(id)?.now.depth ?? 0) }
  })
}
