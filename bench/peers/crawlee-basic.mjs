/** Crawlee at its fastest: BasicCrawler, undici, htmlparser2, a seen-set of our own; in memory, or with its disk queue. */

import { BasicCrawler, Configuration, log } from '@crawlee/basic'
import { Agent, request } from 'undici'
import { linksOf, readJob } from './links.mjs'

const { seeds, concurrency, durable, hosts } = readJob()
const dispatcher = new Agent({ connections: concurrency, keepAliveTimeout: 60_000 })
const seen = new Set(seeds)
log.setLevel(log.LEVELS.OFF)

const crawler = new BasicCrawler(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    maxRequestRetries: 1,
    useSessionPool: false,
    async requestHandler({ request: { url } }) {
      const { statusCode, headers, body } = await request(url, { dispatcher })
      const isPage = statusCode === 200 && String(headers['content-type']).startsWith('text/html')
      const text = await body.text()
      if (!isPage) return
      const fresh = [...linksOf(text, url, hosts)].filter((link) => !seen.has(link))
      for (const link of fresh) seen.add(link)
      if (fresh.length > 0) await crawler.addRequests(fresh, { waitForAllRequestsToBeAdded: true })
    },
  },
  new Configuration({ persistStorage: durable, purgeOnStart: !durable, systemInfoV2: true }),
)
await crawler.run(seeds)
await dispatcher.close()
