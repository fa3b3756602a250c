/** What this process knows of the store's documents: true as of one log record, and kept true by reading the next ones. */

import { createCompactSet } from '../../util/compact-set.ts'
import type { CompactSet } from '../../util/compact-set.ts'
import { comparePlaces, dueList, KINDS } from './documents.ts'
import type { Kind, Placed } from './documents.ts'
import type { Found, Stored, Write } from './server.ts'
import { createUnapplied } from './unapplied.ts'
import type { Unapplied } from './unapplied.ts'

/** One place in an ordered list. */
export interface Entry extends Placed {
  readonly id: string
}

/** The first places of one list: all of them up to the last one here, or all of them altogether. */
export interface Window {
  readonly entries: Entry[]
  /** The list has places behind the last one here that are not known. */
  bound: Placed | undefined
  /** How many places were asked for when it was read. */
  read: number
}

export type ListKind = 'requests' | 'queues'

export interface Cache {
  get<K extends Kind>(kind: K, id: string): Stored<K> | undefined
  /** What was read from the server. */
  note<K extends Kind>(kind: K, found: Found<K>): void
  /** What log record `v` wrote. */
  take(write: Write, v: number): void
  readonly unapplied: Unapplied
  window(kind: ListKind, list: string): Window | undefined
  /** The first `read` places, as they lie in the database. */
  noteWindow(kind: ListKind, list: string, found: { readonly entries: readonly Entry[]; readonly read: number }): void
  /** Ids of all requests of a task, when this process has seen them all. */
  knownOf(taskId: number): CompactSet | undefined
  noteKnown(taskId: number, ids: readonly string[]): void
  /** Lets go of what is above the bounds. To be called when nobody holds on to what was read. */
  trim(): void
  clear(): void
}

/** Documents kept of each kind; what is large or read once is not kept for long. */
const KEPT: Readonly<Record<Kind, number>> = {
  meta: 10,
  tasks: 1000,
  levels: 2000,
  hosts: 16_000,
  queues: 16_000,
  requests: 30_000,
  links: 3000,
  items: 100,
  state: 20,
  lowering: 20,
}
/** Of these only what somebody here has asked for is kept. */
const ONLY_IF_ASKED: ReadonlySet<Kind> = new Set(['items', 'state', 'lowering'])
/** Places kept of one list, and of all. */
const MAX_WINDOW = 4096
const MAX_ENTRIES = 400_000
/** Ids of requests kept as hashes: 16 to 32 bytes each. */
const MAX_KNOWN = 1_500_000

// oxlint-disable-next-line max-lines-per-function -- one closure over one state
export function createCache(seed: number): Cache {
  const kinds = new Map<Kind, Map<string, Stored>>(KINDS.map((kind) => [kind, new Map()]))
  const windows = { requests: new Map<string, Window>(), queues: new Map<string, Window>() }
  /** In which list an id stands, as far as windows show it. */
  const standing = { requests: new Map<string, string>(), queues: new Map<string, string>() }
  const known = new Map<number, CompactSet>()
  const unapplied = createUnapplied()
  let entries = 0

  const unplace = (kind: ListKind, id: string, old: Placed): void => {
    const list = standing[kind].get(id)
    if (list === undefined) return
    standing[kind].delete(id)
    const window = windows[kind].get(list)
    if (window === undefined) return
    const at = positionOf(window.entries, old)
    const found = window.entries[at]?.id === id ? at : window.entries.findIndex((entry) => entry.id === id)
    if (found < 0) return
    window.entries.splice(found, 1)
    entries--
  }
  const place = (kind: ListKind, id: string, doc: Placed): void => {
    const window = doc.q === undefined ? undefined : windows[kind].get(doc.q)
    if (doc.q === undefined || window === undefined) return
    if (window.bound !== undefined && comparePlaces(doc, window.bound) > 0) return
    window.entries.splice(positionOf(window.entries, doc), 0, { id, a: doc.a, b: doc.b, c: doc.c })
    standing[kind].set(id, doc.q)
    entries++
  }
  const dropWindow = (kind: ListKind, list: string): void => {
    const window = windows[kind].get(list)
    if (window === undefined) return
    windows[kind].delete(list)
    entries -= window.entries.length
    for (const { id } of window.entries) standing[kind].delete(id)
  }
  const shorten = (kind: ListKind, list: string, window: Window): void => {
    if (window.entries.length <= MAX_WINDOW || list.startsWith('~leased')) return
    const gone = window.entries.splice(MAX_WINDOW / 2)
    for (const { id } of gone) standing[kind].delete(id)
    entries -= gone.length
    window.bound = window.entries.at(-1)
    window.read = window.entries.length
  }
  const remember = (write: Write): void => {
    if (!write.isNew) return
    // Who sees a list begin knows all of it from then on.
    if (write.kind === 'queues' && !windows.requests.has(write.id)) {
      windows.requests.set(write.id, { entries: [], bound: undefined, read: 0 })
    }
    if (write.kind === 'tasks') {
      const taskId = Number(write.id)
      known.set(taskId, createCompactSet(seed))
      for (const silent of [false, true]) {
        windows.queues.set(dueList(taskId, silent), { entries: [], bound: undefined, read: 0 })
      }
    }
    if (write.kind === 'requests') known.get(Number(write.id.slice(0, write.id.indexOf(':'))))?.add(write.id)
  }

  const keep = ({ kind, id, doc }: Omit<Write, 'isNew'>, v: number): void => {
    const kept = kinds.get(kind)
    const old = kept?.get(id)
    if (old === undefined ? !ONLY_IF_ASKED.has(kind) : old.v <= v) kept?.set(id, { v, doc })
  }

  return {
    unapplied,
    get: <K extends Kind>(kind: K, id: string) =>
      (unapplied.get(kind, id) ?? kinds.get(kind)?.get(id)) as Stored<K> | undefined,
    note: (kind, { id, v, doc }) => {
      const kept = kinds.get(kind)
      if ((kept?.get(id)?.v ?? -1) <= v) kept?.set(id, { v, doc })
    },
    take: (write, v) => {
      const { kind, id, doc } = write
      remember(write)
      const old = unapplied.get(kind, id) ?? kinds.get(kind)?.get(id)
      unapplied.take(write, v)
      if (kind === 'requests' || kind === 'queues') {
        unplace(kind, id, (old?.doc ?? {}) as Placed)
        if (doc !== undefined) place(kind, id, doc as Placed)
      }
      keep({ kind, id, doc }, v)
    },
    window: (kind, list) => windows[kind].get(list),
    noteWindow: (kind, list, { entries: found, read }) => {
      dropWindow(kind, list)
      const bound = found.length < read ? undefined : found.at(-1)
      const pending = unapplied.of(kind)
      const rest = found.filter(({ id }) => !pending.has(id))
      // One that was seen elsewhere before has moved since.
      for (const { id, ...old } of rest) unplace(kind, id, old)
      const own = [...pending].flatMap(([id, { doc }]): Entry[] => {
        const { q, a, b, c } = (doc ?? {}) as Placed
        const entry = { id, a, b, c }
        return q !== list || (bound !== undefined && comparePlaces(entry, bound) > 0) ? [] : [entry]
      })
      const all = own.length === 0 ? rest : [...rest, ...own].toSorted(comparePlaces)
      windows[kind].set(list, { entries: all, bound, read })
      entries += all.length
      for (const { id } of all) standing[kind].set(id, list)
    },
    knownOf: (taskId) => known.get(taskId),
    noteKnown: (taskId, ids) => {
      const set = createCompactSet(seed)
      for (const id of ids) set.add(id)
      for (const id of unapplied.of('requests').keys()) if (id.startsWith(`${taskId}:`)) set.add(id)
      known.set(taskId, set)
    },
    trim: () => {
      for (const [kind, kept] of kinds) shrink(kept, KEPT[kind])
      for (const kind of ['requests', 'queues'] as const) {
        for (const [list, window] of windows[kind]) shorten(kind, list, window)
        for (const list of windows[kind].keys()) {
          if (entries <= MAX_ENTRIES) break
          if (!list.startsWith('~leased')) dropWindow(kind, list)
        }
      }
      let ids = 0
      for (const [taskId, set] of known) if ((ids += set.size) > MAX_KNOWN) known.delete(taskId)
    },
    clear: () => {
      for (const kept of kinds.values()) kept.clear()
      unapplied.clear()
      for (const kind of ['requests', 'queues'] as const) {
        windows[kind].clear()
        standing[kind].clear()
      }
      known.clear()
      entries = 0
    },
  }
}

/** The oldest go, a quarter more than needed, so that this is not done for each. */
function shrink(kept: Map<string, unknown>, most: number): void {
  if (kept.size <= most) return
  let surplus = kept.size - Math.floor(most * 0.75)
  for (const id of kept.keys()) {
    if (surplus-- <= 0) break
    kept.delete(id)
  }
}

/** The first place in the list that is not before this one. */
function positionOf(entries: readonly Entry[], place: Placed): number {
  let from = 0
  for (let to = entries.length; from < to;) {
    const middle = (from + to) >> 1
    const entry = entries[middle]
    if (entry !== undefined && comparePlaces(entry, place) < 0) from = middle + 1
    else to = middle
  }
  return from
}
