/** What the tests of the browser fetcher share: opening it over real connections, and asking it for pages. */

import { systemClock } from '../../../src/core/clock.ts'
import {
  type BrowserFetcher,
  type BrowserFetcherOptions,
  openBrowserFetcher,
} from '../../../src/fetch/browser/fetcher.ts'
import type { FetchFailure, FetchRequest, FetchResponse, RenderRequest } from '../../../src/fetch/contract.ts'
import { type CookieJars, createCookieJars } from '../../../src/fetch/cookies.ts'
import { openHttpFetcher, type HttpFetcherOptions } from '../../../src/fetch/http/fetcher.ts'
import { withCookies } from '../../../src/fetch/with-cookies.ts'
import { chromium } from '../../support/chromium.ts'
import { openTemporaryFolder } from '../../support/command.ts'

export interface RenderKit extends AsyncDisposable {
  readonly fetcher: BrowserFetcher
  readonly jars: CookieJars
  readonly dir: string
  readonly warnings: readonly string[]
  /** The page as rendered; throws when it failed. */
  page(url: string, render?: Partial<RenderRequest>, request?: Partial<FetchRequest>): Promise<FetchResponse>
  failure(url: string, render?: Partial<RenderRequest>, request?: Partial<FetchRequest>): Promise<FetchFailure>
}

export interface KitOptions {
  readonly http?: Partial<HttpFetcherOptions>
  readonly browser?: Partial<BrowserFetcherOptions>
}

const RENDER: RenderRequest = {
  mode: 'on',
  wait: 'networkidle',
  timeoutMs: 15_000,
  block: ['image', 'font', 'media'],
  save: [],
  mayBePrivate: () => true,
}

export async function openRenderKit(options: KitOptions = {}): Promise<RenderKit> {
  const folder = await openTemporaryFolder()
  const jars = createCookieJars({ clock: systemClock })
  const http = openHttpFetcher({ userAgent: 'spoor/0', ...options.http })
  const warnings: string[] = []
  const fetcher = await openBrowserFetcher({
    documents: withCookies(http, jars),
    http,
    jars,
    robots: undefined,
    clock: systemClock,
    userAgent: 'spoor/0',
    browser: chromium,
    dir: folder.path,
    maxPages: 2,
    maxPerHost: 4,
    delayMs: 0,
    loopbackDelayMs: 0,
    maxBodyBytes: 1024 * 1024,
    onWarning: (message) => warnings.push(message),
    ...options.browser,
  })
  const fetch: RenderKit['fetcher']['fetch'] = (request) => fetcher.fetch({ allowPrivate: true, ...request })
  return {
    fetcher,
    jars,
    dir: folder.path,
    warnings,
    page: async (url, render = {}, request = {}) => {
      const result = await fetch({ url, render: { ...RENDER, ...render }, ...request })
      if (result.kind === 'failure') throw new Error(`${result.failure}: ${result.error}`)
      return result
    },
    failure: async (url, render = {}, request = {}) => {
      const result = await fetch({ url, render: { ...RENDER, ...render }, ...request })
      if (result.kind === 'response') throw new Error(`expected a failure, found ${textOf(result)}`)
      return result
    },
    [Symbol.asyncDispose]: async () => {
      await fetcher.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

export const textOf = ({ body }: FetchResponse): string => Buffer.from(body).toString('utf8')

interface Answer {
  readonly headers: Record<string, string>
  readonly body: string
}

/** An HTML answer of a test site. */
export const html = (body: string, headers: Record<string, string> = {}): Answer => ({
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body: `<!doctype html><html><head><title>t</title></head><body>${body}</body></html>`,
})

export const script = (body: string): Answer => ({ headers: { 'content-type': 'text/javascript' }, body })

export const json = (value: unknown): Answer => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
