/** One transaction over a draft: begun with the locks of its tasks, done anew when it was overtaken. */

import type { Connection } from './connection.ts'
import { createDraft, loadByKeys, loadRoots } from './draft.ts'
import type { Draft, Fields } from './draft.ts'
import { flushDraft } from './flush.ts'
import { keepNew } from './known.ts'
import type { QueueRef, Session, Task } from './session.ts'
import { findTasks, TASK_RESULTS, taskHead, taskIn, tasksNow } from './session.ts'

export interface Change<T> {
  readonly tasks: readonly Task[]
  /** Nobody else may change requests of these tasks meanwhile. */
  readonly alone?: boolean
  /** Read and locked in the first round trip. */
  readonly head: string
  /** Changes the draft. May be called again with another one. `results` are those of `head`. */
  readonly build: (draft: Draft, results: readonly (readonly object[])[]) => Promise<T>
}

export interface Changed<T> {
  readonly answer: T
  /** Depths are to be passed on: see lowering.ts. */
  readonly hasNearer: boolean
}

/** Undefined: one of the tasks has been cleared, and nothing was done. */
export async function change<T>(
  session: Session,
  { tasks, alone, head, build }: Change<T>,
): Promise<Changed<T> | undefined> {
  const ids = tasks.map(({ id }) => id)
  const changed = await session.link.transact<Changed<T> | undefined>({
    head: `${taskHead(session, ids, { alone: alone === true })}; ${head}`,
    work: async (connection, results) => {
      const now = tasksNow(session, ids, results[TASK_RESULTS - 1])
      if (now === undefined) return { statements: [], tail: '', answer: undefined }
      const draft = createDraft(session, { connection, tasks: now })
      const answer = await build(draft, results.slice(TASK_RESULTS))
      return flushDraft(draft, { answer, hasNearer: draft.nearer.size > 0 })
    },
  })
  session.bell.ring()
  return changed
}

/** With tasks by name: found anew when one was cleared and opened again. Throws CONFIG_INVALID. */
export async function withTasks<T>(
  session: Session,
  names: readonly string[],
  run: (tasks: ReadonlyMap<string, Task>) => Promise<{ readonly answer: T } | undefined>,
): Promise<T> {
  for (;;) {
    const tasks = await findTasks(session, names)
    for (const name of names) taskIn(tasks, name, session.location)
    const done = await run(tasks)
    if (done !== undefined) return done.answer
  }
}

/** A script that gives ids in the order in which requests have come. */
export function idScript(n: number): string {
  return `SELECT nextval('@request_ids') AS id FROM generate_series(1, ${n})`
}

export function idsOf(rows: readonly object[] | undefined): number[] {
  return ((rows ?? []) as readonly { readonly id: number }[]).map(({ id }) => id)
}

export interface Insertion {
  readonly queue: QueueRef
  readonly fp: string
  readonly fields: Fields
}

const INSERT = `INSERT INTO @requests(id, queue_id, fp, state, depth, priority, url, reason, parent, alias_of, extra)
  SELECT x.id, x.q, x.fp, x.state, x.depth, x.priority, x.url, x.reason, x.parent, x.alias, x.extra
  FROM json_to_recordset($1::json) AS x(id bigint, q int, fp text, state int, depth int, priority float8, url text,
    reason text, parent bigint, alias bigint, extra text)
  ON CONFLICT (queue_id, fp) DO NOTHING RETURNING id`

/**
 * Inserts what is unknown and reads what is known, so that every key is in the draft afterwards. In the order of keys:
 * others may be inserting the same ones.
 */
export async function insertUnknown(
  draft: Draft,
  insertions: ReadonlyMap<string, Insertion>,
  ids: readonly number[],
): Promise<void> {
  const wanted = [...insertions.values()]
    .map((insertion, n) => ({ ...insertion, id: ids[n] ?? 0 }))
    .toSorted((a, b) => a.queue.id - b.queue.id || (a.fp < b.fp ? -1 : 1))
  if (wanted.length > 0) {
    const rows = wanted.map(({ id, queue, fp, fields }) => {
      const { state, depth, priority, url, reason, parent, aliasOf: alias, extra } = fields
      return { id, q: queue.id, fp, state, depth, priority, url, reason, parent, alias, extra }
    })
    const inserted = new Set(idsOf(await insertRows(draft.connection, rows)))
    for (const each of wanted) if (inserted.has(each.id)) keepNew(draft, each)
    await loadByKeys(draft, wanted)
  }
  await loadRoots(draft)
}

function insertRows(connection: Connection, rows: readonly object[]): Promise<object[]> {
  return connection.rows<object>(INSERT, JSON.stringify(rows))
}
