/** Seeds without an end: a crawl with a page limit ends all the same. */

import { expect, it } from 'vitest'
import { Crawler } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'

it('end with the page limit', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(() => ({ body: '<p>here</p>' }))
  let given = 0
  function* endless() {
    for (;;) yield site.url(`/p${given++}`)
  }
  const crawler = new Crawler({ dir: folder.path, maxRequestsPerCrawl: 5 })
  expect(await crawler.run(endless())).toMatchObject({ finishReason: 'max-pages', pages: 5 })
  expect(given).toBeGreaterThanOrEqual(5)
})
