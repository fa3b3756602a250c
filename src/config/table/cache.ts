/** Options of the download cache and of WARC. */

import { choice, duration, size, text } from '../option-row.ts'
import { CRAWL } from './commands.ts'

const DAY_MS = 86_400_000

export const CACHE = {
  cache: choice({
    flag: 'cache',
    choices: ['on', 'http', 'refresh', 'offline', 'off'],
    default: 'off',
    onlyFor: ['off'],
    group: 'Cache',
    on: CRAWL,
    doc: 'How the download cache is used.',
  }),
  cacheStore: choice({
    flag: 'cache-store',
    choices: ['sqlite', 'files'],
    default: 'sqlite',
    onlyFor: [],
    group: 'Cache',
    on: CRAWL,
    doc: 'Packed, or a readable file per page.',
  }),
  cacheTtlMs: duration({
    flag: 'cache-ttl',
    default: 30 * DAY_MS,
    onlyFor: [],
    group: 'Cache',
    on: CRAWL,
    doc: 'Age after which a cached page is fetched again.',
  }),
  cacheMaxBytes: size({
    flag: 'cache-max',
    default: undefined,
    min: 1,
    onlyFor: [],
    group: 'Cache',
    on: CRAWL,
    doc: 'Largest size of the cache.',
  }),
  warc: text({
    flag: 'warc',
    placeholder: 'FILE|DIR',
    default: undefined,
    onlyFor: [],
    group: 'Cache',
    on: CRAWL,
    doc: 'Also write WARC 1.1.',
  }),
} as const
