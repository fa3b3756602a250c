/** The npm binding of spider (Rust). */

import { Website } from '@spider-rs/spider-rs'
import { readJob } from './links.mjs'

const { seeds } = readJob()
const website = new Website(seeds[0])
  .withRespectRobotsTxt(false)
  .withSubdomains(false)
  .withTld(false)
  .withDelay(0)
  .build()
await website.crawl()
