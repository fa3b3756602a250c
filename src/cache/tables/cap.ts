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
  // as seen at the last look, and what was written since: an eviction may take longer than many writes
  let seenBytes = 0
  let writtenSince = 0
  let evicting: Promise<void> | undefined
  const evict = async (limit: number): Promise<void> => {
    try {
      writtenSince = 0
      const { bytes } = await tables.size()
      seenBytes = bytes
      if (bytes > limit) await pruneTables({ tables, clock }, { maxBytes: limit * CAP_TARGET, signal: stopper.signal })
    } catch {
      // the next write meets the same fault and tells it
    } finally {
      seenBytes = 0
      evicting = undefined
    }
  }
  return {
    room: async () => {
      if (maxBytes !== undefined && seenBytes + writtenSince > maxBytes * CAP_SLACK) await evicting
    },
    wrote: (bytes) => {
      unseen += bytes
      writtenSince += bytes
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
