/** Deleting bodies that no page has any more, while others may be about to use them: see put-page.ts. */

import { UPLOAD_MS } from '../../../cache/tables/tables.ts'
import { chunksOf } from '../server.ts'
import type { BlobDoc, CacheDatabase, UploadDoc } from './documents.ts'

const BLOBS_A_COMMAND = 500
/** Of a sweep: each step reads the index of pages for so many blobs. */
const SWEPT_BLOBS = 2000
const PARALLEL = 8

type DoomedBlob = Pick<BlobDoc, '_id' | 'touch' | 'upload'>

/** Those that a page has stay. */
export async function dropBlobs(database: CacheDatabase, digests: readonly string[]): Promise<void> {
  const { server, blobs } = database
  for (const some of chunksOf([...new Set(digests)], BLOBS_A_COMMAND)) {
    const filter = some.length === 1 ? { _id: some[0] } : { _id: { $in: [...some] } }
    const found = await server.ride(() =>
      blobs.find(filter as object, { projection: { touch: 1, upload: 1 } }).toArray(),
    )
    await dropUnused(database, found)
  }
}

/** Their `touch` was read before anything here asks for pages. */
async function dropUnused(
  { server, pages, blobs, parts, uploads }: CacheDatabase,
  found: readonly DoomedBlob[],
): Promise<void> {
  const { ride } = server
  if (found.length === 0) return
  const digests = found.map(({ _id }) => _id)
  const used = new Set(await ride(() => pages.distinct('digest', { digest: { $in: digests } })))
  const doomed = found.filter(({ _id }) => !used.has(_id))
  const whole = doomed.filter(({ upload }) => upload === undefined)
  for (const some of chunksOf(whole, PARALLEL)) {
    await Promise.all(some.map(({ _id, touch }) => ride(() => blobs.deleteOne({ _id, touch }))))
  }
  for (const { _id, touch, upload } of doomed) {
    if (upload === undefined) continue
    // its parts are found by the next sweep if this ends in between
    await ride(() => uploads.updateOne({ _id: upload }, { $set: { begunMs: 0 } }, { upsert: true }))
    const { deletedCount } = await ride(() => blobs.deleteOne({ _id, touch }))
    if (deletedCount > 0) await ride(() => parts.deleteMany({ upload }))
    await ride(() => uploads.deleteOne({ _id: upload }))
  }
}

/** Where the next sweep begins. */
export interface SweepPlace {
  after: string
}

/** What writers that died have left. */
export async function sweepCache(
  database: CacheDatabase,
  place: SweepPlace,
  { nowMs, isOver }: { readonly nowMs: number; readonly isOver: () => boolean },
): Promise<void> {
  const { server, blobs, uploads } = database
  const { ride } = server
  const old = await ride(() => uploads.find({ begunMs: { $lt: nowMs - UPLOAD_MS } }).toArray())
  for (const upload of old) await dropUpload(database, upload)
  while (!isOver()) {
    const found = await ride(() =>
      blobs
        .find({ _id: { $gt: place.after } }, { projection: { touch: 1, upload: 1 } })
        .sort({ _id: 1 })
        .limit(SWEPT_BLOBS)
        .toArray(),
    )
    await dropUnused(database, found)
    const last = found.length < SWEPT_BLOBS ? undefined : found.at(-1)
    if (last === undefined) {
      place.after = ''
      return
    }
    const { _id } = last
    place.after = _id
  }
}

async function dropUpload({ server, blobs, parts, uploads }: CacheDatabase, { _id }: UploadDoc): Promise<void> {
  const { ride } = server
  const isUsed = (await ride(() => blobs.findOne({ upload: _id }, { projection: { _id: 1 } }))) !== null
  if (!isUsed) await ride(() => parts.deleteMany({ upload: _id }))
  await ride(() => uploads.deleteOne({ _id }))
}
