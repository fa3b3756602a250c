/** The browser fetcher: a page comes as any other, is shown to Chromium, and answers what its scripts made of it. */

import type { Clock } from '../../core/clock.ts'
import { sniffType } from '../../extract/content-type.ts'
import { isLoopbackHost } from '../../util/host-name.ts'
import type { FetchFailure, FetchRequest, FetchResponse, FetchResult, Fetcher, RenderRequest } from '../contract.ts'
import type { CookieJars } from '../cookies.ts'
import { headerOf } from '../headers.ts'
import { withoutRenderedMark, withRenderedMark } from '../rendered.ts'
import type { RobotsSource } from '../../robots/contract.ts'
import { createAssetCache } from './asset-cache.ts'
import { findBrowser, loadPlaywright } from './find-browser.ts'
import { openFloor } from './floor.ts'
import { createHostPace } from './host-pace.ts'
import { launchBrowser, mustGoWithoutSandbox } from './launch.ts'
import { ruleForBrowser } from './needs-browser.ts'
import { BrowserPool, type Pool } from './pool.ts'
import { BrowserGone, type Slot } from './slot.ts'
import type { TrafficDeps } from './traffic.ts'
import { type Visit, visitPage } from './visit.ts'

export interface BrowserFetcherOptions {
  /** Fetches pages, and whatever is not to be rendered; closed with this one. */
  readonly documents: Fetcher
  /** Fetches what pages ask for: the same without a jar of its own. */
  readonly http: Fetcher
  readonly jars: CookieJars
  /** Undefined: robots.txt is not obeyed. */
  readonly robots: RobotsSource | undefined
  readonly clock: Clock
  readonly userAgent: string
  readonly userAgentFor?: (session: string, url: string) => string | undefined
  /** The executable. Default: the first Chromium found on this machine. */
  readonly browser?: string | undefined
  /** Where screenshots and PDFs go, in a folder `files`. */
  readonly dir: string
  /** Pages rendered at the same time. */
  readonly maxPages: number
  /** Requests of pages in flight at one host. */
  readonly maxPerHost: number
  /** Least time between two data requests of pages to a host; milliseconds. */
  readonly delayMs: number
  readonly loopbackDelayMs: number
  /** Of the rendered page, and of everything that it loads. */
  readonly maxBodyBytes: number
  /** One sentence for people. */
  readonly onWarning: (message: string) => void
  /** See `PoolOptions`. */
  readonly renew?: { readonly maxUses?: number; readonly maxAgeMs?: number; readonly maxBrowserUses?: number }
}

export interface BrowserFetcher extends Fetcher {
  /** Ends the browser alone: nothing can be rendered from then on. */
  closeBrowser(): Promise<void>
}

interface Context {
  readonly options: BrowserFetcherOptions
  readonly pool: Pool
  readonly traffic: TrafficDeps
}

/**
 * The browser runs when this resolves. Rejects with PEER_MISSING or BROWSER_UNAVAILABLE, which name what to install.
 * Requests without `render` go straight to `documents`.
 */
export async function openBrowserFetcher(options: BrowserFetcherOptions): Promise<BrowserFetcher> {
  const { clock, http, jars, robots, userAgent, maxPages, delayMs, loopbackDelayMs, onWarning } = options
  const playwright = loadPlaywright()
  const executable = await findBrowser({ named: options.browser, own: playwright.executablePath() })
  const floor = await openFloor()
  const pool = new BrowserPool({
    launch: () => launchBrowser({ playwright, executable, proxy: floor.url }),
    clock,
    userAgent,
    maxPages,
    ...options.renew,
    onRestart: () => {
      onWarning('the browser ended by itself and is started again; its pages are loaded once more')
    },
  })
  try {
    await pool.start()
  } catch (error) {
    await floor.close()
    throw error
  }
  if (mustGoWithoutSandbox()) {
    onWarning('pages are rendered without the sandbox of Chromium, since this process is root: run it as another user')
  }
  const traffic: TrafficDeps = {
    http,
    jars,
    robots,
    pace: createHostPace({ clock, maxInFlight: options.maxPerHost }),
    assets: createAssetCache(clock),
    clock,
    delayMsOf: (hostKey) => (isLoopbackHost(hostKey) ? loopbackDelayMs : delayMs),
    ...(options.userAgentFor === undefined ? {} : { userAgentFor: options.userAgentFor }),
  }
  const context = { options, pool, traffic }
  const closeBrowser = async (): Promise<void> => {
    await pool.close()
    await floor.close()
  }
  return {
    fetch: (request) => fetchPage(request, context),
    closeBrowser,
    close: async () => {
      await closeBrowser()
      await options.documents.close()
    },
  }
}

async function fetchPage(request: FetchRequest, context: Context): Promise<FetchResult> {
  const { render } = request
  const result = await context.options.documents.fetch(request)
  if (render === undefined || render.mode === 'off' || result.kind === 'failure') return result
  const document = { ...result, headers: withoutRenderedMark(result.headers) }
  if (!isRenderable(request, document)) return document
  if (render.mode === 'auto' && ruleForBrowser(textOf(document)) === undefined) return document
  return renderPage({ request: withOwnSignal(request), render, document }, context)
}

/** All requests of a crawl share one signal, and many wait here at a time: it would have a listener for each. */
function withOwnSignal(request: FetchRequest): FetchRequest {
  return request.signal === undefined ? request : { ...request, signal: AbortSignal.any([request.signal]) }
}

/** A whole HTML page that a reader would be shown. */
function isRenderable(
  { method = 'GET', truncateAtBytes }: FetchRequest,
  { status, headers, body }: FetchResponse,
): boolean {
  if (method !== 'GET' || truncateAtBytes !== undefined || status !== 200) return false
  if (/^\s*attachment\b/i.test(headerOf(headers, 'content-disposition') ?? '')) return false
  return sniffType(body, headerOf(headers, 'content-type')).isHtml
}

/** Marks and words in ASCII are all that is looked for: the charset does not matter. */
function textOf({ body }: FetchResponse): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 512 * 1024)).toString('latin1')
}

interface Rendering {
  readonly request: FetchRequest
  readonly render: RenderRequest
  readonly document: FetchResponse
}

/** A page whose browser ended under it is shown once more; that it is to blame shows at the second time. */
async function renderPage(rendering: Rendering, context: Context): Promise<FetchResult> {
  const first = await renderOnce(rendering, context)
  return first === 'browser-gone' ? await renderAgain(rendering, context) : first
}

async function renderAgain(rendering: Rendering, context: Context): Promise<FetchResult> {
  const second = await renderOnce(rendering, context)
  if (second !== 'browser-gone') return second
  return failureOf(rendering.document, { failure: 'browser', error: 'the browser ended twice while it had this page' })
}

async function renderOnce(rendering: Rendering, context: Context): Promise<FetchResult | 'browser-gone'> {
  const { request, document } = rendering
  try {
    const slot = await context.pool.acquire(request.session ?? 'default', request.signal)
    return await renderIn(slot, rendering, context)
  } catch (error) {
    request.signal?.throwIfAborted()
    return failureOf(document, { failure: 'browser', error: error instanceof Error ? error.message : String(error) })
  }
}

/** The slot is given back in any case, or with the live page. */
async function renderIn(slot: Slot, rendering: Rendering, context: Context): Promise<FetchResult | 'browser-gone'> {
  const { request, document, render } = rendering
  let visit: Visit | undefined
  let isHeld = false
  try {
    visit = await visitIn(slot, rendering, context)
    if (visit.kind === 'failed' && slot.gone.reason instanceof BrowserGone) return 'browser-gone'
    const result = resultOf(visit, document, maxBytesOf(request, context))
    if (visit.kind !== 'ready' || result.kind === 'failure' || render.holdMs === undefined) return result
    isHeld = true
    return { ...result, live: livePage({ slot, visit, holdMs: render.holdMs }, context) }
  } finally {
    if (!isHeld) giveBack(slot, visit, context)
  }
}

function giveBack(slot: Slot, visit: Visit | undefined, { pool }: Context): void {
  visit?.leave()
  pool.release(slot, visit?.kind === 'ready' || visit?.kind === 'moved' || visit?.kind === 'as-sent')
}

async function visitIn(slot: Slot, { request, render, document }: Rendering, context: Context): Promise<Visit> {
  const { options, traffic } = context
  traffic.pace.started(new URL(request.url).host)
  const plan = { request, render, document, dir: options.dir, maxBodyBytes: maxBytesOf(request, context) }
  return visitPage(slot, plan, traffic)
}

const maxBytesOf = ({ maxBodyBytes }: FetchRequest, { options }: Context): number =>
  maxBodyBytes ?? options.maxBodyBytes

interface Held {
  readonly slot: Slot
  readonly visit: Visit
  readonly holdMs: number
}

/** A page that was in other hands is not used again. */
function livePage({ slot, visit, holdMs }: Held, { pool, options }: Context): NonNullable<FetchResponse['live']> {
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    cancel()
    visit.leave()
    pool.release(slot, false)
  }
  const cancel = options.clock.timer(holdMs, close)
  return {
    page: slot.page,
    dir: options.dir,
    close: async () => {
      close()
    },
  }
}

function resultOf(visit: Visit, document: FetchResponse, maxBodyBytes: number): FetchResult {
  const wireBytes = document.wireBytes + visit.counts.wireBytes
  switch (visit.kind) {
    case 'failed':
      return { ...failureOf(document, { failure: 'browser', error: visit.error }), wireBytes }
    case 'too-large':
      return { ...tooLarge(document, maxBodyBytes), wireBytes }
    case 'as-sent':
      return { ...document, wireBytes }
    case 'moved':
      return { ...movedTo(visit.to, document), wireBytes }
    case 'ready': {
      const body = Buffer.from(visit.html, 'utf8')
      if (body.length > maxBodyBytes) return { ...tooLarge(document, maxBodyBytes), wireBytes }
      const headers = withRenderedMark(headersOfRendered(document), visit.files)
      return { ...document, url: urlOf(visit.url, document), headers, body, wireBytes }
    }
  }
}

/** Where scripts lead on at once is a redirect; with other cookies, to the page itself as well. */
function movedTo(to: string, document: FetchResponse): FetchResponse {
  const { headers } = document
  if (to !== document.url)
    return { ...document, headers: [['refresh', `0;url=${to}`], ...withoutHeader(headers, 'refresh')] }
  const location: FetchResponse['headers'] = [
    ['location', to],
    ['cache-control', 'no-store'],
  ]
  return { ...document, status: 302, headers: location, body: new Uint8Array() }
}

const withoutHeader = (headers: FetchResponse['headers'], name: string): FetchResponse['headers'] =>
  headers.filter(([key]) => key !== name)

const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
])

function headersOfRendered({ headers }: FetchResponse): FetchResponse['headers'] {
  return [...headers.filter(([name]) => !OF_THE_BODY.has(name)), ['content-type', 'text/html; charset=utf-8']]
}

/** Scripts may change the address within the origin (history API): links are relative to what it is now. */
function urlOf(found: string, { url }: FetchResponse): string {
  if (!URL.canParse(found) || new URL(found).origin !== new URL(url).origin) return url
  const shown = new URL(found)
  shown.hash = ''
  return shown.href
}

function tooLarge(document: FetchResponse, maxBodyBytes: number): FetchFailure {
  const error = `expected a rendered page of at most ${maxBodyBytes} bytes, found more`
  return failureOf(document, { failure: 'too-large', error })
}

function failureOf(document: FetchResponse, fault: Pick<FetchFailure, 'failure' | 'error'>): FetchFailure {
  const { status, headers, wireBytes } = document
  return { kind: 'failure', ...fault, status, headers, wireBytes }
}
