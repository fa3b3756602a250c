/** The download cache on a real server of MongoDB's protocol passes the suite of cache stores. */

import { describe, it } from 'vitest'
import { cacheStoreSuite } from '../../src/testing/cache-suite.ts'
import { mongodbCache } from '../support/mongodb-cache.ts'
import { serverCacheSubject } from '../support/server-cache.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('MONGODB')

describe.skipIf(server === undefined)('the download cache on MongoDB', () => {
  cacheStoreSuite({
    runner: { describe, it },
    open: async () => serverCacheSubject(await mongodbCache(server ?? '')),
  })
})
