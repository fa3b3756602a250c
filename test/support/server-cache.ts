/** A download cache on a real server, as the suite of cache stores needs it. */

import type { CacheStore } from '../../src/cache/contract.ts'
import { cacheKeyOf } from '../../src/cache/key.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { CacheSuiteSubject } from '../../src/testing/cache-suite.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'

/** What only the server in question can do. */
export interface ServerCache {
  open(clock: Clock): Promise<CacheStore>
  /** Changes the data of a page's body behind the cache's back: of the part in its middle. */
  change(key: string, how: (data: Buffer) => Buffer): Promise<void>
  /** Removes everything that was made. */
  drop(): Promise<void>
}

export async function serverCacheSubject(server: ServerCache): Promise<CacheSuiteSubject> {
  const clock = createFakeClock()
  const opened: CacheStore[] = []
  const openOne = async (): Promise<CacheStore> => {
    const store = await server.open(clock)
    opened.push(store)
    return store
  }
  const store = await openOne()
  return {
    store,
    keyOf: (url) => cacheKeyOf({ url }),
    nowMs: () => clock.nowMs(),
    advance: (ms) => clock.advance(ms),
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
