/** The collections of the download cache in MongoDB, what lies in them, and how they are made. */

import type { Binary, Collection, Db } from 'mongodb'
import type { CacheRow } from '../../../cache/tables/tables.ts'
import { CrawlError } from '../../../core/errors.ts'
import { isDuplicateKey, unavailable } from '../errors.ts'
import type { Server } from '../server.ts'

/** `_id`: the key. */
export interface PageDoc extends Omit<CacheRow, 'key' | 'digest'> {
  readonly _id: string
  /** Of the blob; null: the body is empty. */
  readonly digest: string | null
}

/** `_id`: the digest. */
export interface BlobDoc {
  readonly _id: string
  readonly codec: number
  readonly crc: number
  readonly packedBytes: number
  /** What is small enough; else the parts of `upload` are the data: a document ends at 16 MB. */
  readonly data?: Binary
  readonly upload?: string
  /** Changes whenever somebody who puts a page counts on the blob: see put-page.ts. */
  readonly touch: string
}

/** `_id`: upload and number. */
export interface PartDoc {
  readonly _id: string
  readonly upload: string
  readonly data: Binary
}

/** `_id`: the upload. Of parts that belong to no blob, or whose blob is being deleted. */
export interface UploadDoc {
  readonly _id: string
  readonly begunMs: number
}

/** `_id`: what is counted. */
export interface CountDoc {
  readonly _id: string
  readonly n: number
}

export interface CacheCollections {
  readonly pages: Collection<PageDoc>
  readonly blobs: Collection<BlobDoc>
  readonly parts: Collection<PartDoc>
  readonly uploads: Collection<UploadDoc>
  readonly counts: Collection<CountDoc>
}

/** What every step works with. */
export interface CacheDatabase extends CacheCollections {
  readonly server: Server
}

/** Grows when an older version could not read what this one writes. */
const FORMAT = 1

export function collectionsOf(db: Db, prefix: string): CacheCollections {
  return {
    pages: db.collection(`${prefix}cache_pages`),
    blobs: db.collection(`${prefix}cache_blobs`),
    parts: db.collection(`${prefix}cache_parts`),
    uploads: db.collection(`${prefix}cache_uploads`),
    counts: db.collection(`${prefix}cache_counts`),
  }
}

/** Throws STORE_FORMAT_MISMATCH, STORE_UNAVAILABLE when there is none and none is to be made. */
export async function prepareCache(server: Server, collections: CacheCollections, create: boolean): Promise<void> {
  const { place, ride } = server
  const { counts, pages, blobs, parts } = collections
  const read = (): Promise<CountDoc | null> => ride(() => counts.findOne({ _id: 'format' }))
  let found = await read()
  if (found === null && !create) {
    throw unavailable(place, 'it holds no download cache; spoor crawl makes one, and so does spoor cache import')
  }
  if (found === null) {
    await ride(() => counts.insertOne({ _id: 'format', n: FORMAT })).catch(unlessDuplicate)
    found = await read()
  }
  if (found?.n !== FORMAT) {
    const context = { location: place.location, found: `${found?.n ?? 'none'} of its download cache`, expected: FORMAT }
    throw new CrawlError('STORE_FORMAT_MISMATCH', { context })
  }
  if (!create) return
  await ride(() => pages.createIndex({ checkedAtMs: 1 }))
  await ride(() => pages.createIndex({ usedHour: 1, _id: 1 }))
  await ride(() => pages.createIndex({ digest: 1 }))
  await ride(() => blobs.createIndex({ upload: 1 }, { sparse: true })).catch(() => undefined)
  await ride(() => parts.createIndex({ upload: 1 }))
}

function unlessDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error
}
