/** Goes through the requests of a task: after a change of its depth limit, and when settled ones are put back. */

import type { RequestFilter } from '../../frontier/contract.ts'
import { change } from './change.ts'
import { entryOf, loadByIds, taskOf } from './draft.ts'
import type { Draft, Entry } from './draft.ts'
import { revive } from './known.ts'
import { windowOf } from './records.ts'
import { DONE, FAILED, PENDING, SKIPPED } from './schema.ts'
import { currentTask, findTasks } from './session.ts'
import type { Session, Task } from './session.ts'

/** Requests of one transaction. */
const CHUNK = 500

/** Queues what is in reach now and refuses what is not any more. Goes on where a dead process has stopped. */
export async function siftTask(session: Session, { id, name }: Task): Promise<void> {
  const task = (await findTasks(session, [name])).get(name)
  if (task === undefined || task.id !== id || !task.sifting) return
  const settings = JSON.stringify(task.settings)
  const { maxDepth = Infinity } = task.settings
  await inChunks(session, { filter: { task: name, state: 'skipped', reason: 'depth' } }, (draft, entry) => {
    const { now } = entry
    if (now.state !== SKIPPED || now.reason !== 'depth' || now.depth > maxDepth) return false
    revive(entry)
    return true
  })
  if (maxDepth !== Infinity) {
    await inChunks(session, { filter: { task: name, state: 'pending' }, deeperThan: maxDepth }, (draft, entry) => {
      if (entry.now.state !== PENDING || entry.now.depth <= maxDepth) return false
      draft.sparing.add(entry)
      Object.assign(entry.now, { state: SKIPPED, reason: 'depth', where: undefined })
      return true
    })
  }
  // Not when the limit was changed once more meanwhile.
  await session.link.run((connection) =>
    connection.rows('UPDATE @tasks SET sifting = false WHERE id = $1 AND settings = $2 AND sifting', id, settings),
  )
  session.tasksByName.delete(name)
}

/** Puts settled requests back into the queue. Answers how many. */
export async function requeue(session: Session, filter: RequestFilter): Promise<number> {
  return inChunks(session, { filter }, (draft, entry) => {
    const { now } = entry
    const isSettled =
      now.state === DONE || now.state === FAILED || (now.state === SKIPPED && filter.state === 'skipped')
    const { maxDepth = Infinity } = taskOf(draft, entry.queue).settings
    if (!isSettled || now.aliasOf !== null || now.depth > maxDepth) return false
    revive(entry)
    return true
  })
}

interface Selection {
  readonly filter: RequestFilter
  readonly deeperThan?: number
}

/** Once through the rows of a selection, a chunk a transaction. Answers how many the step changed. */
async function inChunks(
  session: Session,
  { filter, deeperThan }: Selection,
  step: (draft: Draft, entry: Entry) => boolean,
): Promise<number> {
  const task = await currentTask(session, filter.task)
  let changed = 0
  let after = 0
  for (let last = false; !last;) {
    const window = await windowOf(session, task, {
      filter,
      after,
      max: CHUNK,
      ...(deeperThan === undefined ? {} : { deeperThan }),
    })
    after = window.upTo
    last = window.last
    const { ids } = window
    if (ids.length === 0) continue
    const done = await change(session, {
      tasks: [task],
      build: async (draft) => {
        await loadByIds(draft, ids)
        return ids.filter((id) => draft.entries.has(id) && step(draft, entryOf(draft, id))).length
      },
    })
    // cleared: nothing of it is left
    if (done === undefined) return changed
    changed += done.answer
  }
  return changed
}
