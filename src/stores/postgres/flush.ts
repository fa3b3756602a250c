/** Ends a draft: locks what it changes, sees that this is as it was read, and writes the differences. */

import { placeOf } from '../../frontier/order.ts'
import type { QueuePlace } from '../../frontier/order.ts'
import { settleHost } from '../../politeness/host-state.ts'
import { addTo, countState, countStatements, newCounts } from './counts.ts'
import type { Counts } from './counts.ts'
import { queueNow, taskOf } from './draft.ts'
import type { Draft, Entry, Fields } from './draft.ts'
import { itemStatements } from './item-writes.ts'
import { heldHosts, HOST_RESULTS, hostScript, moveReady, setHost, unknownTasks, writeHosts } from './hosts.ts'
import type { HeldHosts } from './hosts.ts'
import type { Ending, Statement } from './link.ts'
import { stateName } from './rows.ts'
import { FAILED, PENDING } from './schema.ts'
import { learnTasks } from './session.ts'

const CHECKED = ['state', 'depth', 'priority', 'reason', 'alias_of', 'hop_queue', 'attempt', 'item_count'] as const
type CheckedRow = Readonly<Record<(typeof CHECKED)[number], string | number | null>> & { readonly id: number }

/** Undefined: a row has changed since it was read; everything is to be done anew. `answer` is what the caller answers. */
export async function flushDraft<T>(draft: Draft, answer: T): Promise<Ending<T> | undefined> {
  const changed = [...draft.entries.values()].filter(isChanged)
  const held = await lock(draft, changed)
  if (held === undefined) return undefined
  const counts = newCounts()
  const statements: Statement[] = []
  for (const { queue, signal, leasedAtMs } of draft.signals) {
    const { host, limits } = heldQueue(held, queue.id)
    const { random } = draft.session
    setHost(host, settleHost(host.state, signal, { leasedAtMs, nowMs: held.nowMs, limits, random }))
  }
  statements.push(...requestStatements(changed), ...placeStatements(draft, held, { changed, counts }))
  statements.push(...logStatements(draft, held.nowMs), ...(await itemStatements(draft, counts)))
  for (const { taskId, name, by } of draft.counters) addTo(counts, { taskId, kind: `counter:${name}`, by })
  statements.push(...countStatements(draft.session, counts), ...draft.also)
  return { statements, tail: writeHosts(held), answer }
}

function isChanged({ before, now, isNew }: Entry): boolean {
  return isNew || (Object.keys(before) as (keyof Fields)[]).some((key) => before[key] !== now[key])
}

/** Rows first, then hosts, each in the order of ids: so no two transactions wait for each other in a circle. */
async function lock(draft: Draft, changed: readonly Entry[]): Promise<HeldHosts | undefined> {
  const old = changed.filter(({ isNew }) => !isNew)
  const ids = idList(old.map(({ id }) => id))
  const unsure = idList(old.filter(({ before }) => before.where !== undefined).map(({ id }) => id))
  const hostIds = new Set(draft.signals.map(({ queue }) => queue.hostId))
  for (const entry of changed) {
    if (entry.before.state === PENDING) hostIds.add(queueNow(entry, entry.before).hostId)
    if (entry.now.state === PENDING) hostIds.add(queueNow(entry).hostId)
  }
  const results = await draft.connection.script(
    `SELECT id, ${CHECKED.join(', ')} FROM @requests WHERE id IN (${ids}) ORDER BY id FOR NO KEY UPDATE;
     ${hostScript([...hostIds])};
     SELECT id FROM @leases WHERE id IN (${unsure}); SELECT id FROM @delayed WHERE id IN (${unsure})`,
  )
  const [rows = [], ...more] = results
  if (!areAsRead(draft, old, rows as readonly CheckedRow[])) return undefined
  const [leased = [], delayed = []] = more.slice(HOST_RESULTS) as readonly (readonly { readonly id: number }[])[]
  const found = { leased: new Set(leased.map(({ id }) => id)), delayed: new Set(delayed.map(({ id }) => id)) }
  if (!locate(draft, old, found)) return undefined
  await learnTasks(draft.session, draft.connection, unknownTasks(draft.session, more))
  return heldHosts(draft.session, more)
}

function idList(ids: readonly number[]): string {
  return ids.length === 0 ? 'NULL' : ids.join(', ')
}

function areAsRead(draft: Draft, old: readonly Entry[], rows: readonly CheckedRow[]): boolean {
  if (rows.length !== old.length) return false
  return rows.every((row) => {
    const entry = draft.entries.get(row.id)
    if (entry === undefined) return false
    const { state, depth, priority, reason, aliasOf, hopQueue, attempt, itemCount } = entry.before
    const read = [state, depth, priority, reason, aliasOf, hopQueue?.id ?? null, attempt, itemCount]
    return CHECKED.every((name, n) => row[name] === read[n])
  })
}

interface Found {
  readonly leased: ReadonlySet<number>
  readonly delayed: ReadonlySet<number>
}

/** Now that the rows and their hosts are locked, where they wait is known. False: not where a step took them to be. */
function locate(draft: Draft, entries: readonly Entry[], { leased, delayed }: Found): boolean {
  for (const entry of entries) {
    const { id, before, now } = entry
    if (before.where === undefined) continue
    const where = leased.has(id) ? 'leased' : delayed.has(id) ? 'delayed' : 'ready'
    if (before.where !== 'somewhere' && before.where !== where) return false
    before.where = where
    if (now.where === 'somewhere') now.where = where
    if (where === 'leased' && draft.sparing.has(entry)) Object.assign(now, before)
  }
  return true
}

function heldQueue({ queues }: HeldHosts, id: number): ReturnType<HeldHosts['queues']['get']> & object {
  const queue = queues.get(id)
  if (queue === undefined) throw new Error(`Queue ${id} is needed and was not locked`)
  return queue
}

const ENDINGS = `UPDATE @requests r SET state = x.state, depth = x.depth, priority = x.priority, reason = x.reason,
  status = x.status, attempt = x.attempt, item_count = x.items
  FROM json_to_recordset($1::json) AS x(id bigint, state int, depth int, priority float8, reason text, status int,
    attempt int, items int) WHERE r.id = x.id`
const WHOLES = `UPDATE @requests r SET state = x.state, depth = x.depth, priority = x.priority, reason = x.reason,
  status = x.status, attempt = x.attempt, item_count = x.items, url = x.url, parent = x.parent, alias_of = x.alias,
  extra = x.extra, hop = x.hop, hop_queue = x.hop_queue
  FROM json_to_recordset($1::json) AS x(id bigint, state int, depth int, priority float8, reason text, status int,
    attempt int, items int, url text, parent bigint, alias bigint, extra text, hop text, hop_queue int)
  WHERE r.id = x.id`
const ADD_FAILED = 'INSERT INTO @failed SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING'
const DROP_FAILED = 'DELETE FROM @failed WHERE id = ANY($1::bigint[])'

/** Most settlements leave the wide columns alone. */
const WIDE = ['url', 'parent', 'aliasOf', 'extra', 'hop', 'hopQueue'] as const

function requestStatements(changed: readonly Entry[]): Statement[] {
  const endings: object[] = []
  const wholes: object[] = []
  for (const { id, before, now } of changed) {
    const { state, depth, priority, reason, status, attempt, itemCount: items } = now
    const narrow = { id, state, depth, priority, reason, status, attempt, items }
    if (WIDE.some((key) => before[key] !== now[key])) {
      const { url, parent, aliasOf: alias, extra, hop, hopQueue } = now
      wholes.push({ ...narrow, url, parent, alias, extra, hop, hop_queue: hopQueue?.id ?? null })
    } else if (NARROW.some((key) => before[key] !== now[key])) endings.push(narrow)
  }
  const failed = changed.filter(({ before, now }) => now.state === FAILED && before.state !== FAILED)
  const mended = changed.filter(({ before, now }) => now.state !== FAILED && before.state === FAILED)
  const statements: Statement[] = []
  if (endings.length > 0) statements.push([ENDINGS, JSON.stringify(endings)])
  if (wholes.length > 0) statements.push([WHOLES, JSON.stringify(wholes)])
  if (failed.length > 0) statements.push([ADD_FAILED, failed.map(({ id }) => id)])
  if (mended.length > 0) statements.push([DROP_FAILED, mended.map(({ id }) => id)])
  return statements
}

const NARROW = ['state', 'depth', 'priority', 'reason', 'status', 'attempt', 'itemCount'] as const

const PLACES = 'json_to_recordset($1::json) AS x(q int, u float8, l int, id bigint)'
const ADD_READY = `INSERT INTO @ready SELECT x.q, x.u, x.l, x.id FROM ${PLACES}`
const DROP_READY = `DELETE FROM @ready d USING ${PLACES}
  WHERE d.queue_id = x.q AND d.urgency = x.u AND d.level = x.l AND d.id = x.id`
const DROP_LEASES = 'DELETE FROM @leases WHERE id = ANY($1::bigint[])'
const DROP_DELAYED = 'DELETE FROM @delayed WHERE id = ANY($1::bigint[])'
const ADD_DELAYED = `INSERT INTO @delayed SELECT x.id, x.at FROM json_to_recordset($1::json) AS x(id bigint, at float8)`

interface Standing {
  readonly queueId: number
  readonly place: QueuePlace
}

/** Moves requests between queue, delay and lease, and counts them. */
function placeStatements(
  draft: Draft,
  held: HeldHosts,
  { changed, counts }: { readonly changed: readonly Entry[]; readonly counts: Counts },
): Statement[] {
  const dropReady: object[] = []
  const addReady: object[] = []
  for (const entry of changed) {
    const { before, now, isNew, queue } = entry
    if (!isNew) countEntry(counts, queue.taskId, { fields: before, by: -1 })
    countEntry(counts, queue.taskId, { fields: now, by: 1 })
    const from = isNew ? undefined : standingOf(draft, entry, before)
    const to = standingOf(draft, entry, now)
    if (isSame(from, to)) continue
    if (from !== undefined) {
      dropReady.push(placeRow(from))
      moveReady(heldQueue(held, from.queueId), -1)
    }
    if (to !== undefined) {
      addReady.push(placeRow(to))
      enter(held, to, { counts, taskId: queue.taskId })
    }
  }
  const statements: Statement[] = []
  if (dropReady.length > 0) statements.push([DROP_READY, JSON.stringify(dropReady)])
  if (addReady.length > 0) statements.push([ADD_READY, JSON.stringify(addReady)])
  return [...statements, ...holdStatements(changed, held.nowMs)]
}

function holdStatements(changed: readonly Entry[], nowMs: number): Statement[] {
  const leaving = (where: 'leased' | 'delayed'): number[] =>
    changed.filter(({ before, now }) => before.where === where && now.where !== where).map(({ id }) => id)
  const [ended, placed] = [leaving('leased'), leaving('delayed')]
  const delayed = changed.flatMap(({ id, now: { where } }) =>
    typeof where === 'object' ? [{ id, at: nowMs + where.retryInMs }] : [],
  )
  const statements: Statement[] = []
  if (ended.length > 0) statements.push([DROP_LEASES, ended])
  if (placed.length > 0) statements.push([DROP_DELAYED, placed])
  if (delayed.length > 0) statements.push([ADD_DELAYED, JSON.stringify(delayed)])
  return statements
}

function countEntry(counts: Counts, taskId: number, { fields, by }: { fields: Fields; by: number }): void {
  const { state, depth, reason, where } = fields
  countState(counts, taskId, { state: stateName(state, where === 'leased'), depth, reason, by })
}

function standingOf(draft: Draft, entry: Entry, fields: Fields): Standing | undefined {
  if (fields.where !== 'ready') return undefined
  const queue = queueNow(entry, fields)
  const { depth, priority } = fields
  const { order } = taskOf(draft, queue).settings
  return { queueId: queue.id, place: placeOf({ id: entry.id, depth, priority }, order) }
}

function isSame(a: Standing | undefined, b: Standing | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.queueId === b.queueId && a.place.priority === b.place.priority && a.place.level === b.place.level
}

function placeRow({ queueId, place }: Standing): object {
  return { q: queueId, u: 0 - place.priority, l: place.level, id: place.id }
}

function enter(
  held: HeldHosts,
  { queueId, place }: Standing,
  { counts, taskId }: { readonly counts: Counts; readonly taskId: number },
): void {
  const queue = heldQueue(held, queueId)
  moveReady(queue, 1, place)
  if (queue.opened) return
  queue.opened = true
  addTo(counts, { taskId, kind: 'hosts', by: 1 })
}

const ADD_ATTEMPTS = `INSERT INTO @attempts(request_id, record)
  SELECT x.id, x.record FROM json_to_recordset($1::json) AS x(id bigint, record text)`
const ADD_LINKS = `INSERT INTO @links AS l SELECT x.id, x.ids::bigint[], x.known
  FROM json_to_recordset($1::json) AS x(id bigint, ids text, known text)
  ON CONFLICT (request_id) DO UPDATE SET ids = excluded.ids, known = excluded.known`
/** Known links are looked for at the page's own host first: elsewhere it takes a look at every host of the task. */
const ADD_LOWERING = `INSERT INTO @lowering AS w(task_id, id, depth)
  SELECT x.task, c.id, min(x.depth + 1) FROM json_to_recordset($1::json) AS x(task int, id bigint, q int, depth int)
  JOIN @links l ON l.request_id = x.id CROSS JOIN LATERAL (
    SELECT unnest(l.ids) UNION ALL
    SELECT coalesce((SELECT r.id FROM @requests r WHERE r.queue_id = x.q AND r.fp = k.fp),
      (SELECT r.id FROM @queues q JOIN @requests r ON r.queue_id = q.id AND r.fp = k.fp WHERE q.task_id = x.task LIMIT 1))
    FROM (SELECT substr(l.known, 16 * n + 1, 16) AS fp FROM generate_series(0, length(l.known) / 16 - 1) n) k
  ) AS c(id) WHERE c.id IS NOT NULL GROUP BY x.task, c.id ORDER BY x.task, c.id
  ON CONFLICT (task_id, id) DO UPDATE SET depth = least(w.depth, excluded.depth)`

/** One that was lowered further meanwhile stays for the next step. */
const DROP_LOWERING = `DELETE FROM @lowering w USING json_to_recordset($1::json) AS x(task int, id bigint, depth int)
  WHERE w.task_id = x.task AND w.id = x.id AND w.depth >= x.depth`

function logStatements({ attempts, links, nearer, passed }: Draft, nowMs: number): Statement[] {
  const statements: Statement[] = []
  if (passed.length > 0) statements.push([DROP_LOWERING, JSON.stringify(passed)])
  if (attempts.length > 0) {
    const at = new Date(nowMs).toISOString()
    const records = attempts.map(({ entry, attempt }) => ({ id: entry.id, record: JSON.stringify({ ...attempt, at }) }))
    statements.push([ADD_ATTEMPTS, JSON.stringify(records)])
  }
  if (links.size > 0) {
    const rows = [...links].map(([{ id }, { ids, known }]) => ({ id, ids: `{${ids.join(',')}}`, known }))
    statements.push([ADD_LINKS, JSON.stringify(rows)])
  }
  if (nearer.size > 0) {
    const rows = [...nearer].map((entry) => {
      const { id, queue, now } = entry
      return { task: queue.taskId, id, q: queueNow(entry).id, depth: now.depth }
    })
    statements.push([ADD_LOWERING, JSON.stringify(rows)])
  }
  return statements
}
