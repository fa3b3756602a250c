/** Commands to the server: each may be sent again, so a lost connection is ridden out by sending it again. */

import type { AnyBulkWriteOperation, Collection, Db, MongoClient } from 'mongodb'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../util/random.ts'
import { backoffMs } from '../../util/backoff.ts'
import { comparePlaces, KINDS } from './documents.ts'
import type { Kind, Kinds } from './documents.ts'
import { closedError, isDuplicateKey, isNotImplemented, isPassing, storeError } from './errors.ts'
import type { Place } from './place.ts'
import type { Instant } from './instant.ts'

/** A document as it lies in its collection. */
interface Raw {
  readonly _id: string
  /** `x`: it was deleted; what is left of it fends off late writes. */
  readonly d?: { readonly v: number; readonly x?: number } & Record<string, unknown>
}

/** What is known of an id: the number of the record that wrote it last, and the document unless there is none. */
export interface Stored<K extends Kind = Kind> {
  readonly v: number
  readonly doc: Kinds[K] | undefined
}
export interface Found<K extends Kind = Kind> extends Stored<K> {
  readonly id: string
}

/** One write of a log record. */
export interface Write<K extends Kind = Kind> {
  readonly kind: K
  readonly id: string
  /** Undefined: deleted. */
  readonly doc: Kinds[K] | undefined
  /** There was none before. */
  readonly isNew: boolean
}

/** `v`: number of the record that wrote it. */
export interface VersionedWrite extends Write {
  readonly v: number
}

export type Filter = Readonly<Record<string, unknown>>

export interface Server {
  readonly place: Place
  readonly db: Db
  /** It may read a whole collection to find one id: collections that are asked often are kept small. */
  readonly isFerret: boolean
  /** Of the server's clock. */
  timeMs(): Promise<number>
  /** Ids that are not in the answer have no document. */
  read<K extends Kind>(kind: K, ids: readonly string[]): Promise<Map<string, Found<K>>>
  find<K extends Kind>(
    kind: K,
    filter: Filter,
    order?: { readonly sort?: Readonly<Record<string, 1>>; readonly limit?: number },
  ): Promise<Found<K>[]>
  /** The first places of each list, in their order: see `Placed`. */
  findLists<K extends 'requests' | 'queues'>(
    kind: K,
    lists: readonly ListWanted[],
  ): Promise<readonly (ListWanted & { readonly docs: readonly Found<K>[] })[]>
  ids(kind: Kind, filter: Filter): Promise<string[]>
  /** All documents that fit, one batch after the other; not on one snapshot. */
  scan<K extends Kind>(kind: K, filter: Filter): AsyncGenerator<Found<K>>
  /** Puts writes where they belong, unless something later is there. */
  apply(writes: readonly VersionedWrite[]): Promise<void>
  /** Deletes for good: for documents that nobody will write again. */
  purge(kind: Kind, ids: readonly string[]): Promise<void>
  /** Runs a command again and again while the connection is lost, for up to RIDE_OUT_MS. It must bear to be run twice. */
  ride<T>(command: () => Promise<T>): Promise<T>
  collection(name: string): Collection<Raw>
  close(): Promise<void>
}

export interface ListWanted {
  readonly list: string
  readonly limit: number
}

export interface ServerOptions {
  readonly client: MongoClient
  readonly place: Place
  readonly clock: Clock
  readonly random: Random
  /** FerretDB reads a whole collection unless it is asked for one id alone. */
  readonly isFerret: boolean
  /** Only for tests: in place of the server's clock. */
  readonly testTime: (() => Instant) | undefined
}

/** A connection may be gone for so long before the store is given up. */
const RIDE_OUT_MS = 60_000
const IDS_A_COMMAND = 2000
const WRITES_A_COMMAND = 1000
/** One by one up to so many; beyond, reading it all is no slower. There are more requests than anything else. */
const FERRET_POINT_READS = { requests: 400, items: 400, links: 400 } as Readonly<Partial<Record<Kind, number>>>
const FERRET_POINT_READS_ELSE = 30
const FERRET_PARALLEL = 8

export function createServer(options: ServerOptions): Server {
  const { client, place, isFerret } = options
  const db = client.db(place.database)
  const ride = createRide(options)
  const collection = (name: string): Collection<Raw> => db.collection<Raw>(`${place.prefix}${name}`)
  const readIds = createReader({ collection, ride: ride.run, isFerret })
  return {
    place,
    db,
    isFerret,
    collection,
    ride: ride.run,
    timeMs: async () => {
      if (options.testTime !== undefined) return options.testTime().nowMs
      const { localTime } = await ride.run(() => db.command({ hello: 1 }))
      return Number(localTime)
    },
    read: async (kind, ids) => new Map((await readIds(kind, ids)).map((raw) => [idOf(raw), foundOf(raw)])),
    find: async (kind, filter, { sort, limit = 0 } = {}) => {
      const rows = await ride.run(() => {
        const cursor = collection(kind).find(filter as object, { limit })
        return (sort === undefined ? cursor : cursor.sort({ ...sort })).toArray()
      })
      return rows.map((raw) => foundOf(raw))
    },
    findLists: (kind, lists) => findLists({ collection: collection(kind), ride: ride.run, isFerret }, lists),
    ids: async (kind, filter) => {
      const rows = await ride.run(() =>
        collection(kind)
          .find(filter as object, { projection: { _id: 1 } })
          .toArray(),
      )
      return rows.map(({ _id }) => _id)
    },
    scan: (kind, filter) => scan(collection(kind), filter, ride.run),
    apply: async (writes) => {
      const byKind = KINDS.map((kind) => writes.filter((write) => write.kind === kind))
      await Promise.all(byKind.map((some) => applyKind({ some, collection, ride: ride.run, isFerret })))
    },
    purge: async (kind, ids) => {
      for (const some of chunksOf(ids, IDS_A_COMMAND)) {
        await ride.run(() => collection(kind).deleteMany({ _id: { $in: [...some] } }))
      }
    },
    close: async () => {
      ride.close()
      await client.close()
    },
  }
}

/** Above so many lists, FerretDB's one look at everything is cheaper than one for each. */
const FERRET_LISTS = 2

async function findLists<K extends 'requests' | 'queues'>(
  {
    collection,
    ride,
    isFerret,
  }: { readonly collection: Collection<Raw>; readonly ride: Server['ride']; readonly isFerret: boolean },
  lists: readonly ListWanted[],
): Promise<(ListWanted & { readonly docs: readonly Found<K>[] })[]> {
  if (isFerret && lists.length > FERRET_LISTS) {
    const names = lists.map(({ list }) => list)
    const all = await ride(() => collection.find({ 'd.q': { $in: names } } as object).toArray())
    const found = all.map((raw) => foundOf<K>(raw)).toSorted((a, b) => comparePlaces(a.doc ?? {}, b.doc ?? {}))
    return lists.map(({ list, limit }) => ({
      list,
      limit,
      docs: found.filter(({ doc }) => doc?.q === list).slice(0, limit),
    }))
  }
  const order = { 'd.a': 1, 'd.b': 1, 'd.c': 1 } as const
  return Promise.all(
    lists.map(async ({ list, limit }) => {
      const docs = await ride(() => collection.find({ 'd.q': list } as object, { limit, sort: order }).toArray())
      return { list, limit, docs: docs.map((raw) => foundOf<K>(raw)) }
    }),
  )
}

/** Reads documents by their ids. */
function createReader({
  collection,
  ride,
  isFerret,
}: {
  readonly collection: Server['collection']
  readonly ride: Server['ride']
  readonly isFerret: boolean
}): (kind: Kind, ids: readonly string[]) => Promise<Raw[]> {
  const findRaw = (kind: Kind, filter: Filter, limit = 0): Promise<Raw[]> =>
    ride(() =>
      collection(kind)
        .find(filter as object, { limit })
        .toArray(),
    )
  return async (kind, ids) => {
    if (ids.length === 1) return findRaw(kind, { _id: ids[0] }, 1)
    if (!isFerret || ids.length > (FERRET_POINT_READS[kind] ?? FERRET_POINT_READS_ELSE)) {
      const chunks = chunksOf(ids, IDS_A_COMMAND).map((some) => findRaw(kind, { _id: { $in: some } }))
      return (await Promise.all(chunks)).flat()
    }
    const found: Raw[] = []
    const rest = [...ids]
    const lane = async (): Promise<void> => {
      for (let id = rest.pop(); id !== undefined; id = rest.pop()) found.push(...(await findRaw(kind, { _id: id }, 1)))
    }
    await Promise.all(Array.from({ length: FERRET_PARALLEL }, lane))
    return found
  }
}

interface Ride {
  run<T>(command: () => Promise<T>): Promise<T>
  close(): void
}

function createRide({ place, clock, random }: ServerOptions): Ride {
  const closing = new AbortController()
  return {
    close: () => {
      closing.abort()
    },
    run: async (command) => {
      let sinceMs: number | undefined
      for (let step = 1; ; step++) {
        if (closing.signal.aborted) throw closedError(place)
        try {
          return await command()
        } catch (error) {
          if (closing.signal.aborted) throw closedError(place)
          // An answer that the caller reckons with.
          if (isDuplicateKey(error) || isNotImplemented(error)) throw error
          if (!isPassing(error)) throw storeError(error, place)
          const nowMs = clock.monotonicMs()
          sinceMs ??= nowMs
          if (nowMs - sinceMs > RIDE_OUT_MS) throw storeError(error, place)
        }
        await clock.sleep(backoffMs({ baseMs: 50, maxMs: 2000, step, random }), closing.signal)
      }
    },
  }
}

interface KindWrites {
  readonly some: readonly VersionedWrite[]
  readonly collection: Server['collection']
  readonly ride: Server['ride']
  readonly isFerret: boolean
}

async function applyKind({ some, collection, ride, isFerret }: KindWrites): Promise<void> {
  const [first] = some
  if (first === undefined) return
  const target = collection(first.kind)
  const raised: Raw[] = some.filter(({ isNew, doc }) => !isNew || doc === undefined).map(rawOf)
  const fresh = some.filter(({ isNew, doc }) => isNew && doc !== undefined).map(rawOf)
  for (const batch of chunksOf(fresh, WRITES_A_COMMAND)) {
    const met = await ride(() => target.insertMany([...batch], { ordered: false }).then(nothing, duplicatesOf))
    // Another was quicker; perhaps with what an earlier record made of it.
    for (const at of met) raised.push(...batch.slice(at, at + 1))
  }
  for (const batch of chunksOf(raised, WRITES_A_COMMAND)) {
    const operations = batch.map((raw) => raiseOf(raw, isFerret))
    await raise(target, operations, ride)
  }
}

function raiseOf({ _id, d }: Raw, isFerret: boolean): AnyBulkWriteOperation<Raw> {
  const one = { filter: { _id }, update: { $max: { d } } as never, upsert: true }
  // FerretDB keeps a cursor open for each updateOne of a command, and stops when it has a hundred of them.
  return isFerret ? { updateMany: one } : { updateOne: one }
}

/** Two who insert the same id at once: one of them is told that it is there, and updates it the next time. */
const MAX_UPSERT_RACES = 5

async function raise(
  target: Collection<Raw>,
  batch: AnyBulkWriteOperation<Raw>[],
  ride: Server['ride'],
): Promise<void> {
  for (let race = 0; ; race++) {
    try {
      await ride(() => target.bulkWrite(batch, { ordered: false }))
      return
    } catch (error) {
      if (!isDuplicateKey(error) || race >= MAX_UPSERT_RACES) throw error
    }
  }
}

function nothing(): number[] {
  return []
}

/** Where in the batch documents stood that were there already. */
function duplicatesOf(error: unknown): number[] {
  const all: readonly unknown[] =
    error instanceof Error && 'writeErrors' in error ? [error.writeErrors].flat() : [error]
  if (!all.every(isDuplicateKey)) throw error
  return all.map((one) => Number((one as { index?: unknown }).index ?? 0))
}

async function* scan<K extends Kind>(
  collection: Collection<Raw>,
  filter: Filter,
  ride: Server['ride'],
): AsyncGenerator<Found<K>> {
  const cursor = collection.find(filter as object, { batchSize: 1000 })
  try {
    for (;;) {
      const raw = await ride(() => cursor.next())
      if (raw === null) return
      yield foundOf<K>(raw)
    }
  } finally {
    await cursor.close().catch(() => undefined)
  }
}

function rawOf({ id, doc, v }: VersionedWrite): Raw {
  return doc === undefined ? { _id: id, d: { v, x: 1 } } : { _id: id, d: { v, ...doc } }
}

function idOf({ _id: id }: Raw): string {
  return id
}

function foundOf<K extends Kind>({ _id, d }: Raw): Found<K> {
  if (d === undefined) return { id: _id, v: 0, doc: undefined }
  const { v, x, ...doc } = d
  return { id: _id, v, doc: x === undefined ? (doc as unknown as Kinds[K]) : undefined }
}

export function chunksOf<T>(all: readonly T[], size: number): (readonly T[])[] {
  const chunks: (readonly T[])[] = []
  for (let from = 0; from < all.length; from += size) chunks.push(all.slice(from, from + size))
  return chunks
}
