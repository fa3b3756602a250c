/** The download cache on a real Redis server passes the suite of cache stores. */

import { describe, it } from 'vitest'
import { cacheStoreSuite } from '../../src/testing/cache-suite.ts'
import { redisCache } from '../support/redis-cache.ts'
import { serverCacheSubject } from '../support/server-cache.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('REDIS')

describe.skipIf(server === undefined)('the download cache on Redis', () => {
  cacheStoreSuite({
    runner: { describe, it },
    open: () => serverCacheSubject(redisCache(server ?? '')),
  })
})
