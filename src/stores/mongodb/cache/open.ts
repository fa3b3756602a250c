/** Opens the download cache in a MongoDB database. */

import { type CodecName, COMMON_CODEC } from '../../../cache/codec.ts'
import type { CacheStore } from '../../../cache/contract.ts'
import { createTableCache } from '../../../cache/tables/store.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Random } from '../../../util/random.ts'
import { storeError } from '../errors.ts'
import { parsePlace } from '../place.ts'
import { connect } from '../store.ts'
import { collectionsOf, prepareCache } from './documents.ts'
import { createMongoTables } from './tables.ts'

export interface MongoCacheOptions {
  /** As of the store. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  /** Size cap of pages and bodies: the least recently used go, in the background. Default: none. */
  readonly maxBytes?: number
  /** How new bodies are packed. Default: brotli. */
  readonly codec?: CodecName
  /** Make the collections where there are none. Default true; false: their absence is STORE_UNAVAILABLE. */
  readonly create?: boolean
}

/** Rejects as `openMongodbStore` does. */
export async function openMongodbCache(options: MongoCacheOptions): Promise<CacheStore> {
  const { url, clock, random, maxBytes, codec = COMMON_CODEC, create = true } = options
  const place = parsePlace(url)
  const server = await connect(place, { clock, random })
  try {
    const collections = collectionsOf(server.db, place.prefix)
    await prepareCache(server, collections, create)
    const tables = await createMongoTables({ server, ...collections })
    return createTableCache({ tables, clock, maxBytes, codec })
  } catch (error) {
    await server.close().catch(() => undefined)
    throw storeError(error, place)
  }
}
