/** Adding requests to the PostgreSQL store. */

import type { StoredRequest } from '../../core/request.ts'
import type { AddAnswer } from '../../frontier/contract.ts'
import { skipOf } from '../../frontier/decide-add.ts'
import { change, insertUnknown, withTasks } from './change.ts'
import type { Insertion } from './change.ts'
import { keyOf, taskOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { addRequest, newFields } from './known.ts'
import type { Addition } from './known.ts'
import { passDepthsOn } from './lowering.ts'
import { ensureQueues, queueOf } from './session.ts'
import type { Session, Task } from './session.ts'

/** Requests of one transaction. */
const CHUNK = 1000

export async function addRequests(session: Session, requests: readonly StoredRequest[]): Promise<readonly AddAnswer[]> {
  const answers: AddAnswer[] = []
  for (let from = 0; from < requests.length; from += CHUNK) {
    const chunk = requests.slice(from, from + CHUNK)
    const names = [...new Set(chunk.map(({ task }) => task))]
    const added = await withTasks(session, names, (tasks) => addChunk(session, chunk, tasks))
    for (const answer of added) answers.push(answer)
  }
  return answers
}

async function addChunk(
  session: Session,
  chunk: readonly StoredRequest[],
  tasks: ReadonlyMap<string, Task>,
): Promise<{ readonly answer: readonly AddAnswer[] } | undefined> {
  const named = chunk.map((request) => ({
    request,
    name: { taskId: tasks.get(request.task)?.id ?? 0, hostKey: request.hostKey },
  }))
  await ensureQueues(
    session,
    named.map(({ name }) => name),
  )
  const additions = named.map(({ request, name }): Addition => ({
    request,
    queue: queueOf(session, name),
    parent: null,
  }))
  const changed = await change(session, {
    tasks: [...tasks.values()],
    build: async (draft) => {
      await insertUnknown(draft, insertionsOf(draft, additions))
      return additions.map((addition) => addRequest(draft, addition))
    },
  })
  if (changed?.hasNearer === true) await passDepthsOn(session, [...tasks.values()])
  return changed
}

/** As each would be recorded if nobody knew it: the first of each key. */
function insertionsOf(draft: Draft, additions: readonly Addition[]): ReadonlyMap<string, Insertion> {
  const insertions = new Map<string, Insertion>()
  for (const { request, queue, parent } of additions) {
    const key = keyOf(queue, request.fingerprint)
    if (insertions.has(key)) continue
    const { maxDepth } = taskOf(draft, queue).settings
    const fields = newFields(request, { skip: skipOf(request, maxDepth), parent })
    insertions.set(key, { queue, fp: request.fingerprint, fields })
  }
  return insertions
}
