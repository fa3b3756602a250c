/** What a test site can answer, faults included. */

import type { IncomingHttpHeaders } from 'node:http'

/** A request as it arrived. */
export interface SiteRequest {
  /** Counted from 1 over the life of the site. */
  readonly number: number
  /** How many requests have come for this method, host and path, this one included. */
  readonly visit: number
  /** Milliseconds of the site's clock, which never jumps. */
  readonly atMs: number
  readonly method: string
  /** The Host field in lower case, without the port of the site. */
  readonly host: string
  /** Path and query, exactly as sent. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** What goes wrong with an answer, beside its status. */
export type SiteFault =
  /** The request is read and nothing is ever said. */
  | { readonly kind: 'hang' }
  /** The connection is reset (RST) instead of an answer. */
  | { readonly kind: 'reset' }
  /** The connection is closed (FIN) instead of an answer. */
  | { readonly kind: 'close' }
  /** The head promises the whole body; the connection ends after this many bytes of it. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly reset?: boolean }
  /** The head comes and, after this many bytes of the body (default 0), nothing more. */
  | { readonly kind: 'stall'; readonly afterBytes?: number }
  /** The body comes in pieces of `chunkBytes`, one every `everyMs`. */
  | { readonly kind: 'drip'; readonly chunkBytes: number; readonly everyMs: number }
  /** The body is repeated without end, as fast as it is read, or one copy every `everyMs`. */
  | { readonly kind: 'endless'; readonly everyMs?: number }
  /** These bytes are the answer, head and all; then the connection is closed. */
  | { readonly kind: 'raw'; readonly bytes: string | Uint8Array }

export interface SiteAnswer {
  /** Default 200. */
  readonly status?: number
  /** A field with several values is sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Default: a small HTML page made of `title` and `links`. */
  readonly body?: string | Uint8Array
  readonly title?: string
  /** Values of the `href` of the made page, in order. */
  readonly links?: readonly string[]
  /** Packs the body and says so in Content-Encoding. */
  readonly encoding?: 'gzip' | 'deflate' | 'deflate-raw' | 'br'
  /** Sent as Content-Length whatever the body is. */
  readonly contentLength?: number
  /** No Content-Length; the body is sent in chunks. */
  readonly chunked?: boolean
  /** Silence before the answer. Default 0. */
  readonly delayMs?: number
  readonly fault?: SiteFault
}

/** undefined: the site answers 404. */
export type SiteHandler = (request: SiteRequest) => SiteAnswer | undefined | Promise<SiteAnswer | undefined>

/**
 * An answer by path. Keys: `/path?query` for any host, `//host/path?query` for one; a `*` at the end stands for any rest.
 * An exact key comes before a longer prefix, a longer prefix before a shorter, a host's own before any host's.
 * A list is one answer for each visit in turn; the last one stays.
 */
export type SiteRoutes = Readonly<Record<string, SiteAnswer | readonly SiteAnswer[] | SiteHandler>>

/** Turns a table of routes into a handler. */
export function createRouter(routes: SiteRoutes): SiteHandler {
  const entries = Object.entries(routes)
  const findOfHost = createFinder(entries.filter(([key]) => key.startsWith('//')))
  const findOfAny = createFinder(entries.filter(([key]) => !key.startsWith('//')))
  return (request) => {
    const route = findOfHost(`//${request.host}${request.path}`) ?? findOfAny(request.path)
    if (route === undefined) return undefined
    if (typeof route === 'function') return route(request)
    return isList(route) ? route[Math.min(request.visit, route.length) - 1] : route
  }
}

type Route = SiteRoutes[string]

function createFinder(entries: readonly (readonly [string, Route])[]): (address: string) => Route | undefined {
  const exact = new Map(entries)
  const prefixes = [...exact.keys()]
    .filter((key) => key.endsWith('*'))
    .map((key) => key.slice(0, -1))
    .toSorted((a, b) => b.length - a.length)
  return (address) => {
    const route = exact.get(address)
    if (route !== undefined) return route
    const prefix = prefixes.find((candidate) => address.startsWith(candidate))
    return prefix === undefined ? undefined : exact.get(`${prefix}*`)
  }
}

function isList(route: SiteAnswer | readonly SiteAnswer[]): route is readonly SiteAnswer[] {
  return Array.isArray(route)
}

/** A small valid page. */
export function pageHtml(title: string, links: readonly string[] = []): string {
  const anchors = links.map((href, index) => `<li><a href="${escapeAttribute(href)}">link ${index + 1}</a></li>`)
  const text = escapeAttribute(title)
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${text}</title></head>\n<body><h1>${text}</h1><ul>\n${anchors.join('\n')}\n</ul></body></html>\n`
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
