/** The cache on a database server: everything that is the same, whichever server it is. */

import { crc32 } from 'node:zlib'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import { type CodecName, digestOf, packBody } from '../codec.ts'
import type { CachedAnswer, CacheId, CacheStats, CacheStore, NewCacheEntry } from '../contract.ts'
import { createCap } from './cap.ts'
import { createNotes, type Notes } from './notes.ts'
import { pruneTables } from './prune.ts'
import { listEntries, readAnswer } from './read.ts'
import { entryOf, formatHeaders, hourOf, rowOf, wholeMs } from './rows.ts'
import { type Blob, type CacheTables, PART_BYTES } from './tables.ts'

export interface TableCacheOptions {
  /** Closed with the cache. */
  readonly tables: CacheTables
  readonly clock: Clock
  /** Size cap: the least recently used go, in the background. Default: none. */
  readonly maxBytes?: number | undefined
  /** How new bodies are packed. */
  readonly codec: CodecName
}

/** A longer body is not kept. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
/** Of a longer one it is asked first whether it is there: not to pack and send it costs less than the question. */
const ASK_FIRST_BYTES = 64 * 1024
/** 160 bits: nobody finds two bodies with one digest. */
const DIGEST_DIGITS = 40
const MAX_TRIES = 5

export function createTableCache({ tables, clock, maxBytes, codec }: TableCacheOptions): CacheStore {
  const { location } = tables
  const notes = createNotes(tables, clock)
  const cap = createCap({ tables, clock, maxBytes })
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) return Promise.reject(new CrawlError('STORE_CLOSED', { context: { location } }))
    notes.flushWhenDue()
    const promise = work()
    running.add(promise)
    const left = (): void => void running.delete(promise)
    promise.then(left, left)
    return promise
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled([...running, cap.stop()])
    await notes.flush()
    await tables.close()
  }
  const store: CacheStore = {
    location,
    get: (id) => run(() => getAnswer({ tables, notes, clock }, id)),
    head: ({ key, url }) =>
      run(async () => {
        const row = await tables.head(key)
        return row === undefined || row.url !== url ? undefined : entryOf(row)
      }),
    put: (entry, body) =>
      run(async () => {
        if (body.length > MAX_BODY_BYTES) return
        await cap.room()
        await putAnswer({ tables, clock, codec }, entry, body)
        cap.wrote(body.length)
      }),
    refresh: ({ key }, { checkedAtMs, headers }) =>
      run(() =>
        tables.refresh(key, {
          headers: formatHeaders(headers),
          checkedAtMs: wholeMs(checkedAtMs),
          usedHour: hourOf(clock.nowMs()),
        }),
      ),
    delete: ({ key }) => run(async () => (await tables.remove([key], {})) > 0),
    list: (filter, page) => run(() => listEntries(tables, filter, page)),
    prune: (options) => run(() => notes.flush().then(() => pruneTables({ tables, clock }, options))),
    stats: () => run(() => notes.flush().then(() => readStats(tables))),
    note: (counts) => {
      notes.count(counts)
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => store.close(),
  }
  return store
}

interface Reading {
  readonly tables: CacheTables
  readonly notes: Notes
  readonly clock: Clock
}

async function getAnswer({ tables, notes, clock }: Reading, id: CacheId): Promise<CachedAnswer | undefined> {
  const found = await readAnswer(tables, id)
  if (found === undefined) return undefined
  const hour = hourOf(clock.nowMs())
  if (hour > found.usedHour) notes.used(id.key, hour)
  return found.answer
}

interface Writing {
  readonly tables: CacheTables
  readonly clock: Clock
  readonly codec: CodecName
}

async function putAnswer(writing: Writing, entry: NewCacheEntry, bytes: Uint8Array): Promise<void> {
  const { tables, clock } = writing
  const digest = bytes.length === 0 ? undefined : digestOf(bytes, writing.codec).toString('hex').slice(0, DIGEST_DIGITS)
  const row = rowOf(entry, { bytes: bytes.length, digest }, clock.nowMs())
  const isThere = digest !== undefined && bytes.length > ASK_FIRST_BYTES && (await tables.hasBlob(digest))
  let blob = digest === undefined || isThere ? undefined : await makeBlob(writing, entry, bytes)
  for (let tries = 1; !(await tables.put(row, blob)); tries += 1) {
    if (tries === MAX_TRIES) throw gone(tables.location)
    // it was deleted by another between the question and now, or the upload was
    blob = await makeBlob(writing, entry, bytes)
  }
}

async function makeBlob({ tables, clock, codec }: Writing, entry: NewCacheEntry, bytes: Uint8Array): Promise<Blob> {
  const contentType = entry.headers.find(([name]) => name === 'content-type')?.[1]
  const packed = await packBody(bytes, codec, contentType)
  const { data } = packed
  const blob = { codec: packed.codec, crc: crc32(data), packedBytes: data.length }
  if (data.length <= PART_BYTES) return { ...blob, data, upload: undefined }
  const upload = await tables.beginUpload(clock.nowMs())
  for (let number = 0; number * PART_BYTES < data.length; number += 1) {
    await tables.writePart(upload, number, data.subarray(number * PART_BYTES, (number + 1) * PART_BYTES))
  }
  return { ...blob, data: undefined, upload }
}

function gone(location: string): CrawlError {
  const problem = 'expected a body to stay while its page is written, found that others delete it each time'
  return new CrawlError('STORE_UNAVAILABLE', { context: { location, problem } })
}

async function readStats(tables: CacheTables): Promise<CacheStats> {
  const { rows, blobs, bodyBytes, packedBytes, bytes, oldestMs, newestMs, counts, hosts } = await tables.totals()
  return { entries: rows, bodies: blobs, bodyBytes, packedBytes, diskBytes: bytes, oldestMs, newestMs, counts, hosts }
}
