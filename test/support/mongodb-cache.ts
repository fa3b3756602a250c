/** A download cache on a real server of MongoDB's protocol for tests, in a database of its own. */

import { Binary, type Collection, type Db, MongoClient } from 'mongodb'
import { PART_BYTES } from '../../src/cache/tables/tables.ts'
import { openMongodbCache } from '../../src/stores/mongodb/cache/open.ts'
import { seededRandom } from '../../src/util/random.ts'
import { freshUrl } from './mongodb.ts'
import type { CacheContents, ServerCache } from './server-cache.ts'

interface Kept {
  readonly _id: string
  readonly data?: Binary
  readonly upload?: string
  readonly digest?: string
  readonly bodyBytes?: number
  readonly packedBytes?: number
}

export async function mongodbCache(server: string, maxBytes?: number): Promise<ServerCache> {
  const { url, database, drop } = await freshUrl(server)
  const client = new MongoClient(server)
  const db = client.db(database)
  return {
    url,
    drop: async () => {
      await client.close()
      await drop()
    },
    open: (clock) =>
      openMongodbCache({ url, clock, random: seededRandom(1), ...(maxBytes === undefined ? {} : { maxBytes }) }),
    change: async (key, how) => {
      const page = await db.collection<Kept>('spoor_cache_pages').findOne({ _id: key })
      const blobs = db.collection<Kept>('spoor_cache_blobs')
      const parts = db.collection<Kept>('spoor_cache_parts')
      const blob = await blobs.findOne({ _id: page?.digest ?? '' })
      const all = await parts.find({ upload: blob?.upload ?? '' }).toArray()
      const part = all[Math.floor(all.length / 2)]
      await changeData(part === undefined ? blobs : parts, part ?? blob, how)
    },
    contents: () => contentsOf(db),
    uploads: () => uploadsIn(db),
  }
}

async function changeData(
  collection: Collection<Kept>,
  found: Kept | null,
  how: (data: Buffer) => Buffer,
): Promise<void> {
  if (found?.data === undefined) throw new Error('expected a body, found none')
  const { _id, data } = found
  await collection.updateOne({ _id }, { $set: { data: new Binary(how(Buffer.from(data.buffer))) } })
}

async function uploadsIn(db: Db): Promise<string[]> {
  const found = await db.collection<Kept>('spoor_cache_uploads').find().toArray()
  const begun: string[] = []
  for (const { _id } of found) {
    if ((await db.collection<Kept>('spoor_cache_parts').findOne({ _id: `${_id}:0` })) !== null) begun.push(_id)
  }
  return begun
}

async function contentsOf(db: Db): Promise<CacheContents> {
  const all = (name: string): Promise<Kept[]> =>
    db
      .collection<Kept>(`spoor_cache_${name}`)
      .find({}, { projection: { upload: 1, bodyBytes: 1, packedBytes: 1 } })
      .toArray()
  // counted, for FerretDB reads the data of all that it is asked for; and first: whoever puts a page meanwhile has more of the rest
  const parts = await db.collection('spoor_cache_parts').estimatedDocumentCount()
  const [blobs, uploads, pages] = [await all('blobs'), await all('uploads'), await all('pages')]
  const used = blobs
    .filter(({ upload }) => upload !== undefined)
    .reduce((sum, blob) => sum + Math.ceil(Number(blob.packedBytes) / PART_BYTES), 0)
  return {
    pages: pages.length,
    blobs: blobs.length,
    bodyBytes: pages.reduce((sum, page) => sum + Number(page.bodyBytes ?? 0), 0),
    packedBytes: blobs.reduce((sum, blob) => sum + Number(blob.packedBytes ?? 0), 0),
    looseParts: Math.max(0, parts - used),
    uploads: uploads.length,
  }
}
