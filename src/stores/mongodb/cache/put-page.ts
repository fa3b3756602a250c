/** Putting a page where no step can change more than one document. */

import { randomUUID } from 'node:crypto'
import type { Binary } from 'mongodb'
import type { Blob, CacheRow } from '../../../cache/tables/tables.ts'
import { isDuplicateKey } from '../errors.ts'
import type { CacheDatabase } from './documents.ts'
import { dropBlobs } from './drop-blobs.ts'

export type ToBinary = (data: Uint8Array) => Binary

/** Two who insert the same id at once: one of them is told that it is there, and finds it the next time. */
const MAX_RACES = 5

interface Putting {
  readonly database: CacheDatabase
  readonly toBinary: ToBinary
}

/**
 * A document at a time, in an order that loses nothing: the blob, then the page, then the blob once more. Who deletes a
 * blob reads its `touch`, looks for pages that have it, and deletes it only if `touch` is still the same. So either it sees
 * the page, or it is in vain, or the last step finds no blob and says so.
 */
export async function putPage(
  { database, toBinary }: Putting,
  row: CacheRow,
  blob: Blob | undefined,
): Promise<boolean> {
  const { server, pages, blobs } = database
  const { key, digest, ...page } = row
  if (digest !== undefined && !(await claimBlob({ database, toBinary }, digest, blob))) return false
  const document = { ...page, digest: digest ?? null }
  const before = await racing(() =>
    server.ride(() => pages.findOneAndReplace({ _id: key }, document, { upsert: true, returnDocument: 'before' })),
  )
  if (digest !== undefined) {
    const again = await server.ride(() => blobs.updateOne({ _id: digest }, { $set: { touch: randomUUID() } }))
    if (again.matchedCount === 0) return false
  }
  const old = before?.digest ?? undefined
  if (old !== undefined && old !== digest) await dropBlobs(database, [old])
  return true
}

/** False: there is none, and none was given. */
async function claimBlob({ database, toBinary }: Putting, digest: string, blob: Blob | undefined): Promise<boolean> {
  const { server, blobs, parts, uploads } = database
  const touch = randomUUID()
  const touched = await server.ride(() => blobs.updateOne({ _id: digest }, { $set: { touch } }))
  const isThere = touched.matchedCount > 0
  if (blob === undefined) return isThere
  const { codec, crc, packedBytes, data, upload } = blob
  if (!isThere) {
    const place = {
      ...(data === undefined ? {} : { data: toBinary(data) }),
      ...(upload === undefined ? {} : { upload }),
    }
    const fields = { codec, crc, packedBytes, ...place }
    await racing(() =>
      server.ride(() => blobs.updateOne({ _id: digest }, { $set: { touch }, $setOnInsert: fields }, { upsert: true })),
    )
  }
  if (upload === undefined) return true
  const kept = await server.ride(() => blobs.findOne({ _id: digest }, { projection: { upload: 1 } }))
  // another's is kept, or the blob was deleted meanwhile: nobody has these parts, and who tries again sends new ones
  if (kept?.upload !== upload) await server.ride(() => parts.deleteMany({ upload }))
  await server.ride(() => uploads.deleteOne({ _id: upload }))
  return kept !== null
}

async function racing<T>(command: () => Promise<T>): Promise<T> {
  for (let race = 1; ; race += 1) {
    try {
      return await command()
    } catch (error) {
      if (!isDuplicateKey(error) || race === MAX_RACES) throw error
    }
  }
}
