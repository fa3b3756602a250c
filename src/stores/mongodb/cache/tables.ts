/** The download cache in MongoDB: what each of its steps asks of the server. */

import { randomUUID } from 'node:crypto'
import type { Blob, CacheRow, CacheTables } from '../../../cache/tables/tables.ts'
import { loadDriver } from '../driver.ts'
import { chunksOf } from '../server.ts'
import type { BlobDoc, CacheDatabase, PageDoc } from './documents.ts'
import { dropBlobs, sweepCache } from './drop-blobs.ts'
import { putPage, type ToBinary } from './put-page.ts'
import { readSize, readTotals } from './totals.ts'

export async function createMongoTables(database: CacheDatabase): Promise<CacheTables> {
  const { Binary } = await loadDriver()
  const toBinary: ToBinary = (data) => new Binary(data)
  const sweptTo = { after: '' }
  return {
    location: database.server.place.location,
    ...readingSteps(database),
    ...uploadSteps(database, toBinary),
    ...changingSteps(database),
    put: (row, blob) => putPage({ database, toBinary }, row, blob),
    size: () => readSize(database),
    totals: () => readTotals(database),
    sweep: (options) => sweepCache(database, sweptTo, options),
    close: () => database.server.close(),
  }
}

type ReadingSteps = Pick<CacheTables, 'find' | 'head' | 'hasBlob' | 'range' | 'checkedBefore' | 'leastUsed'>

function readingSteps({ server, pages, blobs }: CacheDatabase): ReadingSteps {
  const { ride } = server
  return {
    find: async (key) => {
      const page = await ride(() => pages.findOne({ _id: key }))
      if (page === null) return undefined
      const { digest } = page
      const blob = digest === null ? null : await ride(() => blobs.findOne({ _id: digest }))
      return { row: rowOf(page), blob: blob === null ? undefined : blobOf(blob) }
    },
    head: async (key) => {
      const page = await ride(() => pages.findOne({ _id: key }))
      return page === null ? undefined : rowOf(page)
    },
    hasBlob: async (digest) =>
      (await ride(() => blobs.findOne({ _id: digest }, { projection: { codec: 1 } }))) !== null,
    range: async ({ after, upTo, limit }) => {
      const filter = { _id: { $gt: after, $lte: upTo } }
      const found = await ride(() => pages.find(filter, { sort: { _id: 1 }, limit }).toArray())
      return found.map(rowOf)
    },
    checkedBefore: async (ms, limit) => {
      const filter = { checkedAtMs: { $lt: ms } }
      const found = await ride(() => pages.find(filter, { projection: { _id: 1 }, limit }).toArray())
      return found.map(({ _id }) => _id)
    },
    leastUsed: async (limit) => {
      const options = { projection: { usedHour: 1 }, sort: { usedHour: 1, _id: 1 }, limit } as const
      const found = await ride(() => pages.find({}, options).toArray())
      return found.map(({ _id, usedHour }) => ({ key: _id, usedHour }))
    },
  }
}

type UploadSteps = Pick<CacheTables, 'beginUpload' | 'writePart' | 'readPart'>

function uploadSteps({ server, parts, uploads }: CacheDatabase, toBinary: ToBinary): UploadSteps {
  const { ride } = server
  return {
    beginUpload: async (nowMs) => {
      const upload = randomUUID()
      await ride(() => uploads.updateOne({ _id: upload }, { $set: { begunMs: nowMs } }, { upsert: true }))
      return upload
    },
    writePart: async (upload, number, data) => {
      const part = { upload, data: toBinary(data) }
      await ride(() => parts.replaceOne({ _id: `${upload}:${number}` }, part, { upsert: true }))
    },
    readPart: async (upload, number) => {
      const part = await ride(() => parts.findOne({ _id: `${upload}:${number}` }))
      return part?.data.buffer
    },
  }
}

/** FerretDB bears only a hundred in one command. */
const NOTED_AT_ONCE = 50

type ChangingSteps = Pick<CacheTables, 'refresh' | 'remove' | 'forgetBlob' | 'note'>

function changingSteps(database: CacheDatabase): ChangingSteps {
  const { server, pages, blobs, parts, counts } = database
  const { ride } = server
  return {
    refresh: async (key, { usedHour, ...change }) => {
      const update = { $set: change, $max: { usedHour } }
      return (await ride(() => pages.updateOne({ _id: key }, update))).matchedCount > 0
    },
    remove: async (keys, { checkedBeforeMs, usedHourAtMost }) => {
      const filter = {
        _id: keys.length === 1 ? keys[0] : { $in: [...keys] },
        ...(checkedBeforeMs === undefined ? {} : { checkedAtMs: { $lt: checkedBeforeMs } }),
        ...(usedHourAtMost === undefined ? {} : { usedHour: { $lte: usedHourAtMost } }),
      } as object
      const doomed = await ride(() => pages.find(filter, { projection: { digest: 1 } }).toArray())
      const { deletedCount } = await ride(() => pages.deleteMany(filter))
      const digests = doomed.flatMap(({ digest }) => digest ?? [])
      await dropBlobs(database, digests)
      return deletedCount
    },
    forgetBlob: async ({ digest = '' }, blob) => {
      if (blob === undefined) return
      const { crc, upload } = blob
      const damaged = upload === undefined ? { _id: digest, crc } : { _id: digest, crc, upload }
      const { deletedCount } = await ride(() => blobs.deleteOne(damaged))
      if (deletedCount > 0 && upload !== undefined) await ride(() => parts.deleteMany({ upload }))
    },
    note: async (uses, noted) => {
      const updates = [...uses].map(([_id, usedHour]) => ({
        updateOne: { filter: { _id }, update: { $max: { usedHour } } },
      }))
      for (const some of chunksOf(updates, NOTED_AT_ONCE)) {
        await ride(() => pages.bulkWrite([...some], { ordered: false }))
      }
      for (const [name, n] of Object.entries(noted)) {
        if (n > 0) await ride(() => counts.updateOne({ _id: name }, { $inc: { n } }, { upsert: true }))
      }
    },
  }
}

function rowOf({ _id, digest, ...row }: PageDoc): CacheRow {
  return { key: _id, ...row, digest: digest ?? undefined }
}

function blobOf({ codec, crc, packedBytes, data, upload }: BlobDoc): Blob {
  return { codec, crc, packedBytes, data: data?.buffer, upload }
}
