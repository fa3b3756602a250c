/** A crawler over stores that its caller has opened: used as they are, and left open. */

import { describe, expect, it } from 'vitest'
import { Crawler } from '../../../src/crawler/crawler.ts'
import { openMongodbCache, openMongodbStore } from '../../../src/stores/mongodb/index.ts'
import { openPostgresCache, openPostgresStore } from '../../../src/stores/postgres/index.ts'
import { openRedisCache, openRedisStore } from '../../../src/stores/redis/index.ts'
import { treeSite } from '../../../src/testing/site-shapes.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'
import { freshStore } from '../../support/server-url.ts'
import { serviceUrl } from '../../support/services.ts'

const SERVERS = [
  { kind: 'POSTGRES', openStore: openPostgresStore, openCache: openPostgresCache },
  { kind: 'REDIS', openStore: openRedisStore, openCache: openRedisCache },
  { kind: 'MONGODB', openStore: openMongodbStore, openCache: openMongodbCache },
] as const

describe.each(SERVERS)('a crawler over opened stores on $kind', ({ kind, openStore, openCache }) => {
  const server = serviceUrl(kind)

  it.skipIf(server === undefined)(
    'crawls with them and leaves them open',
    async () => {
      await using place = await freshStore(kind, server ?? '')
      await using folder = await openTemporaryFolder()
      await using store = await openStore({ url: place.url })
      await using cacheStore = await openCache({ url: place.url })
      const shape = treeSite(12, 3)
      await using site = await openTestSite(shape.handler)
      const crawl = (task: string): ReturnType<Crawler['run']> =>
        new Crawler({ dir: folder.path, store, cacheStore, task }).run(site.url(shape.seed))
      expect(await crawl('one')).toMatchObject({ pages: 12, fromCache: 0 })
      expect(await crawl('two')).toMatchObject({ pages: 12, fromCache: 12 })
      expect((await store.tasks()).toSorted()).toEqual(['one', 'two'])
      expect((await store.items.read('two', 0, 100)).length).toBe(12)
      expect(await cacheStore.stats()).toMatchObject({ entries: 12 })
      // with the cache switched off the opened one is not asked
      site.clearLog()
      const off = new Crawler({ dir: folder.path, store, cacheStore, task: 'three', cache: 'off' })
      expect(await off.run(site.url(shape.seed))).toMatchObject({ pages: 12, fromCache: 0 })
    },
    60_000,
  )
})

it('refuses what is neither a URL nor a store', () => {
  expect(() => new Crawler({ store: 7 as unknown as string })).toThrow(/store: expected/)
  expect(() => new Crawler({ cacheStore: 'here' as 'sqlite' })).toThrow(/cacheStore: expected/)
})
