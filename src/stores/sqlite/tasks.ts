/** Tasks of the embedded store: opened, opened anew with other settings, put back, forgotten. */

import { CrawlError } from '../../core/errors.ts'
import type { RequestFilter, TaskSettings } from '../../frontier/contract.ts'
import { COUNTERS_AT_ZERO } from '../../frontier/counters.ts'
import { decideDepthChange } from '../../frontier/decide-add.ts'
import { revive } from './add.ts'
import { endUnknown } from './lease.ts'
import type { LeaseRow } from './lease.ts'
import { matchingRows } from './records.ts'
import { dequeue, highestId, queueNow, stateOf } from './rows.ts'
import type { Row } from './rows.ts'
import { ITEMS_OF_TASK, SKIPPED } from './schema.ts'
import { count, findTask, flush, forget, queueById, taskOf } from './session.ts'
import type { Session, Task } from './session.ts'
import type { WriteQueue } from './write-queue.ts'

interface Place {
  readonly session: Session
  readonly queue: WriteQueue
}

/** Rows that one transaction changes: a few ms. */
const CHUNK = 500

export async function openTask({ session, queue }: Place, settings: TaskSettings): Promise<void> {
  const before = await queue.write(() => createOrCheck(session, settings))
  if (before === undefined) return
  const { reviveUpTo, refuseBeyond } = decideDepthChange(before.maxDepth, settings.maxDepth)
  const { name: task } = settings
  if (reviveUpTo !== undefined) {
    await inChunks({ session, queue }, { task, state: 'skipped', reason: 'depth' }, (row) => {
      if (row.depth > reviveUpTo) return 0
      revive(session, row)
      return 1
    })
  }
  if (refuseBeyond !== undefined) {
    await inChunks({ session, queue }, { task, state: 'pending' }, (row) =>
      row.depth > refuseBeyond ? refuse(session, row) : 0,
    )
  }
  // Last, so that a crash in between finds the old settings and begins again.
  await queue.write(() => {
    replaceSettings(session, settings)
  })
}

/** Answers the settings so far, when there are any and they differ. */
function createOrCheck(session: Session, settings: TaskSettings): TaskSettings | undefined {
  const task = findTask(session, settings.name)
  if (task === undefined) {
    session.sql.run(
      'INSERT INTO tasks(name, settings, hosts, items, last_seq, revision, counters) VALUES (?, ?, 0, 0, 0, 0, ?)',
      settings.name,
      JSON.stringify(settings),
      JSON.stringify(COUNTERS_AT_ZERO),
    )
    return undefined
  }
  const { identity } = task.settings
  if (identity !== settings.identity) {
    const { location } = session
    const context = { location, what: 'rules of identity', expected: settings.identity, found: identity }
    throw new CrawlError('STORE_RULES_CHANGED', { context })
  }
  return JSON.stringify(task.settings) === JSON.stringify(settings) ? undefined : task.settings
}

function replaceSettings(session: Session, settings: TaskSettings): void {
  const task = taskOf(session, settings.name)
  if (task.settings.order !== settings.order) {
    session.sql.run(
      'UPDATE ready SET level = 0 - level WHERE queue_id IN (SELECT id FROM queues WHERE task_id = ?)',
      task.id,
    )
  }
  session.sql.run('UPDATE tasks SET settings = ? WHERE id = ?', JSON.stringify(settings), task.id)
  // Limits of hosts are derived from the settings and kept with the hot rows.
  flush(session)
  forget(session)
}

function refuse(session: Session, row: Row): number {
  const queue = queueNow(session, row)
  if (!dequeue(session, queue, row)) session.sql.run('DELETE FROM delayed WHERE id = ?', row.id)
  count(session, queue.task, { state: 'pending', depth: row.depth, by: -1 })
  count(session, queue.task, { state: 'skipped', depth: row.depth, by: 1, reason: 'depth' })
  session.sql.run(`UPDATE requests SET state = ${SKIPPED}, reason = 'depth' WHERE id = ?`, row.id)
  return 1
}

/** Goes through the rows of a filter once, a chunk a transaction. Answers how many the change counted. */
async function inChunks(
  { session, queue }: Place,
  filter: RequestFilter,
  change: (row: Row) => number,
): Promise<number> {
  let changed = 0
  let after = 0
  let last = false
  while (!last) {
    const step = await queue.write(() => {
      const window = matchingRows(session, filter, { after, max: CHUNK })
      let sum = 0
      for (const row of window.rows) sum += change(row)
      return { sum, window }
    })
    changed += step.sum
    after = step.window.upTo
    last = step.window.last
  }
  return changed
}

export async function requeue(place: Place, filter: RequestFilter): Promise<number> {
  const { session } = place
  return inChunks(place, filter, (row) => {
    const { task } = queueNow(session, row)
    const state = stateOf(session, row)
    const settled = state === 'done' || state === 'failed' || (state === 'skipped' && filter.state === 'skipped')
    if (!settled || row.alias_of !== null || row.depth > (task.settings.maxDepth ?? Infinity)) return 0
    revive(session, row)
    return 1
  })
}

export async function clearTask({ session, queue }: Place, name: string): Promise<void> {
  await queue.write(() => {
    const task = findTask(session, name)
    if (task !== undefined) disown(session, task)
  })
  await sweep({ session, queue })
}

/** From now on nobody sees the task; its rows are swept afterwards, also after a crash. */
function disown(session: Session, task: Task): void {
  const { sql } = session
  const leases = sql.all<LeaseRow>(
    'SELECT l.* FROM leases l JOIN queues q ON q.id = l.queue_id WHERE q.task_id = ?',
    task.id,
  )
  for (const lease of leases) {
    sql.run('DELETE FROM leases WHERE id = ?', lease.id)
    const queue = queueById(session, lease.queue_id)
    if (queue !== undefined) endUnknown(session, queue, lease)
  }
  flush(session)
  sql.run("INSERT OR REPLACE INTO meta VALUES ('last_request_id', ?)", highestId(session))
  sql.run('UPDATE tasks SET name = NULL WHERE id = ?', task.id)
  sql.run('UPDATE queues SET due_ms = NULL WHERE task_id = ?', task.id)
  const own = 'SELECT r.id FROM requests r JOIN queues q ON q.id = r.queue_id WHERE q.task_id = ?'
  for (const table of ['delayed', 'lowering']) sql.run(`DELETE FROM ${table} WHERE id IN (${own})`, task.id)
  forget(session)
}

/** Deletes the rows of tasks that were cleared. */
export async function sweep({ session, queue }: Place): Promise<void> {
  for (let more = true; more;) more = await queue.write(() => sweepSome(session))
}

/** Answers whether there is more to do. */
function sweepSome(session: Session): boolean {
  const { sql } = session
  const task = sql.one<{ id: number }>('SELECT id FROM tasks WHERE name IS NULL LIMIT 1')
  if (task === undefined) return false
  const from = task.id * ITEMS_OF_TASK
  const items = sql.run(
    'DELETE FROM items WHERE id IN (SELECT id FROM items WHERE id >= ? AND id < ? LIMIT ?)',
    from,
    from + ITEMS_OF_TASK,
    CHUNK,
  )
  if (items > 0) return true
  const queue = sql.one<{ id: number }>('SELECT id FROM queues WHERE task_id = ? LIMIT 1', task.id)
  if (queue === undefined) {
    sql.run('DELETE FROM counts WHERE task_id = ?', task.id)
    sql.run('DELETE FROM tasks WHERE id = ?', task.id)
    return true
  }
  const ids = sql.all<{ id: number }>('SELECT id FROM requests WHERE queue_id = ? LIMIT ?', queue.id, CHUNK)
  for (const { id } of ids) {
    sql.run('DELETE FROM attempts WHERE request_id = ?', id)
    sql.run('DELETE FROM links WHERE request_id = ?', id)
    sql.run('DELETE FROM graph_pages WHERE request_id = ?', id)
    sql.run('DELETE FROM replaced WHERE request_id = ?', id)
    sql.run('DELETE FROM requests WHERE id = ?', id)
  }
  if (ids.length > 0) return true
  const urls = sql.run(
    'DELETE FROM graph_urls WHERE id IN (SELECT id FROM graph_urls WHERE queue_id = ? LIMIT ?)',
    queue.id,
    CHUNK,
  )
  if (urls > 0) return true
  sql.run('DELETE FROM ready WHERE queue_id = ?', queue.id)
  sql.run('DELETE FROM queues WHERE id = ?', queue.id)
  return true
}
