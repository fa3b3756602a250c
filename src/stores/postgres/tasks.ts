/** Tasks of the PostgreSQL store: opened, opened anew with other settings, forgotten. */

import { CrawlError } from '../../core/errors.ts'
import type { TaskSettings } from '../../frontier/contract.ts'
import { change } from './change.ts'
import type { Connection } from './connection.ts'
import { keepRow } from './draft.ts'
import type { Statement } from './link.ts'
import { ROW_COLUMNS, ROW_JOINS } from './rows.ts'
import type { Row } from './rows.ts'
import { findTasks, forgetTask, TASK_RESULTS, taskHead, tasksNow } from './session.ts'
import type { Session, Task } from './session.ts'
import { siftTask } from './sift.ts'
import { freePlace } from './upkeep.ts'

const CREATE = `WITH made AS (INSERT INTO @tasks(name, settings) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id)
  INSERT INTO @places(task_id) SELECT id FROM made`

/** Throws STORE_RULES_CHANGED. */
export async function openTask(session: Session, settings: TaskSettings): Promise<void> {
  const { name } = settings
  for (;;) {
    session.tasksByName.delete(name)
    const task = (await findTasks(session, [name])).get(name)
    if (task === undefined) {
      await session.link.run((connection) => connection.rows(CREATE, name, JSON.stringify(settings)))
      continue
    }
    checkIdentity(session, task, settings)
    if (!(await replaceSettings(session, task, settings))) continue
    const opened = (await findTasks(session, [name])).get(name)
    if (opened?.sifting === true) await siftTask(session, opened)
    session.bell.ring()
    return
  }
}

function checkIdentity({ location }: Session, { settings: { identity } }: Task, settings: TaskSettings): void {
  if (identity === settings.identity) return
  const context = { location, what: 'rules of identity', expected: settings.identity, found: identity }
  throw new CrawlError('STORE_RULES_CHANGED', { context })
}

const REPLACE = 'UPDATE @tasks SET settings = $2, sifting = sifting OR $3 WHERE id = $1'
const TURN_ROUND = `UPDATE @ready r SET level = 0 - r.level FROM @queues q WHERE q.task_id = $1 AND r.queue_id = q.id`
const FORGET_HEADS = `UPDATE @queues SET head_urgency = '-Infinity', head_level = 0, head_id = 0 WHERE task_id = $1`

/** From now on the new limits hold for whatever comes; what is there already is sifted. False: the task was cleared. */
async function replaceSettings(
  session: Session,
  { id, settings: old }: Task,
  settings: TaskSettings,
): Promise<boolean> {
  const text = JSON.stringify(settings)
  if (JSON.stringify(old) === text) return true
  return session.link.transact<boolean>({
    head: taskHead(session, [id], { alone: true }),
    work: async (_, results) => {
      const before = tasksNow(session, [id], results[TASK_RESULTS - 1])?.get(id)
      if (before === undefined) return { statements: [], tail: '', answer: false }
      const statements: Statement[] = [[REPLACE, id, text, before.settings.maxDepth !== settings.maxDepth]]
      if (before.settings.order !== settings.order) statements.push([TURN_ROUND, id], [FORGET_HEADS, id])
      // read again with what this transaction has made of it
      forgetTask(session, before)
      return { statements, tail: '', answer: true }
    },
  })
}

/** From now on nobody sees the task; its rows are swept afterwards, also after a crash. */
export async function clearTask(session: Session, name: string): Promise<void> {
  session.tasksByName.delete(name)
  const task = (await findTasks(session, [name])).get(name)
  if (task === undefined) return
  await disown(session, task)
  forgetTask(session, task)
  await sweep(session)
}

async function disown(session: Session, task: Task): Promise<void> {
  const { id } = task
  await change(session, {
    tasks: [task],
    alone: true,
    head: `SELECT l.leased_at, ${ROW_COLUMNS} FROM @leases l JOIN @requests r ON r.id = l.id ${ROW_JOINS}
      WHERE q.task_id = ${id} ORDER BY l.id FOR UPDATE OF l`,
    build: async (draft, [rows]) => {
      for (const row of (rows ?? []) as readonly (Row & { readonly leased_at: number })[]) {
        const entry = keepRow(draft, row, 'leased')
        freePlace(draft, entry, row.leased_at)
        entry.now.where = 'ready'
      }
      draft.also.push(
        ['UPDATE @tasks SET name = NULL WHERE id = $1', id],
        [
          `DELETE FROM @delayed d USING @requests r, @queues q WHERE d.id = r.id AND q.id = r.queue_id AND q.task_id = $1`,
          id,
        ],
        ['DELETE FROM @lowering WHERE task_id = $1', id],
      )
    },
  })
}

/** Rows that one transaction deletes. */
const CHUNK = 1000

/** Deletes the rows of tasks that were cleared. */
export async function sweep(session: Session): Promise<void> {
  for (let more = true; more;) more = await session.link.run(sweepSome)
}

const PICK = 'SELECT r.id FROM @requests r WHERE r.queue_id = $1 LIMIT $2::int'

/** Answers whether there is more to do. Each step may be done twice. */
async function sweepSome(connection: Connection): Promise<boolean> {
  const [task] = await connection.rows<{ readonly id: number }>('SELECT id FROM @tasks WHERE name IS NULL LIMIT 1')
  if (task === undefined) return false
  const items = await connection.rows(
    `DELETE FROM @items WHERE task_id = $1 AND seq IN (
       SELECT seq FROM @items WHERE task_id = $1 ORDER BY seq LIMIT $2::int) RETURNING 1`,
    task.id,
    CHUNK,
  )
  if (items.length > 0) return true
  const [queue] = await connection.rows<{ readonly id: number }>(
    'SELECT id FROM @queues WHERE task_id = $1 LIMIT 1',
    task.id,
  )
  if (queue === undefined) {
    await connection.rows('DELETE FROM @counts WHERE task_id = $1', task.id)
    await connection.rows('DELETE FROM @places WHERE task_id = $1', task.id)
    await connection.rows('DELETE FROM @tasks WHERE id = $1', task.id)
    return true
  }
  const ids = (await connection.rows<{ readonly id: number }>(PICK, queue.id, CHUNK)).map(({ id }) => id)
  if (ids.length === 0) {
    await connection.rows('DELETE FROM @ready WHERE queue_id = $1', queue.id)
    await connection.rows('DELETE FROM @queues WHERE id = $1', queue.id)
    return true
  }
  for (const table of ['attempts', 'links']) {
    await connection.rows(`DELETE FROM @${table} WHERE request_id = ANY($1::bigint[])`, ids)
  }
  // The request last: it is how the others are found.
  for (const table of ['failed', 'delayed', 'leases', 'requests']) {
    await connection.rows(`DELETE FROM @${table} WHERE id = ANY($1::bigint[])`, ids)
  }
  return true
}
