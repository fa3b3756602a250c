/** What a redirect asks for: decided from status and Location alone, as browsers do (WHATWG Fetch, "HTTP-redirect fetch"). */

import type { HeaderList } from './contract.ts'
import { headerOf } from './headers.ts'

export interface RedirectInput {
  readonly status: number
  readonly headers: HeaderList
  /** The URL that was asked: relative Locations are resolved against it. */
  readonly url: string
}

export type RedirectDecision =
  /** A final answer: not a redirect, or one without a Location. */
  | { readonly kind: 'none' }
  | { readonly kind: 'follow'; readonly url: string; readonly method: string; readonly keepBody: boolean }
  /** It leads where a crawler does not go; `reason` is for people. */
  | { readonly kind: 'refused'; readonly reason: string }

// 300 offers a choice, 304 is the cache's, 305 and 306 are dead: none of them is followed.
const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** `method`: of the request that was answered. */
export function decideRedirect(input: RedirectInput, method = 'GET'): RedirectDecision {
  if (!FOLLOWED.has(input.status)) return { kind: 'none' }
  const raw = headerOf(input.headers, 'location')
  if (raw === undefined) return { kind: 'none' }
  const location = decodeLocation(raw)
  const target = URL.canParse(location, input.url) ? new URL(location, input.url) : undefined
  if (target === undefined)
    return { kind: 'refused', reason: `expected a URL in Location, found "${excerpt(location)}"` }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    return { kind: 'refused', reason: `expected a Location with http or https, found "${excerpt(location)}"` }
  }
  target.hash = ''
  return { kind: 'follow', url: withoutHash(target.href), ...nextMethod(input.status, method) }
}

/** POST becomes GET over 301 and 302, everything but HEAD does over 303; 307 and 308 repeat the request as it was. */
function nextMethod(status: number, method: string): { readonly method: string; readonly keepBody: boolean } {
  const toGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST'
  return toGet ? { method: 'GET', keepBody: false } : { method, keepBody: true }
}

/**
 * Location as text. Its bytes are UTF-8 if they can be; otherwise each byte above 0x7F is percent-encoded as it is, so that
 * no replacement character ever gets into a URL.
 */
function decodeLocation(latin1: string): string {
  // eslint-disable-next-line no-control-regex -- the range is the point: anything beyond ASCII
  if (!/[^\u0000-\u007f]/.test(latin1)) return latin1
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'))
  } catch {
    return latin1.replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  }
}

function withoutHash(href: string): string {
  return href.endsWith('#') ? href.slice(0, -1) : href
}

function excerpt(text: string): string {
  const short = text.length > 120 ? `${text.slice(0, 120)}…` : text
  return short.replace(/\/\/[^/?#@]*@/, '//')
}

/** Headers that say how to answer and nothing of who asks: these alone cross to another origin. */
const CROSS_ORIGIN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'dnt',
  'pragma',
  'priority',
  'range',
  'save-data',
  'upgrade-insecure-requests',
  'user-agent',
])

export interface HopHeadersInput {
  readonly from: string
  readonly to: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** False when the hop turned into a GET: the headers that describe the body go with it. */
  readonly keepBody: boolean
}

/**
 * The headers that go along to a redirect's target. To another origin (scheme, host or port) credentials, cookies and the
 * caller's own headers stay behind. A copied Cookie always does: the jar decides anew at each hop.
 */
export function headersForHop(input: HopHeadersInput): Readonly<Record<string, string>> {
  const same = new URL(input.from).origin === new URL(input.to).origin
  return Object.fromEntries(Object.entries(input.headers).filter(([name]) => passes(name, same, input.keepBody)))
}

function passes(name: string, sameOrigin: boolean, keepBody: boolean): boolean {
  if (name === 'host') return false
  if (!keepBody && (name.startsWith('content-') || name === 'transfer-encoding')) return false
  if (sameOrigin) return true
  return (
    CROSS_ORIGIN_HEADERS.has(name) ||
    name.startsWith('sec-ch-') ||
    name.startsWith('sec-fetch-') ||
    (keepBody && name === 'content-type')
  )
}
