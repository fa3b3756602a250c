/** A download cache on a real server, as the suite of cache stores needs it. */

import type { CacheStore } from '../../src/cache/contract.ts'
import { cacheKeyOf } from '../../src/cache/key.ts'
import type { Clock } from '../../src/core/clock.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { CacheSuiteSubject } from '../../src/testing/cache-suite.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'

/** What lies on the server itself, counted row by row, whatever the cache says of it. */
export interface CacheContents {
  readonly pages: number
  readonly blobs: number
  /** Of all pages. */
  readonly bodyBytes: number
  /** Of all blobs. */
  readonly packedBytes: number
  /** Pieces of large bodies that belong to no blob: under way, or left by a writer that died. */
  readonly looseParts: number
  /** Uploads that the server knows of. */
  readonly uploads: number
}

/** What only the server in question can do. */
export interface ServerCache {
  /** Names it for other processes. */
  readonly url: string
  open(clock: Clock): Promise<CacheStore>
  /** Changes the data of a page's body behind the cache's back: of the part in its middle. */
  change(key: string, how: (data: Buffer) => Buffer): Promise<void>
  contents(): Promise<CacheContents>
  /** Uploads that have begun to come and belong to no body yet; asked so lightly that a writer can be caught at it. */
  uploads(): Promise<readonly string[]>
  /** For a server that ends uploads by its own clock: lets them be so much older. */
  age?(ms: number): Promise<void>
  /** Removes everything that was made. */
  drop(): Promise<void>
}

export async function serverCacheSubject(server: ServerCache): Promise<CacheSuiteSubject> {
  const clock = createFakeClock()
  const opened: CacheStore[] = []
  const openOne = async (): Promise<CacheStore> => {
    // what it waits for before it asks a real server again passes really
    const store = await server.open({ ...clock, sleep: systemClock.sleep })
    opened.push(store)
    return store
  }
  const store = await openOne()
  return {
    store,
    keyOf: (url) => cacheKeyOf({ url }),
    nowMs: () => clock.nowMs(),
    advance: async (ms) => {
      await clock.advance(ms)
      await server.age?.(ms)
    },
    join: openOne,
    reopen: async () => {
      await store.close()
      return openOne()
    },
    damageBody: ({ key }) =>
      server.change(key, (data) => {
        const copy = Buffer.from(data)
        const middle = Math.floor(copy.length / 2)
        copy[middle] = (copy[middle] ?? 0) ^ 0xff
        return copy
      }),
    cutBody: ({ key }) => server.change(key, (data) => data.subarray(0, Math.floor(data.length / 2))),
    dispose: async () => {
      for (const one of opened) await one.close()
      await server.drop()
    },
  }
}
