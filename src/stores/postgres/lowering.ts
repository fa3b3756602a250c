/** Passes depths on: what a page that came nearer leads to comes nearer, too. See invariant 8 of the frontier. */

import { change } from './change.ts'
import { entryOf, loadByIds, loadRoots, rootOf } from './draft.ts'
import { setPlace } from './known.ts'
import { lockScript } from './locks.ts'
import type { Session, Task } from './session.ts'

/** Requests of one transaction; what they lead to is left to the next. */
const CHUNK = 500

interface Lowering {
  readonly id: number
  readonly depth: number
}

/** Until nothing is left. A process that dies between two steps leaves the rest to whoever leases next. */
export async function passDepthsOn(session: Session, tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) {
    for (let more = true; more;) more = await passSome(session, task)
  }
}

/** One level of one task. */
async function passSome(session: Session, task: Task): Promise<boolean> {
  const lock = lockScript(session.prefix, [task.id], { kind: 'lowering', shared: false })
  const changed = await change(session, {
    tasks: [task],
    head: `${lock}; SELECT id, depth FROM @lowering WHERE task_id = ${task.id} ORDER BY depth, id LIMIT ${CHUNK}`,
    build: async (draft, [, rows]) => {
      const lowerings = (rows ?? []) as readonly Lowering[]
      if (lowerings.length === 0) return false
      await loadByIds(
        draft,
        lowerings.map(({ id }) => id),
      )
      await loadRoots(draft)
      for (const { id, depth } of lowerings) {
        if (!draft.entries.has(id)) continue
        const root = rootOf(draft, entryOf(draft, id))
        if (depth < root.now.depth) setPlace(draft, root, { depth, priority: root.now.priority })
      }
      draft.passed.push(...lowerings.map(({ id, depth }) => ({ task: task.id, id, depth })))
      return true
    },
  })
  return changed?.answer === true
}
