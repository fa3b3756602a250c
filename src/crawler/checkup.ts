/** Whether the parts that a crawl needs can be had on this machine. */

import { openStoreForReading, openStoreForWriting, storeExists } from './compose.ts'
import type { StoreLocation } from './contract.ts'

export { browserPath, sqliteVersion } from './compose.ts'

/**
 * Names of the crawls in the store; undefined: the folder has none. A shared store is opened for writing, which makes its
 * tables where they are missing. Rejects with STORE_… and PEER_MISSING.
 */
export async function storeTasks(location: StoreLocation): Promise<readonly string[] | undefined> {
  if (location.store === undefined && !storeExists(location)) return undefined
  const store = await (location.store === undefined ? openStoreForReading(location) : openStoreForWriting(location))
  try {
    return await store.tasks()
  } finally {
    await store.close()
  }
}
