/** The work of one log record while it is being made up: reads from what is known, writes kept aside. */

import type { Random } from '../../util/random.ts'
import type { Cache, Entry, ListKind } from './cache.ts'
import { comparePlaces, KINDS } from './documents.ts'
import type { Kind, Kinds, Placed } from './documents.ts'
import type { Instant } from './instant.ts'
import type { Found, Write } from './server.ts'

/** What a transaction lacks; it is run again when that is there. */
export interface Wanted {
  readonly ids: Map<Kind, Set<string>>
  /** How many places of which lists. */
  readonly lists: Map<string, { readonly kind: ListKind; readonly list: string; readonly n: number }>
}

export interface Transaction {
  /** Of the server's clock; the same for the whole transaction. */
  readonly nowMs: number
  /** The same instant as people read it; milliseconds since the epoch. */
  readonly wallMs: number
  /** Asks for documents without stopping: `settle` does, before it needs them. */
  want(kind: Kind, ids: Iterable<string>): void
  /** Stops, to be run again, unless all are at hand. */
  need(kind: Kind, ids: readonly string[]): void
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  /** A copy that may be changed in place; what it is at the end is written. Not for documents that stand in lists. */
  edit<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  /** Takes the place of whatever is there; undefined deletes. */
  put<K extends Kind>(kind: K, id: string, doc: Kinds[K] | undefined): void
  /** The same without looking at what is there. */
  replace<K extends Kind>(kind: K, id: string, doc: Kinds[K]): void
  /** For ids that nobody ever used. */
  create<K extends Kind>(kind: K, id: string, doc: Kinds[K]): void
  /** The ids of the first `n` places of a list, or of all places before `until`. */
  head(kind: ListKind, list: string, options: { readonly n: number; readonly until?: number }): string[]
  /** Where the list begins. */
  first(kind: ListKind, list: string): number | undefined
  random: Random
}

/** Thrown by reads; never leaves this folder. */
const missing = new Error('Not at hand: the transaction is run again')

export function isMissing(error: unknown): boolean {
  return error === missing
}

export interface Attempt {
  readonly tx: Transaction
  readonly wanted: Wanted
  readonly writes: () => readonly Write[]
}

export interface AttemptOptions {
  readonly cache: Cache
  /** What was read for this transaction: the cache may have let go of it. */
  readonly loaded: ReadonlyMap<Kind, ReadonlyMap<string, Found | undefined>>
  readonly time: Instant
  /** The same numbers in each run, so that a second run is the first one again. */
  readonly random: Random
}

interface Before {
  readonly doc: Kinds[Kind] | undefined
}
/** Not even the remains of a deleted document are there. */
const ABSENT: Before = { doc: undefined }

// oxlint-disable-next-line max-lines-per-function -- one closure over one state
export function createAttempt({ cache, loaded, time, random }: AttemptOptions): Attempt {
  const overlay = new Map<Kind, Map<string, Kinds[Kind] | undefined>>(KINDS.map((kind) => [kind, new Map()]))
  const fresh = new Set<string>()
  const wanted: Wanted = { ids: new Map(), lists: new Map() }
  /** Ids of this transaction's own writes by the list in which they stand now. */
  const moved = { requests: new Map<string, Set<string>>(), queues: new Map<string, Set<string>>() }

  /** Undefined: not at hand. */
  const before = (kind: Kind, id: string): Before | undefined => {
    const own = loaded.get(kind)
    const cached = cache.get(kind, id)
    if (cached !== undefined) return cached
    if (own?.has(id) === true) return own.get(id) ?? ABSENT
    const known = kind === 'requests' ? cache.knownOf(Number(id.slice(0, id.indexOf(':')))) : undefined
    return known === undefined || known.has(id) ? undefined : ABSENT
  }
  const isAtHand = (kind: Kind, id: string): boolean =>
    overlay.get(kind)?.has(id) === true || before(kind, id) !== undefined
  const lack = (kind: Kind, id: string): void => {
    const ids = wanted.ids.get(kind) ?? new Set()
    ids.add(id)
    wanted.ids.set(kind, ids)
  }
  const get = <K extends Kind>(kind: K, id: string): Kinds[K] | undefined => {
    const own = overlay.get(kind)
    if (own?.has(id) === true) return own.get(id) as Kinds[K] | undefined
    const found = before(kind, id)
    if (found !== undefined) return found.doc as Kinds[K] | undefined
    lack(kind, id)
    throw missing
  }
  const keep = (kind: Kind, id: string, doc: Kinds[Kind] | undefined): void => {
    if (kind === 'requests' || kind === 'queues') {
      const lists = moved[kind]
      const old = (overlay.get(kind)?.get(id) as Placed | undefined)?.q
      const now = (doc as Placed | undefined)?.q
      if (old !== undefined) lists.get(old)?.delete(id)
      if (now !== undefined) lists.set(now, (lists.get(now) ?? new Set()).add(id))
    }
    overlay.get(kind)?.set(id, doc)
  }
  const merged = (kind: ListKind, list: string, n: number): { entries: Entry[]; isShort: boolean } => {
    const window = cache.window(kind, list)
    if (window === undefined) {
      wanted.lists.set(`${kind} ${list}`, { kind, list, n })
      throw missing
    }
    const changed = overlay.get(kind)
    const { bound } = window
    const own = [...(moved[kind].get(list) ?? [])]
      .map((id) => ({ ...placeOf(changed?.get(id)), id }))
      .filter((entry) => bound === undefined || comparePlaces(entry, bound) <= 0)
      .toSorted(comparePlaces)
    const entries: Entry[] = []
    let next = 0
    for (const entry of window.entries) {
      if (entries.length >= n) break
      if (changed?.has(entry.id) === true) continue
      for (let first = own[next]; first !== undefined && comparePlaces(first, entry) < 0; first = own[++next]) {
        entries.push(first)
      }
      entries.push(entry)
    }
    entries.push(...own.slice(next))
    return { entries: entries.slice(0, n), isShort: bound !== undefined && entries.length < n }
  }
  const placesOf = (kind: ListKind, list: string, { n, until }: { n: number; until?: number }): Entry[] => {
    const { entries, isShort } = merged(kind, list, n)
    const past = until === undefined ? -1 : entries.findIndex((entry) => (entry.a ?? 0) > until)
    if (past >= 0) return entries.slice(0, past)
    if (isShort) {
      wanted.lists.set(`${kind} ${list}`, { kind, list, n: n * 2 })
      throw missing
    }
    return entries
  }

  const tx: Transaction = {
    ...time,
    random,
    want: (kind, ids) => {
      for (const id of ids) if (!isAtHand(kind, id)) lack(kind, id)
    },
    need: (kind, ids) => {
      let isComplete = true
      for (const id of ids) {
        if (isAtHand(kind, id)) continue
        lack(kind, id)
        isComplete = false
      }
      if (!isComplete) throw missing
    },
    get,
    edit: (kind, id) => {
      const own = overlay.get(kind)
      const doc = get(kind, id)
      if (doc === undefined || own?.has(id) === true) return doc
      const copy = structuredClone(doc)
      keep(kind, id, copy)
      return copy
    },
    put: (kind, id, doc) => {
      if (get(kind, id) === undefined && doc === undefined) return
      keep(kind, id, doc)
    },
    replace: keep,
    create: (kind, id, doc) => {
      fresh.add(`${kind} ${id}`)
      keep(kind, id, doc)
    },
    head: (kind, list, options) => placesOf(kind, list, options).map(({ id }) => id),
    first: (kind, list) => placesOf(kind, list, { n: 1 })[0]?.a,
  }
  const writes = (): Write[] =>
    [...overlay].flatMap(([kind, docs]) =>
      [...docs].map(([id, doc]): Write => ({
        kind,
        id,
        doc,
        isNew: fresh.has(`${kind} ${id}`) || before(kind, id) === ABSENT,
      })),
    )
  return { tx, wanted, writes }
}

function placeOf(doc: unknown): Placed {
  const { a, b, c } = doc as Placed
  return { a, b, c }
}
