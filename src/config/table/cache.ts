/** Options of the download cache and of WARC. */

import { choice, duration, size, text } from '../option-row.ts'
import { CRAWL } from './commands.ts'

const DAY_MS = 86_400_000

export const CACHE = {
  cache: choice({
    flag: 'cache',
    choices: ['on', 'http', 'refresh', 'offline', 'off'],
    default: 'on',
    group: 'Cache',
    on: CRAWL,
    doc: 'on: younger than the TTL is served, older asked for again; http: by RFC 9111; refresh: fetched anew; offline: the cache only; off.',
  }),
  cacheStore: choice({
    flag: 'cache-store',
    choices: ['sqlite', 'files'],
    default: 'sqlite',
    group: 'Cache',
    on: CRAWL,
    doc: 'Packed, or a readable file per page.',
  }),
  cacheTtlMs: duration({
    flag: 'cache-ttl',
    default: 30 * DAY_MS,
    group: 'Cache',
    on: CRAWL,
    doc: 'Age after which a cached page is fetched again.',
  }),
  cacheMaxBytes: size({
    flag: 'cache-max',
    default: undefined,
    min: 1,
    group: 'Cache',
    on: CRAWL,
    doc: 'Largest size of the cache.',
  }),
  warc: text({
    flag: 'warc',
    placeholder: 'FILE|DIR',
    default: undefined,
    group: 'Cache',
    on: CRAWL,
    doc: 'Also write WARC 1.1.',
  }),
} as const
