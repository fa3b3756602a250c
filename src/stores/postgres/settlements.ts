/** Settling leases of the PostgreSQL store: in batches, each one transaction. */

import type { SettleAnswer, Settlement } from '../../frontier/contract.ts'
import { skipOf } from '../../frontier/decide-add.ts'
import { discoveredNow } from '../../frontier/settlement.ts'
import { change, insertUnknown } from './change.ts'
import type { Insertion } from './change.ts'
import { keepRow, keyOf, taskOf } from './draft.ts'
import type { Draft, Entry } from './draft.ts'
import { newFields } from './known.ts'
import { passDepthsOn } from './lowering.ts'
import { ROW_COLUMNS, ROW_JOINS } from './rows.ts'
import type { Row } from './rows.ts'
import { ensureQueues, findTasks, queueOf } from './session.ts'
import type { QueueName, Session, Task } from './session.ts'
import { aliasOrigin, aliasRequest, settleOne } from './settle.ts'
import { tokenNumber } from './tokens.ts'

/** Requests and items of one transaction; a single settlement may hold more. */
const MAX_WEIGHT = 4000
const MAX_SETTLEMENTS = 256

/** Of a settlement whose lease may still be held. */
interface Candidate {
  readonly settlement: Settlement
  readonly task: Task
  readonly leaseId: number
  readonly token: number
}

export async function settle(session: Session, settlements: readonly Settlement[]): Promise<readonly SettleAnswer[]> {
  const answers: SettleAnswer[] = []
  for (const batch of batchesOf(settlements)) {
    for (const answer of await settleBatch(session, batch)) answers.push(answer)
  }
  return answers
}

function batchesOf(settlements: readonly Settlement[]): readonly (readonly Settlement[])[] {
  const batches: Settlement[][] = []
  let weight = Infinity
  for (const settlement of settlements) {
    const own = 1 + settlement.discovered.length + settlement.items.length
    const last = batches.at(-1)
    if (last === undefined || weight + own > MAX_WEIGHT || last.length >= MAX_SETTLEMENTS) {
      batches.push([settlement])
      weight = own
    } else {
      last.push(settlement)
      weight += own
    }
  }
  return batches
}

async function settleBatch(session: Session, batch: readonly Settlement[]): Promise<readonly SettleAnswer[]> {
  for (;;) {
    const tasks = await findTasks(
      session,
      batch.map(({ lease }) => lease.request.task),
    )
    const candidates = new Map<Settlement, Candidate>()
    for (const settlement of batch) {
      const task = tasks.get(settlement.lease.request.task)
      const token = tokenNumber(session, settlement.lease.token)
      if (task === undefined || token === undefined) continue
      candidates.set(settlement, { settlement, task, leaseId: Number(settlement.lease.id), token })
    }
    if (candidates.size === 0) return batch.map(() => 'lost')
    await ensureQueues(session, [...candidates.values()].flatMap(queuesIn))
    const used = [...new Set([...candidates.values()].map(({ task }) => task))]
    const changed = await settleCandidates(session, candidates, used)
    if (changed === undefined) continue
    if (changed.hasNearer) await passDepthsOn(session, used)
    return batch.map((settlement) => (changed.answer.has(settlement) ? 'settled' : 'lost'))
  }
}

function queuesIn({ settlement, task }: Candidate): QueueName[] {
  const { outcome, discovered } = settlement
  const hosts = new Set(discovered.map(({ hostKey }) => hostKey))
  if (outcome.kind === 'redirected') hosts.add(outcome.to.hostKey)
  return [...hosts].map((hostKey) => ({ taskId: task.id, hostKey }))
}

/** Answers those that were settled. */
function settleCandidates(
  session: Session,
  candidates: ReadonlyMap<Settlement, Candidate>,
  tasks: readonly Task[],
): ReturnType<typeof change<ReadonlySet<Settlement>>> {
  const ids = [...candidates.values()].map(({ leaseId }) => leaseId)
  return change(session, {
    tasks,
    head: `SELECT l.token, ${ROW_COLUMNS} FROM @leases l JOIN @requests r ON r.id = l.id ${ROW_JOINS}
      WHERE l.owner_id = ${session.ownerId} AND l.id IN (${ids.join(', ')}) ORDER BY l.id FOR UPDATE OF l`,
    build: async (draft, [leases]) => {
      const held = heldEntries(draft, candidates, (leases ?? []) as readonly LeaseRow[])
      await insertUnknown(draft, insertionsOf(draft, held))
      for (const [settlement, entry] of held) settleOne(draft, entry, settlement)
      return new Set(held.keys())
    },
  })
}

type LeaseRow = Row & { readonly token: number }

/** In the order of the settlements. The first of two with the same lease ends it. */
function heldEntries(
  draft: Draft,
  candidates: ReadonlyMap<Settlement, Candidate>,
  leases: readonly LeaseRow[],
): ReadonlyMap<Settlement, Entry> {
  const rows = new Map(leases.map((row) => [row.id, row]))
  const held = new Map<Settlement, Entry>()
  for (const { settlement, task, leaseId, token } of candidates.values()) {
    const row = rows.get(leaseId)
    if (row === undefined || row.token !== token || row.task_id !== task.id) continue
    rows.delete(leaseId)
    held.set(settlement, keepRow(draft, row, 'leased'))
  }
  return held
}

/** As each would be recorded if nobody knew it: the first of each key, in the order in which they are met. */
function insertionsOf(draft: Draft, held: ReadonlyMap<Settlement, Entry>): ReadonlyMap<string, Insertion> {
  const insertions = new Map<string, Insertion>()
  const note = (insertion: Insertion): void => {
    const key = keyOf(insertion.queue, insertion.fp)
    if (!insertions.has(key) && !draft.byKey.has(key)) insertions.set(key, insertion)
  }
  for (const [settlement, entry] of held) {
    const task = taskOf(draft, entry.queue)
    const { outcome } = settlement
    const queueAt = (hostKey: string): Insertion['queue'] => queueOf(draft.session, { taskId: task.id, hostKey })
    if (outcome.kind === 'redirected') {
      const { to } = outcome
      const fields = newFields(aliasRequest(entry, to, task.name), aliasOrigin(entry))
      note({ queue: queueAt(to.hostKey), fp: to.fingerprint, fields })
    }
    for (const request of discoveredNow(settlement, entry.now.depth)) {
      const fields = newFields(request, { skip: skipOf(request, task.settings.maxDepth), parent: entry.id })
      note({ queue: queueAt(request.hostKey), fp: request.fingerprint, fields })
    }
  }
  return insertions
}
