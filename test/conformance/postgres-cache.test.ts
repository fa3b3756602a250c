/** The download cache on a real PostgreSQL server passes the suite of cache stores. */

import { describe, it } from 'vitest'
import { cacheStoreSuite } from '../../src/testing/cache-suite.ts'
import { postgresCache } from '../support/postgres-cache.ts'
import { serverCacheSubject } from '../support/server-cache.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('POSTGRES')

describe.skipIf(server === undefined)('the download cache on PostgreSQL', () => {
  cacheStoreSuite({
    runner: { describe, it },
    open: async () => serverCacheSubject(await postgresCache(server ?? '')),
  })
})
