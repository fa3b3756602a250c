/** node-crawler without jQuery; discovery and a seen-set of our own, since it has neither. */

import Crawler from 'crawler'
import { linksOf, readJob } from './links.mjs'

const { seeds, concurrency, hosts } = readJob()
const seen = new Set(seeds)
const crawler = new Crawler({
  maxConnections: concurrency,
  jQuery: false,
  retries: 0,
  silence: true,
  callback(error, response, done) {
    if (error === null && response.statusCode === 200 && response.headers['content-type'].startsWith('text/html')) {
      for (const link of linksOf(String(response.body), response.options.url, hosts)) {
        if (seen.has(link)) continue
        seen.add(link)
        crawler.add(link)
      }
    }
    done()
  },
})
crawler.add(seeds)
