/** A URL parsed, and the names it goes by: its wire form, its canonical form, its fingerprint, its host key. */

import * as crypto from 'node:crypto'

export { isLoopbackHost } from '../util/host-name.ts'

/** Default bound of a URL's length, in characters of its serialised form. */
const MAX_URL_BYTES = 8192

export interface ParseUrlOptions {
  /** What a relative URL is resolved against. */
  readonly base?: string | undefined
  /** Longest serialised URL without fragment. Default 8192. */
  readonly maxUrlBytes?: number | undefined
}

export type ParsedUrl =
  | {
      readonly ok: true
      /** WHATWG serialisation without fragment: what goes on the wire. */
      readonly url: string
      /** What identity rests on; never sent. */
      readonly canonical: string
      /** Lower-case host, with the port when it is not the default of the scheme. */
      readonly hostKey: string
    }
  | { readonly ok: false; readonly problem: string; readonly reason: 'invalid-url' | 'url-too-long' }

/** Parses by the URL standard; http and https only. Never throws: `problem` says what was expected and what was found. */
export function parseHttpUrl(input: string, options: string | ParseUrlOptions = {}): ParsedUrl {
  const { base, maxUrlBytes = MAX_URL_BYTES } = typeof options === 'string' ? { base: options } : options
  const href = hrefOf(input, base)
  if (href === undefined) return { ok: false, problem: problemOf(input, base), reason: 'invalid-url' }
  if (!isHttp(href)) {
    const scheme = href.slice(0, Math.min(href.indexOf(':'), 40))
    return { ok: false, problem: `expected an http or https URL, found the scheme ${scheme}:`, reason: 'invalid-url' }
  }
  const url = withoutFragment(href)
  if (url.length > maxUrlBytes) {
    const problem = `expected at most ${maxUrlBytes} characters, found a URL of ${url.length}`
    return { ok: false, problem, reason: 'url-too-long' }
  }
  return { ok: true, url, canonical: canonicalOf(url), hostKey: hostKeyOf(url) }
}

/**
 * The canonical form of a serialised http(s) URL without fragment: escapes of unreserved characters decoded, the others
 * in upper case (RFC 3986, 6.2.2), bytes and order untouched. Idempotent: where a stray `%` stands so that decoding
 * would make an escape that was not there (`%%36%31`), nothing is decoded.
 */
export function canonicalOf(url: string): string {
  if (!url.includes('%')) return url
  const path = url.indexOf('/', url.indexOf('//') + 2)
  const rest = path === -1 ? '' : url.slice(path)
  if (!rest.includes('%')) return url
  let kept = 0
  const decoded = rest.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    if (UNRESERVED.test(character)) return character
    kept++
    return escape.toUpperCase()
  })
  const isSafe = kept === countEscapes(decoded)
  return url.slice(0, path) + (isSafe ? decoded : rest.replace(ESCAPE, (escape) => escape.toUpperCase()))
}

/** The first 96 bits of the SHA-256 of the canonical URL, as 16 characters of base64url. */
export function fingerprintOf(canonical: string): string {
  return digestOf(canonical).slice(0, 16)
}

/** The unit of politeness: host, with the port when it is not the default. `url` must be a serialised http(s) URL. */
export function hostKeyOf(url: string): string {
  const start = url.indexOf('//') + 2
  const path = url.indexOf('/', start)
  const authority = path === -1 ? url.slice(start) : url.slice(start, path)
  return authority.slice(authority.lastIndexOf('@') + 1)
}

const ESCAPE = /%[0-9A-Fa-f]{2}/g
const UNRESERVED = /[A-Za-z0-9\-._~]/

// crypto.hash is four times as fast as a hash object for inputs of this size; Node 20.12 brought it.
const digestOf: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text, 'base64url')
    : (text) => crypto.createHash('sha256').update(text).digest('base64url')

function hrefOf(input: string, base: string | undefined): string | undefined {
  try {
    return new URL(input, base).href
  } catch {
    return undefined
  }
}

function isHttp(href: string): boolean {
  return href.startsWith('http://') || href.startsWith('https://')
}

function withoutFragment(href: string): string {
  const hash = href.indexOf('#')
  return hash === -1 ? href : href.slice(0, hash)
}

function countEscapes(text: string): number {
  return text.match(ESCAPE)?.length ?? 0
}

function problemOf(input: string, base: string | undefined): string {
  const found = JSON.stringify(input.length > 200 ? `${input.slice(0, 200)}…` : input)
  const trimmed = input.trim()
  if (trimmed === '') return 'expected a URL, found nothing'
  if (base !== undefined && hrefOf(base, undefined) === undefined) return 'the base is no URL that can be parsed'
  if (/^https?:/i.test(trimmed)) return `expected a URL with a valid host and port, found ${found}`
  return `expected a URL that begins with http:// or https://, found ${found}`
}
