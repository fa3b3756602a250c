/** A download cache on a real server of MongoDB's protocol for tests, in a database of its own. */

import { Binary, type Collection, MongoClient } from 'mongodb'
import { openMongodbCache } from '../../src/stores/mongodb/cache/open.ts'
import { seededRandom } from '../../src/util/random.ts'
import { freshUrl } from './mongodb.ts'
import type { ServerCache } from './server-cache.ts'

export interface MongoTestCache extends ServerCache {
  readonly url: string
}

interface Kept {
  readonly _id: string
  readonly data?: Binary
  readonly upload?: string
  readonly digest?: string
}

export async function mongodbCache(server: string, maxBytes?: number): Promise<MongoTestCache> {
  const { url, database, drop } = await freshUrl(server)
  return {
    url,
    drop,
    open: (clock) =>
      openMongodbCache({ url, clock, random: seededRandom(1), ...(maxBytes === undefined ? {} : { maxBytes }) }),
    change: async (key, how) => {
      const client = new MongoClient(server)
      const db = client.db(database)
      try {
        const page = await db.collection<Kept>('spoor_cache_pages').findOne({ _id: key })
        const blobs = db.collection<Kept>('spoor_cache_blobs')
        const parts = db.collection<Kept>('spoor_cache_parts')
        const blob = await blobs.findOne({ _id: page?.digest ?? '' })
        const all = await parts.find({ upload: blob?.upload ?? '' }).toArray()
        const part = all[Math.floor(all.length / 2)]
        await changeData(part === undefined ? blobs : parts, part ?? blob, how)
      } finally {
        await client.close()
      }
    },
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
