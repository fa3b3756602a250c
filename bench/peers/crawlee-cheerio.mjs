/** Crawlee as most people run it: CheerioCrawler and enqueueLinks, in memory. */

import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio'
import { readJob } from './links.mjs'

const { seeds, concurrency } = readJob()
log.setLevel(log.LEVELS.OFF)
const crawler = new CheerioCrawler(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    maxRequestRetries: 1,
    useSessionPool: false,
    requestHandler: async ({ enqueueLinks }) => {
      await enqueueLinks({ strategy: 'same-hostname' })
    },
  },
  new Configuration({ persistStorage: false }),
)
await crawler.run(seeds)
