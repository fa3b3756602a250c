/** One transaction over a draft: begun with the locks of its tasks, done anew when it was overtaken. */

import { createDraft, keyOf, loadByKeys, loadRoots } from './draft.ts'
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
  readonly head?: string
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
  { tasks, alone, head = '', build }: Change<T>,
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

export interface Insertion {
  readonly queue: QueueRef
  readonly fp: string
  readonly fields: Fields
}

/** Ids in the order in which the requests were met, rows in the order of their keys. */
const INSERT = `INSERT INTO @requests(id, queue_id, fp, state, depth, priority, url, reason, parent, alias_of, extra)
  SELECT (SELECT array_agg(nextval('@request_ids')) FROM generate_series(1, $2::int))[x.n],
    x.q, x.fp, x.state, x.depth, x.priority, x.url, x.reason, x.parent, x.alias, x.extra
  FROM json_to_recordset($1::json) AS x(n int, q int, fp text, state int, depth int, priority float8, url text,
    reason text, parent bigint, alias bigint, extra text)
  ON CONFLICT (queue_id, fp) DO NOTHING RETURNING id, queue_id, fp`

interface InsertedRow {
  readonly id: number
  readonly queue_id: number
  readonly fp: string
}

/**
 * Reads what is known and inserts what is not, so that every key is in the draft afterwards. In the order of keys, because
 * others may be inserting the same ones.
 */
export async function insertUnknown(draft: Draft, insertions: ReadonlyMap<string, Insertion>): Promise<void> {
  const wanted = [...insertions.values()]
  await loadByKeys(draft, wanted)
  const unknown = wanted.filter(({ queue, fp }) => !draft.byKey.has(keyOf(queue, fp)))
  if (unknown.length > 0) {
    const rows = unknown
      .map((insertion, index) => insertionRow(insertion, index + 1))
      .toSorted((a, b) => a.q - b.q || (a.fp < b.fp ? -1 : 1))
    const inserted = await draft.connection.rows<InsertedRow>(INSERT, JSON.stringify(rows), rows.length)
    for (const { id, queue_id: queueId, fp } of inserted) {
      const insertion = insertions.get(keyOf({ id: queueId }, fp))
      if (insertion !== undefined) keepNew(draft, { ...insertion, id })
    }
    // whatever another has inserted meanwhile
    await loadByKeys(draft, unknown)
  }
  await loadRoots(draft)
}

type InsertionRow = Readonly<Record<string, unknown>> & { readonly q: number; readonly fp: string }

function insertionRow({ queue, fp, fields }: Insertion, n: number): InsertionRow {
  const { state, depth, priority, url, reason, parent, aliasOf: alias, extra } = fields
  return { n, q: queue.id, fp, state, depth, priority, url, reason, parent, alias, extra }
}
