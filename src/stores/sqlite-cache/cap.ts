/** The size cap: the least recently used go in the background while pages come in. */

import { pruneCache } from './prune.ts'
import { type CacheState, usedBytes } from './state.ts'

/** Beyond the cap by this factor, writers wait for the eviction. */
const CAP_SLACK = 1.1
/** The background evicts a little more than it must, so that it does not start anew with every page. */
const CAP_TARGET = 0.9
/** How much is written between two looks at the size. */
const CHECK_BYTES = 1024 * 1024

export interface Cap {
  /** Waits while the store is much too large. */
  room(): Promise<void>
  wrote(bytes: number): void
  stop(): Promise<void>
}

/** Keeps the file under its cap while pages come in. */
export function createCap(state: CacheState, maxBytes: number | undefined): Cap {
  const stopper = new AbortController()
  let unseen = CHECK_BYTES
  let evicting: Promise<void> | undefined
  const evict = async (limit: number): Promise<void> => {
    try {
      await pruneCache(state, { maxBytes: limit * CAP_TARGET, signal: stopper.signal })
    } catch {
      // the next write meets the same fault and tells it
    } finally {
      evicting = undefined
    }
  }
  return {
    room: async () => {
      if (evicting !== undefined && maxBytes !== undefined && usedBytes(state.database) > maxBytes * CAP_SLACK) {
        await evicting
      }
    },
    wrote: (bytes) => {
      unseen += bytes
      if (maxBytes === undefined || unseen < Math.min(CHECK_BYTES, maxBytes / 16)) return
      unseen = 0
      if (evicting === undefined && usedBytes(state.database) > maxBytes) evicting = evict(maxBytes)
    },
    stop: async () => {
      stopper.abort()
      await evicting
    },
  }
}
