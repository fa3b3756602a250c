/** What whoever leases next does first: leases taken back, retries put into their queues, and work that a dead process left. */

import { change } from './change.ts'
import { entryOf, keepRow, loadByIds, queueNow } from './draft.ts'
import type { Draft, Entry } from './draft.ts'
import { passDepthsOn } from './lowering.ts'
import { ROW_COLUMNS, ROW_JOINS } from './rows.ts'
import type { Row } from './rows.ts'
import { UNPACED } from './schema.ts'
import type { Session, Task } from './session.ts'
import { learnTasks } from './session.ts'
import { putBack } from './settle.ts'
import { siftTask } from './sift.ts'

/** What is due; see `lease`. */
export interface DueWork {
  readonly expired: boolean
  readonly delayed: boolean
  readonly lowering: boolean
  readonly sifting: boolean
}

/** Requests of one transaction. */
const CHUNK = 500

/** Answers whether anything was done. */
export async function tidyUp(session: Session, tasks: readonly Task[], due: DueWork): Promise<boolean> {
  if (due.lowering) await passDepthsOn(session, tasks)
  if (due.sifting) for (const task of tasks) await siftTask(session, task)
  if (due.expired) await takeBack(session, 'l.expires_at <= (SELECT @now())', { charged: true })
  if (due.delayed) await placeDue(session)
  return due.lowering || due.sifting || due.expired || due.delayed
}

/** Takes leases back: nobody knows whether they were sent, so their places are free, their hosts' next times stay. */
export async function takeBack(
  session: Session,
  condition: string,
  { charged }: { readonly charged: boolean },
): Promise<void> {
  const found = `FROM @leases l JOIN @requests r ON r.id = l.id ${ROW_JOINS} WHERE ${condition}`
  for (;;) {
    const picked = await pickTasks(session, `SELECT l.id, q.task_id ${found} ORDER BY l.id LIMIT ${CHUNK}`)
    if (picked.ids.length === 0 || picked.tasks.length === 0) return
    const changed = await change(session, {
      tasks: picked.tasks,
      // One that another deals with is another's.
      head: `SELECT l.leased_at, ${ROW_COLUMNS} ${found} AND l.id IN (${picked.ids.join(', ')})
        ORDER BY l.id FOR UPDATE OF l SKIP LOCKED`,
      build: async (draft, [rows]) => {
        const leases = (rows ?? []) as readonly (Row & { readonly leased_at: number })[]
        for (const row of leases) {
          if (!draft.tasks.has(row.task_id)) continue
          const entry = keepRow(draft, row, 'leased')
          freePlace(draft, entry, row.leased_at)
          if (charged) entry.now.attempt++
          putBack(entry, 0)
        }
        return leases.length
      },
    })
    if (changed !== undefined && changed.answer < CHUNK) return
  }
}

/** Of a lease of which nobody knows how it went. */
export function freePlace(draft: Draft, entry: Entry, leasedAtMs: number): void {
  if (leasedAtMs === UNPACED) return
  draft.signals.push({ queue: queueNow(entry), signal: { kind: 'troubled' }, leasedAtMs })
}

/** Retries whose time has come. */
async function placeDue(session: Session): Promise<void> {
  const due = `SELECT d.id, q.task_id FROM @delayed d JOIN @requests r ON r.id = d.id ${ROW_JOINS}
    WHERE d.retry_at <= (SELECT @now()) ORDER BY d.retry_at LIMIT ${CHUNK}`
  for (;;) {
    const picked = await pickTasks(session, due)
    if (picked.ids.length === 0 || picked.tasks.length === 0) return
    const changed = await change(session, {
      tasks: picked.tasks,
      head: `SELECT id FROM @delayed WHERE id IN (${picked.ids.join(', ')}) AND retry_at <= (SELECT @now())`,
      build: async (draft, [rows]) => {
        const ids = ((rows ?? []) as readonly { readonly id: number }[]).map(({ id }) => id)
        await loadByIds(draft, ids, 'delayed')
        for (const id of ids) {
          const entry = entryOf(draft, id)
          if (draft.tasks.has(entry.queue.taskId)) entry.now.where = 'ready'
        }
        return ids.length
      },
    })
    if (changed !== undefined && picked.ids.length < CHUNK) return
  }
}

interface Picked {
  readonly ids: readonly number[]
  readonly tasks: readonly Task[]
}

/** Rows of requests and the tasks that they belong to, as far as these are there still. */
async function pickTasks(session: Session, sql: string): Promise<Picked> {
  return session.link.run(async (connection) => {
    const rows = await connection.rows<{ readonly id: number; readonly task_id: number }>(sql)
    const taskIds = [...new Set(rows.map((row) => row.task_id))]
    await learnTasks(
      session,
      connection,
      taskIds.filter((id) => !session.tasksById.has(id)),
    )
    const tasks = taskIds.flatMap((id) => session.tasksById.get(id) ?? [])
    const known = new Set(tasks.map(({ id }) => id))
    return { ids: rows.filter((row) => known.has(row.task_id)).map(({ id }) => id), tasks }
  })
}
