/** One line of a seed file: a URL, a bare domain, a row of CSV or a request as JSON. Pure. */

import type { CacheMode } from '../core/request.ts'
import type { Seed } from './contract.ts'

export type ParsedSeed = Omit<Seed, 'line'> | { readonly problem: string }

/** Of a line that is shown in a problem. */
const MAX_SHOWN_CHARS = 100

/**
 * A bare domain or address gets `http://`, as in curl and as lists of top sites are meant: a site that speaks https only
 * is reached by its redirect, while one that speaks http only could not be reached by a guess of https.
 */
export function parseSeedUrl(text: string): ParsedSeed {
  if (/^https?:/i.test(text)) {
    return URL.canParse(text) ? { url: text } : { problem: `expected a URL, found ${shown(text)}` }
  }
  if (hasScheme(text)) return { problem: `expected a URL of http or https, found ${shown(text)}` }
  const url = withPath(`http://${text}`)
  if (!isDomainLike(text) || !URL.canParse(url)) {
    return { problem: `expected a URL or a domain, found ${shown(text)}` }
  }
  return { url }
}

/** `site.test:8080` has a port, no scheme; `mailto:x` and `http:x` have a scheme. */
function hasScheme(text: string): boolean {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)/is.exec(text) ?? []
  if (scheme === undefined || rest === undefined) return false
  return !/^\d{1,5}(?:[/?#]|$)/.test(rest)
}

/** A single word is a typing error more often than a host; localhost and addresses are none. */
function isDomainLike(text: string): boolean {
  const [host = ''] = /^(?:\[[\da-f:.]+\]|[^\s,;|/?#:[\]]+)/i.exec(text) ?? []
  const after = text.slice(host.length)
  if (/\s/.test(after) || (after !== '' && !/^[:/?#]/.test(after))) return false
  return host.startsWith('[') || host.toLowerCase() === 'localhost' || host.slice(1, -1).includes('.')
}

function withPath(url: string): string {
  return /^http:\/\/[^/?#]*$/.test(url) ? `${url}/` : url
}

/**
 * A line of JSON Lines: `{"url", "method"?, "headers"?, "payload"?, "priority"?, "label"?, "userData"?, "cache"?, "depth"?}`.
 * Other keys are passed over, so that another crawl's export is a list of seeds too.
 */
export function parseSeedJson(text: string): ParsedSeed {
  const request = parseObject(text)
  if (request === undefined) return { problem: `expected a JSON object, found ${shown(text)}` }
  const { url } = request
  if (typeof url !== 'string') return { problem: `expected a JSON object with "url", found ${shown(text)}` }
  const parsed = parseSeedUrl(url.trim())
  if ('problem' in parsed) return parsed
  const wrong = wrongKey(request)
  if (wrong !== undefined) return { problem: `${wrong}, found ${shown(text)}` }
  const given = Object.fromEntries(CHECKS.flatMap(([key]) => (isGiven(request[key]) ? [[key, request[key]]] : [])))
  if (typeof given['method'] === 'string') given['method'] = given['method'].toUpperCase()
  // each was looked at by its check
  return { ...(given as Omit<Seed, 'line' | 'url'>), url: parsed.url }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const isHeaders = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value as object).every(
    ([name, one]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof one === 'string' && !/[\r\n\0]/.test(one),
  )

const CACHE_MODES: readonly string[] = ['on', 'http', 'refresh', 'offline', 'off'] satisfies readonly CacheMode[]

function isCache(value: unknown): boolean {
  if (typeof value === 'string') return CACHE_MODES.includes(value)
  if (!isObject(value)) return false
  const { mode, ttlMs } = value as { readonly mode?: unknown; readonly ttlMs?: unknown }
  return (
    (mode === undefined || (typeof mode === 'string' && CACHE_MODES.includes(mode))) &&
    (ttlMs === undefined || (typeof ttlMs === 'number' && ttlMs >= 0))
  )
}

const CHECKS: readonly (readonly [key: string, isRight: (value: unknown) => boolean, expected: string])[] = [
  ['depth', (value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number from 0'],
  ['priority', (value) => Number.isSafeInteger(value), 'a whole number'],
  ['label', (value) => typeof value === 'string', 'text'],
  ['userData', isObject, 'an object'],
  ['method', (value) => typeof value === 'string' && /^[A-Za-z]{1,20}$/.test(value), 'the name of a method'],
  ['headers', isHeaders, 'an object of texts without line ends'],
  ['payload', (value) => typeof value === 'string', 'text'],
  ['cache', isCache, `one of ${CACHE_MODES.join(', ')}, or an object of mode and ttlMs`],
]

function wrongKey(request: Readonly<Record<string, unknown>>): string | undefined {
  const wrong = CHECKS.find(([key, isRight]) => isGiven(request[key]) && !isRight(request[key]))
  return wrong === undefined ? undefined : `expected "${wrong[0]}" to be ${wrong[2]}`
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text)
}
