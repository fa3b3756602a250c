/** Opens the PostgreSQL store: one frontier, its items and small state, shared by any number of machines. */

import type { Store } from '../contract.ts'
import { openStoreAs } from './open.ts'
import type { PostgresStoreOptions } from './open.ts'

export type { PostgresStoreOptions } from './open.ts'

/**
 * Makes the tables where there are none, and takes back the leases of processes that died on this machine. Rejects with
 * CONFIG_INVALID, PEER_MISSING, STORE_UNAVAILABLE or STORE_FORMAT_MISMATCH. Afterwards a lost connection is ridden out for
 * a minute before anything rejects with STORE_UNAVAILABLE.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { store } = await openStoreAs(options)
  return store
}
