/** The size cap of a cache on a server: the least recently used go in the background while pages come in. */

import type { Clock } from '../../core/clock.ts'
import { pruneTables } from './prune.ts'
import type { CacheTables } from './tables.ts'

/** Beyond the cap by this factor, writers wait for the eviction. */
const CAP_SLACK = 1.1
/** The background evicts a little more than it must, so that it does not start anew with every page. */
const CAP_TARGET = 0.9
/** How much is written between two looks at the size. */
const CHECK_BYTES = 1024 * 1024

export interface Cap {
  /** Waits while the cache is much too large. */
  room(): Promise<void>
  wrote(bytes: number): void
  stop(): Promise<void>
}

export interface CapOptions {
  readonly tables: CacheTables
  readonly clock: Clock
  /** Undefined: there is none. */
  readonly maxBytes: number | undefined
}

/** Every process that writes looks at the size by itself: they need not know of each other. */
export function createCap({ tables, clock, maxBytes }: CapOptions): Cap {
  const stopper = new AbortController()
  let unseen = CHECK_BYTES
  let isMuchTooLarge = false
  let evicting: Promise<void> | undefined
  const evict = async (limit: number): Promise<void> => {
    try {
      const { bytes } = await tables.size()
      isMuchTooLarge = bytes > limit * CAP_SLACK
      if (bytes > limit) await pruneTables({ tables, clock }, { maxBytes: limit * CAP_TARGET, signal: stopper.signal })
    } catch {
      // the next write meets the same fault and tells it
    } finally {
      isMuchTooLarge = false
      evicting = undefined
    }
  }
  return {
    room: async () => {
      if (isMuchTooLarge) await evicting
    },
    wrote: (bytes) => {
      unseen += bytes
      if (maxBytes === undefined || evicting !== undefined) return
      if (unseen < Math.min(CHECK_BYTES, maxBytes / 16)) return
      unseen = 0
      evicting = evict(maxBytes)
    },
    stop: async () => {
      stopper.abort()
      await evicting
    },
  }
}
