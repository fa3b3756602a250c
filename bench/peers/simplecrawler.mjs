/** simplecrawler with keep-alive and a discovery of `<a href>` of our own in place of its regular expressions. */

import { Agent } from 'node:http'
import Crawler from 'simplecrawler'
import { linksOf, readJob } from './links.mjs'

const { seeds, concurrency, hosts } = readJob()
const crawler = new Crawler(seeds[0])
crawler.maxConcurrency = concurrency
crawler.interval = 1
crawler.respectRobotsTxt = false
crawler.maxResourceSize = 64 * 1024 * 1024
crawler.httpAgent = new Agent({ keepAlive: true, maxSockets: concurrency })
crawler.domainWhitelist = [...hosts].map((host) => host.split(':')[0])
crawler.discoverResources = (body, { url }) => [...linksOf(body.toString(), url, hosts)]
for (const seed of seeds.slice(1)) crawler.queueURL(seed)
crawler.on('complete', () => crawler.httpAgent.destroy())
crawler.start()
