/** The context of a user's handler: everything it does is buffered until its page is settled. */

import type { CheerioAPI } from 'cheerio'
import { CrawlError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import type { Lease } from '../frontier/contract.ts'
import type {
  EnqueueLinksOptions,
  Exchange,
  HandlerContext,
  Page,
  PageDecisions,
  PageRequest,
  PageResponse,
} from './contract.ts'
import { enqueueDownload } from './download-requests.ts'
import { createUrlTest } from '../rules/pattern.ts'
import type { ProcessOptions } from './settlement.ts'
import { type Doorway, enqueueDraft, enqueuePageLinks, pushItems } from './page-buffer.ts'

export function pageRequestOf(lease: Lease): PageRequest {
  const { request } = lease
  return {
    id: lease.id,
    url: request.url,
    loadedUrl: lease.url,
    depth: request.depth,
    priority: request.priority,
    label: request.label,
    userData: request.userData ?? {},
    method: request.method ?? 'GET',
    retryCount: lease.attempt - 1,
  }
}

export function pageResponseOf(response: FetchResponse): PageResponse {
  const { url, status, headers, fromCache = false } = response
  return {
    url,
    status,
    headers,
    fromCache,
    header: (name) => headers.find(([key]) => key === name.toLowerCase())?.[1],
  }
}

export interface ContextOptions {
  readonly exchange: Exchange
  readonly page: Page
  readonly way: Doorway
  readonly pageNofollow: boolean
  readonly decisions: PageDecisions
  readonly log: Logger
  readonly signal: AbortSignal
}

export function createHandlerContext({
  exchange,
  page,
  way,
  pageNofollow,
  decisions,
  log,
  signal,
}: ContextOptions): HandlerContext {
  const open = (): void => {
    if (signal.aborted) throw signal.reason
  }
  return {
    ...decisions,
    request: pageRequestOf(exchange.lease),
    response: pageResponseOf(exchange.response),
    page,
    body: page.body,
    live: exchange.response.live,
    log,
    signal,
    get $() {
      return page.$
    },
    enqueueLinks: async (options = {}) => {
      open()
      if (isPlain(options)) await enqueuePageLinks(way, page, pageNofollow)
      else enqueueChosen(way, page, options)
    },
    addRequests: async (requests) => {
      open()
      for (const draft of requests) {
        enqueueDraft(way, draft instanceof URL ? draft.href : draft, page.scan.base)
      }
    },
    pushData: async (data) => {
      open()
      pushItems(way.buffer, data)
    },
    download: async (urls, options) => {
      open()
      const place = { way, page: exchange.lease.request.url, base: page.scan.base }
      for (const url of [urls].flat()) enqueueDownload(place, String(url), options)
    },
  }
}

/** Runs people's code to its end or to its deadline; what it pushes after that is refused by its context. */
export async function runWithDeadline(
  run: (signal: AbortSignal) => unknown,
  name: string,
  { deps, task, lease, signal, watch }: ProcessOptions,
): Promise<void> {
  const { url } = lease
  const timeoutMs = task.handlerTimeoutMs
  const deadline = new AbortController()
  const stop = AbortSignal.any([signal, deadline.signal])
  const cancel = deps.clock.timer(timeoutMs, () => {
    deadline.abort(new CrawlError('HANDLER_TIMEOUT', { context: { url, timeoutMs } }))
  })
  const over = new Promise<never>((_resolve, reject) => {
    stop.addEventListener(
      'abort',
      () => {
        reject(stop.reason as Error)
      },
      { once: true },
    )
  })
  over.catch(() => undefined) // it ends in any case: see below
  try {
    const code = { url, task: task.settings.name, name }
    await watch.run(code, () => Promise.race([(async () => run(stop))(), over]))
  } finally {
    cancel()
    // a handler that goes on after its page has ended finds its context closed
    deadline.abort(new CrawlError('CRAWL_ABORTED'))
  }
}

function isPlain(options: EnqueueLinksOptions): boolean {
  return Object.values(options).every((value) => value === undefined)
}

function enqueueChosen(way: Doorway, page: Page, options: EnqueueLinksOptions): void {
  const { label, priority, userData, cache, transform } = options
  const isWanted = createUrlTest(options)
  for (const url of new Set(chosenUrls(page, options))) {
    if (!isWanted(url)) continue
    const draft = {
      url,
      ...(label === undefined ? {} : { label }),
      ...(priority === undefined ? {} : { priority }),
      ...(userData === undefined ? {} : { userData }),
      ...(cache === undefined ? {} : { cache }),
    }
    const changed = transform === undefined ? draft : transform(draft)
    if (changed !== false) enqueueDraft(way, changed, page.scan.base)
  }
}

function chosenUrls(page: Page, { urls, selector }: EnqueueLinksOptions): readonly string[] {
  const { base } = page.scan
  if (urls !== undefined) return urls.map((url) => absoluteOf(url, base))
  if (selector === undefined) return page.scan.links.filter(({ nofollow }) => !nofollow).map(({ url }) => url)
  return hrefsWithin(page.$, selector).map((href) => absoluteOf(href, base))
}

function hrefsWithin($: CheerioAPI, selector: string): string[] {
  return $(selector)
    .find('[href]')
    .addBack('[href]')
    .map((_index, element) => $(element).attr('href'))
    .get()
}

function absoluteOf(url: string, base: string): string {
  return URL.canParse(url, base) ? new URL(url, base).href.replace(/#.*$/s, '') : url
}
