/** Opens the download cache in a PostgreSQL database. */

import { type CodecName, COMMON_CODEC } from '../../../cache/codec.ts'
import type { CacheStore } from '../../../cache/contract.ts'
import { createTableCache } from '../../../cache/tables/store.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Random } from '../../../util/random.ts'
import { parseAddress } from '../address.ts'
import { connect, type Connection } from '../connection.ts'
import { loadDriver } from '../driver.ts'
import { createLink } from '../link.ts'
import { reachServer } from '../open.ts'
import { prepareCache, requireCache } from './schema.ts'
import { createPostgresTables } from './tables.ts'

export interface PostgresCacheOptions {
  /** As of the store. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  /** Size cap of pages and bodies: the least recently used go, in the background. Default: none. */
  readonly maxBytes?: number
  /** How new bodies are packed. Default: brotli. */
  readonly codec?: CodecName
  /** Make the tables where there are none. Default true; false: their absence is STORE_UNAVAILABLE. */
  readonly create?: boolean
}

/** Rejects as `openPostgresStore` does. */
export async function openPostgresCache(options: PostgresCacheOptions): Promise<CacheStore> {
  const { url, clock, random, maxBytes, codec = COMMON_CODEC, create = true } = options
  const address = parseAddress(url)
  const driver = await loadDriver()
  const connectTo = (): Promise<Connection> => connect({ driver, address, name: 'spoor cache', readOnly: false, clock })
  const { location } = address
  await reachServer({ connectTo, location, clock }, (connection) =>
    (create ? prepareCache : requireCache)(connection, address),
  )
  const link = createLink({ connect: connectTo, clock, random, location, readOnly: false })
  return createTableCache({ tables: createPostgresTables(link, location), clock, maxBytes, codec })
}
