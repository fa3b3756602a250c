/** The public opener of stores in PostgreSQL: `spoor/postgres`. Needs the package `pg`. */

import type { CacheStore } from '../../cache/contract.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { openPostgresCache as openCache } from './cache/open.ts'
import { openPostgresStore as openStore } from './store.ts'

export { postgresTable, type PostgresTableOptions } from './table-export.ts'
export type { CacheStore, Store }

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; `?prefix=` begins all names. Default `spoor_`. */
  readonly url: string
  /** Begins the name under which this process is listed. Default `worker`. */
  readonly owner?: string
  /** For looking at a crawl, also while it runs: nothing is written, no lease is taken. Default false. */
  readonly readOnly?: boolean
}

export interface PostgresCacheOptions {
  /** As of the store: the same URL is the cache of the same crawls. */
  readonly url: string
  /** Size cap in bytes: the least recently used go. Default: none. */
  readonly maxBytes?: number
}

/**
 * Opens the store for `new Crawler({ store })`, which leaves it open: close it, or say `await using`. Rejects with a CrawlError:
 * CONFIG_INVALID, PEER_MISSING without the package, STORE_UNAVAILABLE, STORE_FORMAT_MISMATCH.
 */
export function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  return openStore({ ...options, clock: systemClock, random: systemRandom })
}

/** Opens the download cache in the same place for `new Crawler({ cacheStore })`, which leaves it open. Rejects as the store does. */
export function openPostgresCache(options: PostgresCacheOptions): Promise<CacheStore> {
  return openCache({ ...options, clock: systemClock, random: systemRandom })
}
