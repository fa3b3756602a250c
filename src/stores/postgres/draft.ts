/**
 * Requests as one transaction changes them: read once, changed in memory, written as differences (see flush.ts). So the
 * rules are plain code over objects, and a batch costs a handful of statements whatever it holds.
 */

import type { FailedAttempt } from '../../core/outcome.ts'
import type { CounterName } from '../../frontier/contract.ts'
import type { ItemDraft } from '../../items/contract.ts'
import type { HostSignal } from '../../politeness/contract.ts'
import type { Connection } from './connection.ts'
import type { Statement } from './link.ts'
import { ROW_COLUMNS, ROW_JOINS } from './rows.ts'
import type { Row } from './rows.ts'
import { PENDING } from './schema.ts'
import type { QueueRef, Session, Task } from './session.ts'

/** Where a pending request is; `somewhere` until the rows that tell it are locked. */
export type Where = 'ready' | 'leased' | 'delayed' | 'somewhere' | { readonly retryInMs: number }

export interface Fields {
  state: number
  depth: number
  priority: number
  url: string
  reason: string | null
  status: number | null
  parent: number | null
  aliasOf: number | null
  attempt: number
  extra: string | null
  hop: string | null
  /** Of the host that redirects have led to. */
  hopQueue: QueueRef | null
  itemCount: number
  /** Undefined unless pending. */
  where: Where | undefined
}

export interface Entry {
  readonly id: number
  readonly fp: string
  /** Of the host of its own URL. */
  readonly queue: QueueRef
  /** As it is in the table. */
  readonly before: Fields
  /** As it is to be. */
  readonly now: Fields
  /** Inserted by this transaction. */
  readonly isNew: boolean
  /** False: inserted ahead of the step that meets it; until then it is as if it were not there. */
  isMet: boolean
}

/** A place at a host that becomes free. */
interface Signal {
  readonly queue: QueueRef
  readonly signal: HostSignal
  readonly leasedAtMs: number
}

export interface Draft {
  readonly session: Session
  readonly connection: Connection
  readonly tasks: ReadonlyMap<number, Task>
  readonly entries: Map<number, Entry>
  readonly byKey: Map<string, Entry>
  readonly signals: Signal[]
  readonly counters: { readonly taskId: number; readonly name: CounterName; readonly by: number }[]
  readonly items: Map<Entry, readonly ItemDraft[]>
  /** Their older items go. */
  readonly dropped: Set<Entry>
  /** Changes of readable items that are known before they are written. */
  readonly revisions: Map<number, number>
  readonly attempts: { readonly entry: Entry; readonly attempt: FailedAttempt }[]
  readonly links: Map<Entry, { readonly ids: readonly number[]; readonly known: string }>
  /** Came nearer: what they lead to and the depth in their own items follow. */
  readonly nearer: Set<Entry>
  /** Depths that are passed on by this transaction. */
  readonly passed: { readonly task: number; readonly id: number; readonly depth: number }[]
  /** Written with the rest. */
  readonly also: Statement[]
  /** Stay as they are when they turn out to be leased. */
  readonly sparing: Set<Entry>
}

export function createDraft(
  session: Session,
  { connection, tasks }: { readonly connection: Connection; readonly tasks: ReadonlyMap<number, Task> },
): Draft {
  return {
    session,
    connection,
    tasks,
    entries: new Map(),
    byKey: new Map(),
    signals: [],
    counters: [],
    items: new Map(),
    dropped: new Set(),
    revisions: new Map(),
    attempts: [],
    links: new Map(),
    nearer: new Set(),
    passed: [],
    also: [],
    sparing: new Set(),
  }
}

export const keyOf = (queue: Pick<QueueRef, 'id'>, fp: string): string => `${queue.id} ${fp}`

export function entryOf(draft: Draft, id: number): Entry {
  const entry = draft.entries.get(id)
  if (entry === undefined) throw new Error(`Request ${id} is needed and was not read`)
  return entry
}

export function taskOf(draft: Draft, { taskId }: QueueRef): Task {
  const task = draft.tasks.get(taskId)
  if (task === undefined) throw new Error(`Task ${taskId} is not part of this transaction`)
  return task
}

/** The queue in which a request waits, or would. */
export function queueNow(entry: Entry, { hopQueue }: Pick<Fields, 'hopQueue'> = entry.now): QueueRef {
  return hopQueue ?? entry.queue
}

export function keepEntry(draft: Draft, entry: Entry): Entry {
  draft.entries.set(entry.id, entry)
  draft.byKey.set(keyOf(entry.queue, entry.fp), entry)
  return entry
}

/** A row that is in the table, unless it is in the draft already. `where`: of a pending one, when it is known. */
export function keepRow(draft: Draft, row: Row, where: Where = 'somewhere'): Entry {
  const known = draft.entries.get(row.id)
  if (known !== undefined) return known
  const { task_id: taskId } = row
  const hopQueue =
    row.hop_queue === null || row.hop_host === null ? null : { id: row.hop_queue, hostId: row.hop_host, taskId }
  const before: Fields = {
    state: row.state,
    depth: row.depth,
    priority: row.priority,
    url: row.url,
    reason: row.reason,
    status: row.status,
    parent: row.parent,
    aliasOf: row.alias_of,
    attempt: row.attempt,
    extra: row.extra,
    hop: row.hop,
    hopQueue,
    itemCount: row.item_count,
    where: row.state === PENDING ? where : undefined,
  }
  const queue = { id: row.queue_id, hostId: row.host_id, taskId }
  return keepEntry(draft, {
    id: row.id,
    fp: row.fp,
    queue,
    before,
    now: { ...before },
    isNew: false,
    isMet: true,
  })
}

const BY_IDS = `SELECT ${ROW_COLUMNS} FROM @requests r ${ROW_JOINS} WHERE r.id = ANY($1::bigint[])`
const BY_KEYS = `SELECT ${ROW_COLUMNS} FROM json_to_recordset($1::json) AS x(q int, f text)
  JOIN @requests r ON r.queue_id = x.q AND r.fp = x.f ${ROW_JOINS}`

export async function loadByIds(draft: Draft, ids: readonly number[], where?: Where): Promise<void> {
  const missing = ids.filter((id) => !draft.entries.has(id))
  if (missing.length === 0) return
  for (const row of await draft.connection.rows<Row>(BY_IDS, missing)) keepRow(draft, row, where)
}

/** Also whatever stands for them. */
export async function loadByKeys(
  draft: Draft,
  keys: readonly { readonly queue: QueueRef; readonly fp: string }[],
): Promise<void> {
  const missing = keys.filter(({ queue, fp }) => !draft.byKey.has(keyOf(queue, fp)))
  if (missing.length === 0) return
  const wanted = JSON.stringify(missing.map(({ queue, fp }) => ({ q: queue.id, f: fp })))
  for (const row of await draft.connection.rows<Row>(BY_KEYS, wanted)) keepRow(draft, row)
}

/** The requests that stand for those in the draft, over any number of steps. */
export async function loadRoots(draft: Draft): Promise<void> {
  for (;;) {
    const missing = new Set<number>()
    for (const { now } of draft.entries.values()) {
      if (now.aliasOf !== null && !draft.entries.has(now.aliasOf)) missing.add(now.aliasOf)
    }
    if (missing.size === 0) return
    await loadByIds(draft, [...missing])
    // a row that is not there would be asked for for ever
    for (const id of missing) entryOf(draft, id)
  }
}

/** The request that stands for this one: itself, or where redirects led from one to the other. */
export function rootOf(draft: Draft, entry: Entry): Entry {
  let root = entry
  while (root.now.aliasOf !== null) root = entryOf(draft, root.now.aliasOf)
  return root
}

/** What a look at a key finds: nothing before the step that meets a new row. */
export function metBy(draft: Draft, key: { readonly queue: QueueRef; readonly fp: string }): Entry | undefined {
  const entry = draft.byKey.get(keyOf(key.queue, key.fp))
  return entry?.isMet === true ? entry : undefined
}

export function bumpRevision(draft: Draft, taskId: number, by: number): void {
  draft.revisions.set(taskId, (draft.revisions.get(taskId) ?? 0) + by)
}
