/** Options of the download cache and of WARC. */

import { choice, duration, size, text } from '../option-row.ts'
import { CACHED, CRAWL } from './commands.ts'

const DAY_MS = 86_400_000

export const CACHE = {
  cache: choice({
    flag: 'cache',
    choices: ['on', 'http', 'refresh', 'offline', 'off'],
    default: 'on',
    group: 'Cache',
    on: ['crawl', 'run', 'fetch', 'shell'],
    doc: 'How the download cache is used. on: pages younger than the TTL are served, older ones asked for again; http: by RFC 9111; refresh: fetched anew; offline: the cache only; off.',
  }),
  cacheStore: choice({
    flag: 'cache-store',
    choices: ['sqlite', 'files', 'shared'],
    default: undefined,
    defaultText: 'shared with --store; else what is in --dir, or sqlite',
    group: 'Cache',
    on: CACHED,
    doc: 'Where downloads are kept. sqlite: packed, in --dir; files: a readable file per page, in --dir; shared: in the --store, for all machines.',
  }),
  cacheTtlMs: duration({
    flag: 'cache-ttl',
    default: 30 * DAY_MS,
    group: 'Cache',
    on: CACHED,
    doc: 'Age after which a cached page is asked for again, and `spoor cache prune` deletes it.',
  }),
  cacheMaxBytes: size({
    flag: 'cache-max',
    default: undefined,
    min: 1,
    group: 'Cache',
    on: CACHED,
    doc: 'Largest size of the cache; the least recently used pages go first. Shared in Redis, which keeps it in memory: 1gb, or a quarter of its maxmemory.',
  }),
  cacheCodec: choice({
    flag: 'cache-codec',
    choices: ['brotli', 'zlib', 'zstd', 'none'],
    default: undefined,
    defaultText: 'brotli in a --store; in --dir zstd where Node has it (22.15), else brotli',
    group: 'Cache',
    on: CACHED,
    doc: 'How new pages of the cache are packed; those that are there stay readable, those of zstd by Node 22.15 and later. With --cache-store files pages stay as they are.',
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
