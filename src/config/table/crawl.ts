/** Options that say what is crawled, how far and how politely. */

import { choice, count, duration, list, optionalWord, processCount, size, text, toggle } from '../option-row.ts'
import { parseChoice, parseHttpOption, parseRegex, parseText } from '../parse.ts'
import { parseRecrawl } from '../recrawl.ts'
import { CRAWL, HTTP } from './commands.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const KB = 1_024
const MB = 1_048_576

/** As src/url/identity.ts has them: a test compares the two. */
export const IDENTITY_RULES = [
  'drop-session-ids',
  'drop-tracking',
  'sort-query',
  'strip-www',
  'strip-trailing-slash',
] as const

const SEED_SKIPS = ['cached', 'known'] as const

export const WHAT = {
  seedFiles: list({
    flag: 'seeds',
    placeholder: 'FILE',
    parse: parseText,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Read URLs from a file, one a line; `-` is stdin; .gz, .zip and rank,domain CSV are understood.',
  }),
  sitemaps: list({
    flag: 'sitemap',
    placeholder: 'URL',
    parse: parseHttpOption,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Crawl the pages that a sitemap or sitemap index lists.',
  }),
  limit: count({
    flag: 'limit',
    default: undefined,
    min: 1,
    defaultText: 'no limit',
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Take the first N URLs of all that are given, listed in files and in sitemaps; those passed over by --skip do not count.',
  }),
  skip: list({
    flag: 'skip',
    placeholder: 'cached|known',
    parse: (raw) => parseChoice(raw, SEED_SKIPS),
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Pass over URLs of the list whose page is in the download cache and fresh (cached), or that this crawl knows (known).',
  }),
  scope: choice({
    flag: 'scope',
    choices: ['host', 'domain', 'prefix', 'any'],
    default: 'host',
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Where links may lead, relative to the URLs the crawl starts from.',
  }),
  match: list({
    flag: 'match',
    placeholder: 'RE',
    parse: parseRegex,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Follow only links whose URL fits this regular expression (or one of several).',
  }),
  exclude: list({
    flag: 'exclude',
    placeholder: 'RE',
    parse: parseRegex,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Never follow links whose URL fits this regular expression.',
  }),
  identity: list({
    flag: 'identity',
    placeholder: 'RULE',
    parse: (raw) => parseChoice(raw, IDENTITY_RULES),
    group: 'What to crawl',
    on: CRAWL,
    doc: `Count more URLs as one page: ${IDENTITY_RULES.join(', ')}. What is sent stays as it was found.`,
  }),
  order: choice({
    flag: 'order',
    choices: ['bfs', 'dfs'],
    default: 'bfs',
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Breadth-first or depth-first, among requests of equal priority.',
  }),
  fresh: toggle({
    flag: 'fresh',
    default: false,
    group: 'What to crawl',
    on: ['crawl', 'run', 'demo'],
    doc: 'Forget what this crawl has done so far and begin again.',
  }),
  recrawl: optionalWord({
    flag: 'recrawl',
    placeholder: 'all|AGE|sitemap|adaptive',
    default: 'off',
    parse: parseRecrawl,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Go through known pages once more: all of them (as the cache has them), those not looked at for so long (7d), those for which a --sitemap gives a later date, or each after its own interval (adaptive).',
  }),
  recrawlMinMs: duration({
    flag: 'recrawl-min',
    default: HOUR_MS,
    min: 1_000,
    max: 3650 * DAY_MS,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Shortest interval of --recrawl adaptive: that of pages which change all the time.',
  }),
  recrawlMaxMs: duration({
    flag: 'recrawl-max',
    default: 30 * DAY_MS,
    min: 1_000,
    max: 3650 * DAY_MS,
    group: 'What to crawl',
    on: CRAWL,
    doc: 'Longest interval of --recrawl adaptive: that of pages which never change.',
  }),
  allowPrivate: toggle({
    flag: 'allow-private',
    default: false,
    group: 'What to crawl',
    on: HTTP,
    doc: 'Let a public page lead to private and loopback addresses. The host of a URL you give is always allowed.',
  }),
} as const

export const LIMITS = {
  maxDepth: count({
    flag: 'depth',
    default: undefined,
    max: 1_000_000,
    defaultText: 'no limit',
    group: 'Limits',
    on: CRAWL,
    doc: 'Deepest level that is fetched; the URLs you give are level 0.',
  }),
  maxPages: count({
    flag: 'max-pages',
    default: undefined,
    min: 1,
    defaultText: 'no limit',
    group: 'Limits',
    on: CRAWL,
    doc: 'End well after this many pages, counted over all runs of the crawl.',
  }),
  maxTimeMs: duration({
    flag: 'max-time',
    default: undefined,
    min: 1,
    max: 3650 * DAY_MS,
    defaultText: 'no limit',
    group: 'Limits',
    on: CRAWL,
    doc: 'End well after this long.',
  }),
  maxBytes: size({
    flag: 'max-bytes',
    default: undefined,
    min: 1,
    defaultText: 'no limit',
    group: 'Limits',
    on: CRAWL,
    doc: 'End well after downloading this much.',
  }),
  maxUrlBytes: size({
    flag: 'max-url',
    default: 8 * KB,
    min: 64,
    max: 1 * MB,
    group: 'Limits',
    on: CRAWL,
    doc: 'A longer URL is skipped as url-too-long.',
  }),
} as const

export const POLITENESS = {
  concurrency: count({
    flag: 'concurrency',
    default: 32,
    min: 1,
    max: 10_000,
    group: 'Politeness',
    on: CRAWL,
    doc: 'Requests in flight in this process.',
  }),
  perHost: count({
    flag: 'per-host',
    default: 2,
    min: 1,
    max: 10_000,
    group: 'Politeness',
    on: CRAWL,
    doc: 'Requests in flight at one host, over all processes and machines.',
  }),
  delayMs: duration({
    flag: 'delay',
    default: undefined,
    max: 30 * DAY_MS,
    defaultText: '500ms; 0 for loopback hosts',
    group: 'Politeness',
    on: CRAWL,
    doc: 'Least time between the starts of two requests to one host; a longer Crawl-delay or Retry-After wins.',
  }),
  robots: toggle({
    flag: 'robots',
    default: true,
    group: 'Politeness',
    on: CRAWL,
    doc: 'Neither fetch nor obey robots.txt.',
  }),
  robotsAgent: text({
    flag: 'robots-agent',
    placeholder: 'TOKEN',
    default: 'spoor',
    group: 'Politeness',
    on: HTTP,
    doc: 'The name whose rules are read in robots.txt.',
  }),
  processes: processCount({
    flag: 'processes',
    default: 1,
    max: 1_024,
    group: 'Politeness',
    on: CRAWL,
    doc: 'Worker processes on this machine; `auto` is one for each core.',
  }),
} as const
