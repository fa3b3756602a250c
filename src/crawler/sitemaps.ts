/** Sitemaps fetched and read to their pages: for the command that lists them and for seeds. */

import type { CacheGate } from '../cache/contract.ts'
import { withCacheForChain } from '../cache/with-cache.ts'
import { CrawlError } from '../core/errors.ts'
import type { Fetcher, FetchRequest } from '../fetch/contract.ts'
import { followRedirects } from '../fetch/follow-redirects.ts'
import { parseRobots } from '../robots/parse.ts'
import { SITEMAP_LIMITS } from '../sources/sitemap.ts'
import { type SitemapAnswer, type SitemapRoot, type WalkFind, walkSitemaps } from '../sources/walk-sitemaps.ts'
import { hostKeyOf } from '../url/canonical.ts'
import type { FetchOptions, SitemapLine, SitemapOptions, SitemapSource } from './contract.ts'
import { requestHeadersOf } from './settings.ts'

export interface SitemapTools {
  readonly fetcher: Fetcher
  readonly options: Pick<FetchOptions, 'headers' | 'cookies' | 'allowPrivate' | 'signal' | 'task'>
  readonly follow: boolean
  /** Asked first; what it has is confirmed by the server, since a sitemap is there to tell what is new. */
  readonly cache?: CacheGate | undefined
  /** Between two fetches. */
  readonly pause?: () => Promise<void>
}

export interface SitemapPage extends SitemapLine {
  /** The same page in other languages. */
  readonly alternates: readonly string[]
}

export type SitemapFound =
  | ({ readonly kind: 'page' } & SitemapPage)
  | { readonly kind: 'problem'; readonly problem: string; readonly isRoot: boolean }

export async function* findSitemapPages(source: SitemapSource, tools: SitemapTools): AsyncGenerator<SitemapFound> {
  let fetched = 0
  // a file of the user's own may name whatever it likes
  const isAllowed = source.kind === 'stream' ? () => true : (url: string) => hostKeyOf(url) === hostKeyOf(source.url)
  const fetch = async (url: string): Promise<SitemapAnswer> => {
    if (fetched++ > 0) await tools.pause?.()
    return fetchSitemap(url, { ...tools, isAllowed })
  }
  const roots = source.kind === 'url' ? await rootsOf(source.url, fetch) : [{ name: source.name, body: source.bytes }]
  for await (const find of walkSitemaps({ roots, fetch, follow: tools.follow })) yield foundOf(find)
}

/** Rejects with SEEDS_UNREADABLE when the root cannot be had; what is broken further down is a warning. */
export async function* sitemapLines(
  source: SitemapSource,
  { fetcher, options }: { readonly fetcher: Fetcher; readonly options: FetchOptions },
): AsyncGenerator<SitemapLine> {
  const follow = (options as Partial<SitemapOptions>).follow ?? true
  for await (const find of findSitemapPages(source, { fetcher, options, follow })) {
    if (find.kind === 'page') yield { url: find.url, lastmod: find.lastmod, priority: find.priority }
    else if (find.isRoot) {
      const name = source.kind === 'url' ? source.url : source.name
      throw new CrawlError('SEEDS_UNREADABLE', { context: { source: name, problem: withoutName(find.problem, name) } })
    } else options.onWarning?.(find.problem)
  }
}

/** What is wrong begins with where it is; an error that names that already says it once. */
const withoutName = (problem: string, name: string): string =>
  problem.startsWith(`${name}: `) ? problem.slice(name.length + 2) : problem

/** A robots.txt stands for the sitemaps that it names. */
async function rootsOf(url: string, fetch: (url: string) => Promise<SitemapAnswer>): Promise<readonly SitemapRoot[]> {
  if (new URL(url).pathname !== '/robots.txt') return [{ url }]
  const answer = await fetch(url)
  if ('problem' in answer || !(answer.body instanceof Uint8Array)) return [{ url }]
  return parseRobots(answer.body).sitemaps.flatMap((found) =>
    URL.canParse(found, url) ? [{ url: new URL(found, url).href }] : [],
  )
}

type AllowedTools = SitemapTools & { readonly isAllowed: (url: string) => boolean }

async function fetchSitemap(url: string, tools: AllowedTools): Promise<SitemapAnswer> {
  const { fetcher, cache } = tools
  const through = cache === undefined ? fetcher : withCacheForChain(fetcher, cache, { ttlMs: 0 })
  const { result, finalUrl } = await followRedirects(through, sitemapRequest(url, tools))
  if (result.kind === 'failure') return { problem: `${url}: ${result.failure}: ${result.error}` }
  if (result.status !== 200) return { problem: `${url}: expected a sitemap, found HTTP ${result.status}` }
  return { url: finalUrl, body: result.body }
}

function sitemapRequest(url: string, { options, isAllowed }: AllowedTools): FetchRequest {
  const isRootHost = isAllowed(url)
  const { headers, seedHeaders } = requestHeadersOf(options)
  return {
    url,
    headers: { ...headers, ...(isRootHost ? seedHeaders : {}) },
    // read as far as the limit: one byte more tells the reader that it was longer
    truncateAtBytes: SITEMAP_LIMITS.maxBytes + 1,
    maxBodyBytes: SITEMAP_LIMITS.maxBytes + 1,
    allowPrivate: options.allowPrivate || isRootHost,
    session: options.task,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
}

function foundOf(find: WalkFind): SitemapFound {
  if (find.kind === 'problem') return { kind: 'problem', problem: find.problem, isRoot: find.isRoot }
  const {
    url,
    lastmod = null,
    priority = null,
    alternates = [],
  } = find.kind === 'page' ? find.entry : { url: find.url, lastmod: find.lastmod }
  return { kind: 'page', url, lastmod, priority, alternates: alternates.map((alternate) => alternate.url) }
}
