/** Single requests, for the commands that show one: fetch, robots, links, sitemap. */

import type { CacheGate, CacheStore } from '../cache/contract.ts'
import { withCacheForChain } from '../cache/with-cache.ts'
import { systemClock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import { pageResponseOf } from '../engine/handler-context.ts'
import { openPage } from '../engine/page.ts'
import { decodePage, detectCharset } from '../extract/charset.ts'
import { sniffType } from '../extract/content-type.ts'
import type { Fetcher, FetchRequest, FetchResult, HeaderList } from '../fetch/contract.ts'
import { createCookieJars } from '../fetch/cookies.ts'
import { headerOf } from '../fetch/headers.ts'
import { type FollowedResult, followRedirects } from '../fetch/follow-redirects.ts'
import { withCookies } from '../fetch/with-cookies.ts'
import type { RobotsSource } from '../robots/contract.ts'
import { createRobotsSource } from '../robots/service.ts'
import { hostKeyOf, parseHttpUrl } from '../url/canonical.ts'
import { systemRandom } from '../util/random.ts'
import { createGate, openCacheStore, openFetcher, openScratchStore } from './compose.ts'
import type { FetchAnswer, FetchedPage, FetchOptions, OpenedPage, PageFetcher } from './contract.ts'
import { requestHeadersOf } from './settings.ts'
import { sitemapLines } from './sitemaps.ts'
import { createTracer, type Tracer } from './trace.ts'

export async function openPageFetcher(options: FetchOptions): Promise<PageFetcher> {
  const env = options.env === undefined ? {} : { env: options.env }
  const tracer = options.trace ? createTracer(systemClock) : undefined
  const told = tracer === undefined ? {} : { onStep: tracer.onStep }
  const http = await openFetcher(options, { clock: systemClock, random: systemRandom, ...env, ...told })
  const fetcher = withCookies(http, createCookieJars({ clock: systemClock }))
  const store = openScratchStore()
  const robots = createRobotsSource({
    fetcher: tracer?.hopsOf(fetcher, 'robots.txt') ?? fetcher,
    state: store.state,
    clock: systemClock,
    random: systemRandom,
    agent: options.robotsAgent,
    allowPrivate: options.allowPrivate,
  })
  const cacheStore = await openCacheOf(options).catch(async (error: unknown) => {
    await fetcher.close()
    throw error
  })
  const cache =
    cacheStore === undefined
      ? undefined
      : createGate(cacheStore, options, { clock: systemClock, onFault: tellFault(options) })
  return {
    fetchOnce: (url) => fetchOnce(url, { fetcher, robots, options, cache, tracer }),
    sitemapEntries: (source) => sitemapLines(source, { fetcher, options }),
    close: async () => {
      await fetcher.close()
      await cacheStore?.close()
      await store.close()
    },
  }
}

interface Tools {
  readonly fetcher: Fetcher
  readonly robots: RobotsSource
  readonly options: FetchOptions
  readonly cache: CacheGate | undefined
  /** Of one `fetchOnce`. */
  readonly tracer: Tracer | undefined
}

async function openCacheOf(options: FetchOptions): Promise<CacheStore | undefined> {
  return options.useCache === true && options.cache !== 'off'
    ? openCacheStore(options, { clock: systemClock, random: systemRandom })
    : undefined
}

function tellFault({ onWarning }: FetchOptions): (what: string, error: unknown) => void {
  return (what, error) => {
    onWarning?.(`${what} has a fault: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function fetchOnce(url: string, tools: Tools): Promise<FetchedPage> {
  const parsed = parseHttpUrl(url)
  if (!parsed.ok) {
    const open = (): Promise<never> => Promise.reject(noAnswer(url, parsed.problem))
    return { answer: badUrl(url, parsed.problem), body: new Uint8Array(), contentType: undefined, open }
  }
  const { tracer } = tools
  const through = throughCache(tools)
  const followed = await followRedirects(
    tracer?.hopsOf(through, 'page') ?? through,
    requestOf(parsed.url, tools.options),
    {
      // the host that was named is allowed whatever its address; where it leads is not
      onHop: (next) => ({
        ...next,
        allowPrivate: tools.options.allowPrivate || hostKeyOf(next.url) === parsed.hostKey,
      }),
    },
  )
  const verdict = await verdictFor(parsed.url, followed.result, tools)
  const page = { ...pageOf(parsed.url, followed, verdict), open: () => openAnswer(followed, tools) }
  if (tracer === undefined) return page
  if (!isOffline(tools)) await tracer.judge((hop) => robotsVerdict(hop, tools))
  const { charset, body, contentType } = { ...page, charset: page.answer.charset }
  return {
    ...page,
    answer: { ...page.answer, trace: tracer.end(charset === null ? undefined : detectCharset(body, contentType)) },
  }
}

async function openAnswer({ result, finalUrl }: FollowedResult, { options }: Tools): Promise<OpenedPage> {
  if (result.kind === 'failure') throw noAnswer(finalUrl, result.error)
  const page = await openPage(result, { agent: options.robotsAgent, maxUrlBytes: options.maxUrlBytes })
  return { response: pageResponseOf(result), page }
}

function noAnswer(url: string, problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem: `${url}: ${problem}` } })
}

function throughCache({ fetcher, cache, tracer }: Tools): Fetcher {
  return cache === undefined ? fetcher : withCacheForChain(fetcher, tracer?.decisionsOf(cache) ?? cache)
}

function requestOf(url: string, options: FetchOptions): FetchRequest {
  const { headers, seedHeaders } = requestHeadersOf(options)
  const cookies = options.cookies.map(({ name, value }) => `${name}=${value}`)
  const cookie = [seedHeaders['cookie'], ...cookies].filter((part) => part !== undefined).join('; ')
  return {
    url,
    headers: { ...headers, ...seedHeaders, ...(cookie === '' ? {} : { cookie }) },
    allowPrivate: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
}

/** What the cache answered sends no request, for its robots.txt neither. */
async function verdictFor(url: string, result: FetchResult, tools: Tools): Promise<FetchAnswer['robots']> {
  const isHit = result.kind === 'response' && result.fromCache === true && result.wireBytes === 0
  if (isHit) return { error: 'not asked: the page came from the cache' }
  return isOffline(tools) ? { error: 'not asked: offline' } : robotsVerdict(url, tools)
}

function isOffline({ cache, options }: Tools): boolean {
  return cache !== undefined && options.cache === 'offline'
}

async function robotsVerdict(url: string, { robots, options }: Tools): Promise<FetchAnswer['robots']> {
  if (new URL(url).pathname === '/robots.txt') return undefined
  const decision = await robots.decide(url, {
    allowPrivate: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  if (decision.kind === 'verdict') return decision.verdict
  return { error: decision.kind === 'guarded' ? 'private address' : decision.error }
}

function pageOf(
  url: string,
  { result, finalUrl, hops }: FollowedResult,
  robots: FetchAnswer['robots'],
): Omit<FetchedPage, 'open'> {
  const contentType = result.headers === undefined ? undefined : headerOf(result.headers, 'content-type')
  const body = result.kind === 'response' ? result.body : new Uint8Array()
  const isText = result.kind === 'response' && body.length > 0 && isReadable(body, result.headers)
  const answer: FetchAnswer = {
    url,
    finalUrl,
    status: result.status ?? null,
    headers: headerRecord(result.headers ?? []),
    redirects: hops.map((hop) => ({ url: hop.url, status: hop.status, to: hop.location })),
    charset: isText ? decodePage(body, contentType).charset : null,
    bytes: body.length,
    fromCache: result.kind === 'response' && result.fromCache === true,
    timings: result.kind === 'response' ? { ...result.timings } : {},
    ...(robots === undefined ? {} : { robots }),
    ...(result.kind === 'failure' ? { error: `${result.failure}: ${result.error}` } : {}),
  }
  return { answer, body, contentType }
}

function isReadable(body: Uint8Array, headers: HeaderList): boolean {
  const type = sniffType(body, headerOf(headers, 'content-type'), false)
  return type.isHtml || type.isXml || type.isText
}

function headerRecord(headers: HeaderList): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of headers) {
    const before = record[name]
    if (before === undefined) record[name] = value
    else record[name] = [...(Array.isArray(before) ? before : [before]), value]
  }
  return record
}

function badUrl(url: string, problem: string): FetchAnswer {
  return {
    url,
    finalUrl: url,
    status: null,
    headers: {},
    redirects: [],
    charset: null,
    bytes: 0,
    fromCache: false,
    timings: {},
    error: `invalid-url: ${problem}`,
  }
}
