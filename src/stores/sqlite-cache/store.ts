/** The packed cache: all pages in one SQLite file, bodies packed and kept once. */

import { type CodecName, DEFAULT_CODEC, digestOf, packBody, type PackedBody } from '../../cache/codec.ts'
import type { CachedAnswer, CacheEntry, CacheId, CacheStore, NewCacheEntry } from '../../cache/contract.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { createBatchWriter } from './batch.ts'
import { createCap } from './cap.ts'
import { createFinder, type FindRow } from './finder.ts'
import { closedError, storeError } from './faults.ts'
import { createNotes, type Notes } from './notes.ts'
import { checkpoint, pruneCache } from './prune.ts'
import { listEntries, readAnswer, readStats } from './read.ts'
import { entryOf, type EntryRow, keyBytes, prepareStatements, type Statements } from './rows.ts'
import { openCacheFile } from './schema.ts'
import type { CacheState } from './state.ts'
import * as write from './write.ts'

export interface SqliteCacheOptions {
  /** Folder for `cache.sqlite`; made when it is not there. */
  readonly dir: string
  /** Size cap of the file: the least recently used go, in the background. Default: none. */
  readonly maxBytes?: number
  /** How new bodies are packed. Default: `zstd` where Node has it, to write and to read (22.15); else `brotli`. */
  readonly codec?: CodecName
  /** Default: the system's. */
  readonly clock?: Clock
}

/** A body is at most this long; a longer one is not kept. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
/** Rejects with STORE_CORRUPT, STORE_FORMAT_MISMATCH, STORE_BUSY, STORE_UNAVAILABLE; nothing is changed then. */
export async function openSqliteCache(options: SqliteCacheOptions): Promise<CacheStore> {
  const { dir, clock = systemClock, codec = DEFAULT_CODEC } = options
  const { database, file } = await openCacheFile(dir, clock)
  const sql = prepareStatements(database)
  const notes = createNotes(sql)
  const writer = createBatchWriter({ database, clock, location: file, rideAlong: notes.write })
  const find = createFinder(database, sql)
  return createStore({ state: { database, file, sql, writer, clock }, notes, find, codec, maxBytes: options.maxBytes })
}

interface StoreParts {
  readonly state: CacheState
  readonly notes: Notes
  readonly find: FindRow
  readonly codec: CodecName
  readonly maxBytes: number | undefined
}

function createStore(parts: StoreParts): CacheStore {
  const { state, notes, maxBytes } = parts
  const { database, file, sql, writer, clock } = state
  const cap = createCap(state, maxBytes)
  const guard = createGuard(file)
  const flushNotes = async (): Promise<void> => {
    if (!notes.isEmpty()) await writer.write(() => undefined, 0)
  }
  const close = async (): Promise<void> => {
    await Promise.all([guard.shut(), cap.stop()])
    await flushNotes().catch(() => undefined)
    await writer.drain()
    checkpoint(state)
    database.close()
  }
  let closing: Promise<void> | undefined
  const store: CacheStore = {
    location: file,
    get: (id) => guard.run(() => getAnswer(parts, id)),
    head: (id) => guard.run(() => getEntry(sql, id)),
    put: (entry, body) =>
      guard.run(async () => {
        if (body.length > MAX_BODY_BYTES) return
        await cap.room()
        await putAnswer(parts, entry, body)
        cap.wrote(body.length)
      }),
    refresh: ({ key }, change) =>
      guard.run(() => writer.write(() => write.refreshEntry(sql, key, { ...change, nowMs: clock.nowMs() }), 1000)),
    delete: ({ key }) => guard.run(() => writer.write(() => write.removeByKey(sql, key), 0)),
    list: (filter, page) => guard.run(() => listEntries(sql, filter, page)),
    prune: (options) => guard.run(() => flushNotes().then(() => pruneCache(state, options))),
    stats: () => guard.run(() => flushNotes().then(() => readStats(state))),
    note: (counts) => notes.count(counts),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => store.close(),
  }
  return store
}

interface Guard {
  run<T>(work: () => T | Promise<T>): Promise<T>
  /** Nothing more begins; resolves when what runs has ended. */
  shut(): Promise<void>
}

/** Speaks of faults in this package's words, and keeps the file open while anything uses it. */
function createGuard(location: string): Guard {
  let running = 0
  let shut: (() => void) | undefined
  const leave = (): void => {
    running -= 1
    if (running === 0) shut?.()
  }
  return {
    run: async (work) => {
      if (shut !== undefined) throw closedError(location)
      running += 1
      try {
        return await work()
      } catch (error) {
        throw storeError(error, location)
      } finally {
        leave()
      }
    },
    shut: () =>
      new Promise<void>((resolve) => {
        shut = resolve
        if (running === 0) resolve()
      }),
  }
}

function getEntry(sql: Statements, { key, url }: CacheId): CacheEntry | undefined {
  const row = sql.head.get(keyBytes(key)) as EntryRow | undefined
  return row === undefined || row.url !== url ? undefined : entryOf(key, row)
}

async function getAnswer({ state, notes, find }: StoreParts, id: CacheId): Promise<CachedAnswer | undefined> {
  const { sql, writer, clock } = state
  const found = await readAnswer({ sql, find }, id)
  if (found.kind === 'damaged') {
    await writer.write(() => write.removeDamaged(sql, found.body, found.crc), 0)
    return undefined
  }
  if (found.kind === 'missing') return undefined
  const hour = write.hourOf(clock.nowMs())
  if (hour > found.usedHour) notes.used(found.id, hour)
  if (notes.isFull()) await writer.write(() => undefined, 0)
  return found.answer
}

async function putAnswer({ state, codec }: StoreParts, entry: NewCacheEntry, bytes: Uint8Array): Promise<void> {
  const { sql, writer, clock } = state
  const nowMs = clock.nowMs()
  const bodyBytes = bytes.length
  const put = (body: number | null): void => write.putEntry(sql, { entry, body, bodyBytes, nowMs })
  if (bodyBytes === 0) {
    await writer.write(() => put(null), 1000)
    return
  }
  const digest = digestOf(bytes, codec).subarray(0, 16)
  const contentType = entry.headers.find(([name]) => name === 'content-type')?.[1]
  // Known already: nothing to pack, unless it is deleted before the transaction.
  let packed = write.findBody(sql, digest) === undefined ? await packBody(bytes, codec, contentType) : undefined
  if (packed !== undefined && packed.data.length > write.PART_BYTES) {
    await putInParts(state, { hash: digest, packed, bodyBytes, nowMs }, put)
    return
  }
  const tryPut = (): boolean => {
    const id = write.findBody(sql, digest)
    if (id === undefined && packed === undefined) return false
    put(id ?? write.putBody(sql, { hash: digest, packed: packed as PackedBody, bodyBytes, nowMs }))
    return true
  }
  if (await writer.write(tryPut, packed?.data.length ?? 1000)) return
  packed = await packBody(bytes, codec, contentType)
  await putInParts(state, { hash: digest, packed, bodyBytes, nowMs }, put)
}

/** One transaction a part, so that nothing waits long for the file; found by others only when it is whole. */
async function putInParts(state: CacheState, body: write.NewBody, put: (id: number) => void): Promise<void> {
  const { sql, writer } = state
  const { data } = body.packed
  const id = await writer.write(() => write.beginBody(sql, body, null), 1000)
  for (let at = 0; at < data.length; at += write.PART_BYTES) {
    const part = data.subarray(at, at + write.PART_BYTES)
    await writer.write(() => write.putPart(sql, { id, number: at / write.PART_BYTES, data: part }), part.length)
  }
  await writer.write(() => put(write.finishBody(sql, id, body.hash)), 1000)
}
