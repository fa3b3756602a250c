/** The collections of the MongoDB store: their format and their indexes, made when they are not there. */

import { CrawlError } from '../../core/errors.ts'
import { FORMAT } from './documents.ts'
import type { Kind } from './documents.ts'
import { isDuplicateKey, isNotImplemented } from './errors.ts'
import type { Server } from './server.ts'

interface Index {
  readonly kind: Kind
  readonly key: Readonly<Record<string, 1>>
  /** Only documents with this field are in it. */
  readonly only?: string
}

/** One document a list place; one document a request or item of a task in the order of ids. */
const INDEXES: readonly Index[] = [
  { kind: 'requests', key: { 'd.q': 1, 'd.a': 1, 'd.b': 1, 'd.c': 1 }, only: 'd.q' },
  { kind: 'requests', key: { 'd.t': 1, 'd.id': 1 } },
  { kind: 'requests', key: { 'd.t': 1, 'd.s': 1, 'd.id': 1 } },
  { kind: 'queues', key: { 'd.q': 1, 'd.a': 1, 'd.b': 1, 'd.c': 1 }, only: 'd.q' },
  { kind: 'queues', key: { 'd.t': 1 } },
  { kind: 'items', key: { 'd.t': 1, 'd.seq': 1 } },
  { kind: 'links', key: { 'd.t': 1 } },
  { kind: 'levels', key: { 'd.t': 1 } },
]

/** False: the database holds no store under this prefix yet. Rejects with STORE_FORMAT_MISMATCH. */
export async function checkFormat(server: Server, { readOnly }: { readonly readOnly: boolean }): Promise<boolean> {
  const head = server.collection('head')
  const read = (): Promise<unknown> => server.ride(() => head.findOne({ _id: 'format' }))
  let raw = await read()
  if (raw === null && !readOnly) {
    const fresh = { _id: 'format', n: FORMAT }
    await server
      .ride(() => head.insertOne(fresh as never))
      .catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error
      })
    raw = await read()
  }
  if (raw === null) return false
  const found = (raw as { n?: unknown }).n
  if (found === FORMAT) return true
  const context = { location: server.place.location, found: String(found), expected: FORMAT }
  throw new CrawlError('STORE_FORMAT_MISMATCH', { context })
}

export async function prepareCollections(server: Server): Promise<void> {
  for (const index of INDEXES) await createIndex(server, index)
}

async function createIndex(server: Server, { kind, key, only }: Index): Promise<void> {
  const collection = server.collection(kind)
  if (only !== undefined) {
    const partialFilterExpression = { [only]: { $exists: true } }
    try {
      await server.ride(() => collection.createIndex({ ...key }, { partialFilterExpression }))
      return
    } catch (error) {
      // FerretDB has no partial indexes.
      if (!isNotImplemented(error)) throw error
    }
  }
  await server.ride(() => collection.createIndex({ ...key }))
}
