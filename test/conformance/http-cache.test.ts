/** The HTTP cache tests: what browsers' private caches do, `--cache http` does. */

import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCacheGate } from '../../src/cache/gate.ts'
import type { CacheStore } from '../../src/cache/contract.ts'
import { withCache } from '../../src/cache/with-cache.ts'
import type { Fetcher, FetchRequest } from '../../src/fetch/contract.ts'
import { openSqliteCache } from '../../src/stores/sqlite-cache/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'

const DATA = new URL('../../../shared/conformance/http-cache-tests.json', import.meta.url)

interface Step {
  readonly request_method?: string
  readonly request_headers?: readonly (readonly [string, string])[]
  readonly response_status?: readonly [number, string]
  readonly response_headers?: readonly (readonly [string, string | number, boolean?])[]
  readonly response_body?: string
  readonly expected_type?: string
  readonly pause_after?: boolean
  readonly [other: string]: unknown
}
interface Row {
  readonly id: string
  readonly name: string
  readonly kind?: string
  readonly requests: readonly Step[]
  readonly browser_only?: boolean
  readonly cdn_only?: boolean
  readonly browserAndProxyResults?: Readonly<Record<string, unknown>>
}

/** What a crawler's cache does otherwise, on purpose. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'stale-while-revalidate': 'a crawler has the time to ask',
  'stale-while-revalidate-window': 'a crawler has the time to ask',
  'other-cookie': 'what was seen with credentials is kept apart, whatever Vary says',
}

const KINDS = new Set(['cached', 'not_cached', 'etag_validated', 'lm_validated'])
const PRIVATE_CACHES = ['chrome', 'firefox', 'safari']

function isForUs({ requests, browser_only, cdn_only, kind, browserAndProxyResults }: Row): boolean {
  if (browser_only === true || cdn_only === true || kind === 'check') return false
  if (!PRIVATE_CACHES.every((name) => browserAndProxyResults?.[name] === true)) return false
  return requests.every((step, index) => {
    const isPlain = step['disconnect'] === undefined && step['interim_responses'] === undefined
    const get = step.request_method === undefined || step.request_method === 'GET'
    return isPlain && get && (index === 0 || step.expected_type === undefined || KINDS.has(step.expected_type))
  })
}

const rows: readonly Row[] = existsSync(DATA)
  ? (JSON.parse(readFileSync(DATA, 'utf8')) as { suites: readonly { tests: readonly Row[] }[] }).suites
      .flatMap(({ tests }) => tests)
      .filter((row) => isForUs(row) && LEFT_OUT[row.id] === undefined)
  : []

describe.skipIf(rows.length === 0)('the HTTP cache tests', () => {
  let store: CacheStore
  let dir: string
  const clock = createFakeClock({ nowMs: Date.now() })
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'spoor-http-cache-'))
    store = await openSqliteCache({ dir, clock })
  })
  afterAll(async () => {
    await store.close()
    await rm(dir, { recursive: true, force: true })
  })

  it.each(rows.map((row) => [row.id, row] as const))('%s', async (id, row) => {
    const seen: (FetchRequest | undefined)[] = []
    let at = 0
    const origin: Fetcher = {
      fetch: async (request) => {
        seen[at] = request
        return answerOf(row.requests[at] ?? {}, request)
      },
      close: async () => undefined,
    }
    const cached = withCache(origin, createCacheGate({ store, mode: 'http', ttlMs: 0, clock }))
    for (; at < row.requests.length; at += 1) {
      const step = row.requests[at] ?? {}
      const query = typeof step['query_arg'] === 'string' ? `?${step['query_arg']}` : ''
      await cached.fetch({ url: `http://a.test/${id}${query}`, headers: requestHeadersOf(step) })
      if (step.pause_after === true) await clock.advance(3000)
    }
    row.requests.forEach((step, index) => {
      if (index === 0 || step.expected_type === undefined) return
      expect(kindOf(seen[index], step.expected_type), `${row.name} (request ${index + 1})`).toBe(step.expected_type)
    })
  })

  function answerOf(step: Step, request: FetchRequest): Awaited<ReturnType<Fetcher['fetch']>> {
    const headers = (step.response_headers ?? []).map(([name, value]) => [name.toLowerCase(), dateOf(value)] as const)
    const asks =
      request.headers?.['if-none-match'] !== undefined || request.headers?.['if-modified-since'] !== undefined
    const confirmed = asks && step.expected_type?.endsWith('validated') === true
    const body = Buffer.from(confirmed ? '' : (step.response_body ?? 'body'))
    return {
      kind: 'response',
      url: request.url,
      status: confirmed ? 304 : (step.response_status?.[0] ?? 200),
      headers,
      body,
      wireBytes: body.length,
      truncated: false,
      timings: { headMs: 0, totalMs: 0 },
    }
  }

  /** Numbers are seconds from now. */
  function dateOf(value: string | number): string {
    return typeof value === 'number' ? new Date(clock.nowMs() + value * 1000).toUTCString() : value
  }
})

/** Repeated fields are one, as the fetcher takes them. */
function requestHeadersOf(step: Step): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of step.request_headers ?? []) {
    const key = name.toLowerCase()
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  return headers
}

function kindOf(request: FetchRequest | undefined, wanted: string): string {
  if (request === undefined) return 'cached'
  if (wanted === 'etag_validated' && request.headers?.['if-none-match'] !== undefined) return wanted
  if (wanted === 'lm_validated' && request.headers?.['if-modified-since'] !== undefined) return wanted
  return 'not_cached'
}
