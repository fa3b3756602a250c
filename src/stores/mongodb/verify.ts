/** The invariants of the MongoDB store, counted anew from its documents. */

import { createCompactSet } from '../../util/compact-set.ts'
import type { CompactSet } from '../../util/compact-set.ts'
import { placeOf } from '../../frontier/order.ts'
import type { TaskSettings } from '../../frontier/contract.ts'
import { DELAYED, LEASED, queueKey, requestKey, STATES } from './documents.ts'
import type { MetaDocument, RequestDocument, TaskDocument } from './documents.ts'
import type { Ledger } from './ledger.ts'
import { hostNow, metaOf, taskById } from './rows.ts'
import type { Server } from './server.ts'

interface Parts {
  readonly ledger: Ledger
  readonly server: Server
}

const MAX_PROBLEMS_OF_A_KIND = 20
/** Documents change while they are counted: begun anew so often, until nothing was written meanwhile. */
const MAX_TRIES = 5

export async function verifyStore(parts: Parts): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    await parts.ledger.applyAll()
    const before = parts.ledger.head
    const problems = await count(parts)
    await parts.ledger.read(() => undefined)
    if (parts.ledger.head === before) return problems
    if (tries >= MAX_TRIES) {
      return problems.length === 0 ? [] : ['The store is being written: stop its workers, then verify it']
    }
  }
}

/** What is counted of one task. */
interface Tally {
  readonly id: number
  readonly doc: TaskDocument
  readonly settings: TaskSettings
  readonly counts: Map<string, number>
  readonly known: CompactSet
  items: number
  /** Items that its requests say they have. */
  claimed: number
}

interface Books {
  readonly tasks: ReadonlyMap<number, Tally>
  readonly inFlight: Map<string, number>
  readonly ready: Map<string, number>
  /** Ids of requests that others name, and who names them. */
  readonly named: { readonly key: string; readonly by: string }[]
  readonly problems: Map<string, string[]>
}

async function count({ ledger, server }: Parts): Promise<string[]> {
  const tallies = await ledger.read((tx) =>
    metaOf(tx).tasks.flatMap(({ id }: MetaDocument['tasks'][number]): Tally[] => {
      const task = taskById(tx, id)
      if (task === undefined) return []
      const { doc, settings } = task
      return [{ id, doc, settings, counts: new Map(), known: createCompactSet(id), items: 0, claimed: 0 }]
    }),
  )
  const books: Books = {
    tasks: new Map(tallies.map((tally) => [tally.id, tally])),
    inFlight: new Map(),
    ready: new Map(),
    named: [],
    problems: new Map(),
  }
  for await (const { id, doc } of server.scan('requests', {})) if (doc !== undefined) countRequest(books, id, doc)
  for await (const { doc } of server.scan('items', { 'd.seq': { $exists: true } })) {
    const tally = doc === undefined ? undefined : books.tasks.get(doc.t)
    if (tally !== undefined) tally.items++
  }
  for (const { key, by } of books.named) {
    const tally = books.tasks.get(Number(key.slice(0, key.indexOf(':'))))
    if (tally?.known.has(key) === false) report(books, 'named', `${by} names request ${key}, which is not there`)
  }
  for (const tally of tallies) compareCounts(books, tally)
  await compareLevels(books, server)
  await compareQueues(books, server)
  await compareHosts(books, server)
  return [...books.problems.values()].flat()
}

function holdsPlace({ lease }: RequestDocument): boolean {
  return lease !== undefined && lease.unpaced !== true
}

function countRequest(books: Books, key: string, row: RequestDocument): void {
  const tally = books.tasks.get(row.t)
  if (tally === undefined) return
  tally.known.add(key)
  add(tally.counts, row.s)
  add(tally.counts, `${row.s} at depth ${row.depth}`)
  if (row.s === 'skipped') add(tally.counts, `skipped for ${row.reason ?? ''}`)
  if (holdsPlace(row)) add(books.inFlight, hostNow(row))
  const queue = queueKey(row.t, hostNow(row))
  if (row.q === queue) add(books.ready, queue)
  tally.claimed += row.items?.n ?? 0
  for (const fp of [row.parent, row.alias]) {
    if (fp !== undefined) books.named.push({ key: requestKey(row.t, fp), by: row.url })
  }
  const problem = problemOfRow(row, { queue, order: tally.settings.order })
  if (problem !== undefined) report(books, 'rows', problem)
}

function problemOfRow(
  row: RequestDocument,
  { queue, order }: { readonly queue: string; readonly order: TaskSettings['order'] },
): string | undefined {
  const { s, q, url, alias, lease } = row
  const isLeased = s === 'leased'
  if ((lease !== undefined) !== isLeased || (q === LEASED) !== isLeased) return `${url} is ${s}, its lease is not`
  if (alias !== undefined && s !== 'skipped') return `${url} is an alias and ${s}`
  if (s === 'pending') return problemOfPlace(row, { queue, order })
  return !isLeased && q !== undefined ? `${url} is ${s}, but in a queue` : undefined
}

function problemOfPlace(
  row: RequestDocument,
  { queue, order }: { readonly queue: string; readonly order: TaskSettings['order'] },
): string | undefined {
  if (row.q === DELAYED) return undefined
  if (row.q !== queue) return `${row.url} is pending, but not in its queue`
  const { priority, level, id } = placeOf(row, order)
  const isThere = row.a === 0 - priority && row.b === level && row.c === id
  return isThere ? undefined : `${row.url} stands at another place of its queue than its depth and priority say`
}

function compareCounts(books: Books, { doc, counts, items, claimed }: Tally): void {
  const kept = new Map<string, number>(STATES.map((state) => [state, doc.counts[state]]))
  for (const [reason, n] of Object.entries(doc.skipped)) kept.set(`skipped for ${reason}`, n)
  const compare = (what: string, counted: number, found: number): void => {
    if (counted !== found) report(books, 'counts', `Task ${doc.name} counts ${counted} ${what}, but ${found} are`)
  }
  for (const [what, n] of kept) compare(what, n, counts.get(what) ?? 0)
  for (const [what, n] of counts) if (what.startsWith('skipped for') && !kept.has(what)) compare(what, 0, n)
  compare('items', doc.items, items)
  if (claimed !== items) report(books, 'items', `Requests of task ${doc.name} count ${claimed} items, but ${items} are`)
}

async function compareLevels(books: Books, server: Server): Promise<void> {
  for await (const { doc } of server.scan('levels', {})) {
    const tally = doc === undefined ? undefined : books.tasks.get(doc.t)
    if (doc === undefined || tally === undefined) continue
    const kept = Object.entries(doc.levels).flatMap(([depth, counts]) =>
      STATES.map((state, at) => [`${state} at depth ${depth.replace(',', '.')}`, counts[at] ?? 0] as const),
    )
    for (const [what, n] of kept) {
      const found = tally.counts.get(what) ?? 0
      if (n !== found) report(books, 'levels', `Task ${tally.doc.name} counts ${n} ${what}, but ${found} are`)
    }
  }
}

async function compareQueues(books: Books, server: Server): Promise<void> {
  for await (const { id, doc } of server.scan('queues', {})) {
    const found = books.ready.get(id) ?? 0
    if (doc === undefined || !books.tasks.has(doc.t) || doc.ready === found) continue
    report(books, 'queues', `Queue ${id} counts ${doc.ready} requests, but ${found} are in it`)
  }
}

async function compareHosts(books: Books, server: Server): Promise<void> {
  for await (const { id, doc } of server.scan('hosts', {})) {
    const held = books.inFlight.get(id) ?? 0
    if (doc === undefined || doc.state.inFlight === held) continue
    report(books, 'hosts', `Host ${id} counts ${doc.state.inFlight} in flight, but ${held} are leased`)
  }
}

function add(sums: Map<string, number>, key: string): void {
  sums.set(key, (sums.get(key) ?? 0) + 1)
}

function report({ problems }: Books, kind: string, sentence: string): void {
  const some = problems.get(kind) ?? []
  problems.set(kind, some)
  if (some.length < MAX_PROBLEMS_OF_A_KIND) some.push(sentence)
}
