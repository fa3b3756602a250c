/** Fetches the robots.txt of an origin, redirects included, and says what the answer means (RFC 9309, 2.3). */

import type { Fetcher, FetchFailure, FetchRequest, FetchResponse, HeaderList } from '../fetch/contract.ts'
import { parseRetryAfter } from '../util/retry-after.ts'
import { MAX_ROBOTS_BYTES } from './parse.ts'

/** RFC 9309, 2.3.1.2: at least five; after that the file counts as not there. */
const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export type RobotsAnswer =
  | { readonly kind: 'rules'; readonly body: Uint8Array }
  /** There is none: everything is allowed. */
  | { readonly kind: 'none' }
  | { readonly kind: 'guarded' }
  | { readonly kind: 'unreachable'; readonly error: string; readonly retryAfterMs?: number }

export interface FetchRobotsOptions {
  readonly fetcher: Fetcher
  /** `http://host:port` */
  readonly origin: string
  readonly userAgent?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly session?: string | undefined
  readonly nowMs: number
}

export interface FetchRobotsPermit {
  /** May this origin have a private address? */
  readonly allowPrivate: boolean
  /** May the other hosts that redirects lead to? */
  readonly allowPrivateElsewhere: boolean
  readonly signal: AbortSignal
  readonly onSent?: (() => void) | undefined
}

/** Rejects only when the signal aborts. */
export async function fetchRobots(options: FetchRobotsOptions, permit: FetchRobotsPermit): Promise<RobotsAnswer> {
  let url = `${options.origin}/robots.txt`
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const result = await options.fetcher.fetch(requestFor(url, options, permit))
    if (result.kind === 'failure') return unreachableBy(result, hops)
    const next = redirectTarget(result, url)
    if (next === undefined) return meaningOf(result, url, options.nowMs)
    if (next === null) return { kind: 'none' }
    url = next
  }
  return { kind: 'none' }
}

function requestFor(url: string, options: FetchRobotsOptions, permit: FetchRobotsPermit): FetchRequest {
  const { origin, userAgent, timeoutMs, session } = options
  return {
    url,
    // One byte more than is read, so that a line that the limit cuts is known to be cut.
    truncateAtBytes: MAX_ROBOTS_BYTES + 1,
    allowPrivate: url.startsWith(`${origin}/`) ? permit.allowPrivate : permit.allowPrivateElsewhere,
    signal: permit.signal,
    ...(userAgent === undefined ? {} : { headers: { 'user-agent': userAgent } }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(session === undefined ? {} : { session }),
    ...(permit.onSent === undefined ? {} : { onSent: permit.onSent }),
  }
}

function unreachableBy(result: FetchFailure, hops: number): RobotsAnswer {
  return result.guarded === true && hops === 0 ? { kind: 'guarded' } : { kind: 'unreachable', error: result.error }
}

/** Undefined: no redirect. Null: one that leads nowhere. */
function redirectTarget(response: FetchResponse, url: string): string | null | undefined {
  if (!REDIRECTS.has(response.status)) return undefined
  const location = headerOf(response.headers, 'location')
  if (location === undefined) return null
  try {
    const target = new URL(Buffer.from(location, 'latin1').toString('utf8'), url)
    return /^https?:$/.test(target.protocol) ? (target.href.split('#', 1)[0] ?? null) : null
  } catch {
    return null
  }
}

/** 429 asks to slow down: no leave to fetch, whatever RFC 9309 says of 4xx in general. */
function meaningOf(response: FetchResponse, url: string, nowMs: number): RobotsAnswer {
  const { status, body } = response
  if (status >= 200 && status < 300) return { kind: 'rules', body }
  if (status !== 429 && status < 500) return { kind: 'none' }
  const { headers } = response
  const retryAfterMs = parseRetryAfter(headerOf(headers, 'retry-after'), nowMs, headerOf(headers, 'date'))
  return {
    kind: 'unreachable',
    error: `${url} answered ${status}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key === name)?.[1]
}
