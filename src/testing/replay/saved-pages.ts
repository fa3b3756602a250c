/** Pages to answer from, in place of the web: those of a folder that a recording has made, or of a list in the code. */

import { existsSync } from 'node:fs'
import { createCacheGate } from '../../cache/gate.ts'
import { withCache } from '../../cache/with-cache.ts'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { FailureClass } from '../../core/outcome.ts'
import type { Fetcher, FetchFailure, FetchRequest, FetchResult } from '../../fetch/contract.ts'
import { openFilesCache } from '../../stores/files-cache/store.ts'
import { canonicalOf } from '../../url/canonical.ts'

/** What a URL answers. */
export interface SavedAnswer {
  /** Default 200. */
  readonly status?: number
  /** By name. Default: a Content-Type of HTML. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: empty. */
  readonly body?: string | Uint8Array
  /** No answer comes: the request fails so. */
  readonly failure?: FailureClass
}

/** A folder, or answers by URL; a text is a page of HTML. */
export type SavedPages = string | Readonly<Record<string, string | SavedAnswer>>

/** Nothing that is not saved is asked of the web: it fails as `not-cached`. Rejects with CONFIG_INVALID for no folder. */
export async function openSavedPages(pages: SavedPages, clock: Clock): Promise<Fetcher> {
  return typeof pages === 'string' ? openFolder(pages, clock) : fetcherOf(pages)
}

async function openFolder(folder: string, clock: Clock): Promise<Fetcher> {
  if (!existsSync(folder)) {
    const problem = `pages: expected a folder of saved pages, found nothing at ${folder}; replay(…, { record: true }) makes it`
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  }
  const store = await openFilesCache({ dir: folder, clock })
  const gate = createCacheGate({ store, mode: 'offline', ttlMs: Infinity, clock, canonicalOf })
  const fetcher = withCache({ fetch: async (request) => notSaved(request), close: () => Promise.resolve() }, gate)
  return {
    // for the handler it is a page of the web
    fetch: async (request) => {
      const result = await fetcher.fetch(request)
      return result.kind === 'failure' ? notSaved(request) : { ...result, fromCache: false }
    },
    close: () => store.close(),
  }
}

function fetcherOf(pages: Exclude<SavedPages, string>): Fetcher {
  const byUrl = new Map(Object.entries(pages).map(([url, answer]) => [canonicalOf(url), answer]))
  return {
    fetch: async (request) => {
      const saved = byUrl.get(canonicalOf(request.url))
      if (saved === undefined) return notSaved(request)
      return answerOf(request, typeof saved === 'string' ? { body: saved } : saved)
    },
    close: () => Promise.resolve(),
  }
}

function answerOf(
  { url }: FetchRequest,
  { status = 200, headers = HTML, body = '', failure }: SavedAnswer,
): FetchResult {
  if (failure !== undefined) return failureOf(failure, `the saved answer of ${url} is this failure`)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return {
    kind: 'response',
    url,
    status,
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    body: bytes,
    wireBytes: bytes.length,
    truncated: false,
    timings: { headMs: 0, totalMs: 0 },
  }
}

const HTML = { 'content-type': 'text/html; charset=utf-8' }

const notSaved = ({ url }: FetchRequest): FetchFailure =>
  failureOf('not-cached', `no page is saved of ${url}, and a replay asks nothing of the web`)

function failureOf(failure: FailureClass, error: string): FetchFailure {
  return { kind: 'failure', failure, error, wireBytes: 0 }
}
