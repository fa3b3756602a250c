/** The end of a pass: everything that was found, resolved against the base that the whole page gives. */

import { joinPieces, type UrlPieces } from '../core/url-pieces.ts'
import { nextTurn } from '../util/next-turn.ts'
import type { HrefResolver, LinkVisitor, PageLink, PageRefresh, PageScan } from './contract.ts'
import { createUrlResolver, encodeQuery, hasOtherScheme, queryCharset, trimHref } from './href.ts'
import type { FoundLink, Page } from './page.ts'
import { decodeAttribute, wordsOf } from './text.ts'

const DEFAULT_MAX_URL_BYTES = 8192
const MAX_TOO_LONG = 1000
/** All URLs of a page together: 50,000 short links on a page with a long URL would be many times the page. */
const MAX_URL_CHARS = 32 * 1024 * 1024
const SHOWN_OF_TOO_LONG = 200
/** Looked at in one turn, with what a visitor does: some 10 ms. */
const LINKS_A_TURN = 1000

/** `other`: another scheme, no link to follow. `invalid`: no URL. */
type Resolved = string | { readonly tooLong: string } | typeof INVALID | typeof OTHER
const INVALID = Symbol('invalid')
const OTHER = Symbol('other')
type Resolve = (href: string) => Resolved

export function resolvePage(page: Page): PageScan {
  return new ResolvedPage(page)
}

interface Totals {
  links: number
  invalid: number
  dropped: number
  /** Of all URLs together. */
  chars: number
  readonly tooLong: string[]
}

class ResolvedPage implements PageScan {
  readonly base: string
  readonly canonical: string | undefined
  readonly refresh: PageRefresh | undefined
  readonly title: string
  readonly robots: readonly string[]
  readonly #page: Page
  readonly #toUrl: HrefResolver
  readonly #resolve: Resolve
  #totals: Totals | undefined
  #links: readonly PageLink[] | undefined

  constructor(page: Page) {
    const { base, toUrl } = baseOf(page)
    this.base = base
    this.#page = page
    this.#toUrl = toUrl
    this.#resolve = createPageResolver(page, toUrl)
    this.title = page.title ?? ''
    this.robots = page.robots
    this.canonical = page.canonicalHref === undefined ? undefined : urlOf(this.#resolve(page.canonicalHref))
    this.refresh = firstRefresh(page, this.#resolve)
  }

  get links(): readonly PageLink[] {
    if (this.#links === undefined) {
      const links: PageLink[] = []
      this.visitLinks({ take: (link) => links.push(link) })
      this.#links = links
    }
    return this.#links
  }

  get foundCount(): number {
    return this.#page.links.length
  }

  get linkCount(): number {
    return this.#counted().links
  }

  get invalidLinks(): number {
    return this.#counted().invalid
  }

  get tooLong(): readonly string[] {
    return this.#counted().tooLong
  }

  get droppedLinks(): number {
    return this.#counted().dropped
  }

  visitLinks(visitor: LinkVisitor): void {
    const totals = this.#noTotals()
    for (const found of this.#page.links) this.#visit(found, visitor, totals)
    this.#totals = totals
  }

  async visitLinksInTurns(visitor: LinkVisitor): Promise<void> {
    const totals = this.#noTotals()
    for (const [index, found] of this.#page.links.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
      if (index % LINKS_A_TURN === 0) await nextTurn()
      this.#visit(found, visitor, totals)
    }
    this.#totals = totals
  }

  #noTotals(): Totals {
    return { links: 0, invalid: 0, dropped: this.#page.droppedLinks, chars: 0, tooLong: [] }
  }

  #visit(found: FoundLink, visitor: LinkVisitor, totals: Totals): void {
    if (totals.chars > MAX_URL_CHARS) {
      totals.dropped++
      return
    }
    const { options, reader } = this.#page
    const maxUrlBytes = options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES
    const pieces = this.#toUrl.pieces?.(reader.html, found.from, found.to)
    if (pieces !== undefined && lengthOf(pieces) <= maxUrlBytes) {
      totals.links++
      totals.chars += lengthOf(pieces)
      if (found.rel !== undefined || visitor.passesOver?.(pieces) !== true) {
        visitor.take(linkOf(found, joinPieces(pieces), options.withText === true))
      }
      return
    }
    const resolved = this.#resolve(reader.html.slice(found.from, found.to))
    if (typeof resolved === 'string') {
      totals.links++
      totals.chars += resolved.length
      visitor.take(linkOf(found, resolved, options.withText === true))
    } else countBad(totals, resolved)
  }

  #counted(): Totals {
    if (this.#totals === undefined) this.visitLinks({ passesOver: () => true, take: () => undefined })
    return this.#totals ?? this.#noTotals()
  }
}

function lengthOf({ prefix, from, to }: UrlPieces): number {
  return prefix.length + to - from
}

function countBad(totals: Totals, resolved: Exclude<Resolved, string>): void {
  if (resolved === OTHER) return
  totals.invalid++
  if (typeof resolved === 'object' && totals.tooLong.length < MAX_TOO_LONG) totals.tooLong.push(resolved.tooLong)
}

const NO_REL = { rel: '', nofollow: false }

function linkOf(found: FoundLink, url: string, withText: boolean): PageLink {
  const { rel, nofollow } = found.rel === undefined ? NO_REL : relOf(found.rel)
  if (withText) return { url, text: found.text, rel, nofollow, tag: found.tag }
  return { url, tag: found.tag, rel, nofollow }
}

function relOf(raw: string): { readonly rel: string; readonly nofollow: boolean } {
  const words = wordsOf(decodeAttribute(raw))
  return { rel: words.join(' '), nofollow: words.includes('nofollow') }
}

function urlOf(resolved: Resolved): string | undefined {
  return typeof resolved === 'string' ? resolved : undefined
}

function firstRefresh(page: Page, resolve: Resolve): PageRefresh | undefined {
  for (const { href, seconds } of page.refreshes) {
    // the references of the content have been decoded once: `&` in it is one
    const url = urlOf(resolve(href.replaceAll('&', '&amp;')))
    if (url !== undefined) return { url, seconds }
  }
  return undefined
}

/** The first `base` with an href decides; one that names no http(s) URL leaves the page's own. */
function baseOf(page: Page): { readonly base: string; readonly toUrl: HrefResolver } {
  const { url, resolve: createResolver = createUrlResolver } = page.options
  const own = withoutFragment(url)
  const named = page.baseHref === undefined ? undefined : namedBase(page, page.baseHref)
  if (named !== undefined) return { base: named, toUrl: createResolver(named) }
  const toUrl = createResolver(own)
  return { base: httpUrl(toUrl('')) ?? own, toUrl }
}

function namedBase({ options }: Page, raw: string): string | undefined {
  const href = trimHref(decodeAttribute(raw))
  // every link would become as long
  if (href.length > (options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES)) return undefined
  const charset = queryCharset(options.charset)
  const resolve = createUrlResolver(withoutFragment(options.url))
  return httpUrl(resolve(charset === undefined ? href : encodeQuery(href, charset)))
}

function httpUrl(url: string | null): string | undefined {
  return url !== null && /^https?:/.test(url) ? url : undefined
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#')
  return hash < 0 ? url : url.slice(0, hash)
}

/** Nothing in it to decode, to trim or to encode: most links. */
const PLAIN_HREF = /^[!-%'-~]*$/

/** Resolves what is written in the page, each different text once. */
function createPageResolver({ options }: Page, toUrl: HrefResolver): Resolve {
  const maxUrlBytes = options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES
  const resolveNew = (raw: string): Resolved => {
    const isPlain = PLAIN_HREF.test(raw)
    const href = isPlain ? raw : trimHref(decodeAttribute(raw))
    if (hasOtherScheme(href)) return OTHER
    if (href.length > maxUrlBytes) return { tooLong: startOf(toUrl(href.slice(0, SHOWN_OF_TOO_LONG)) ?? href) }
    const charset = isPlain ? undefined : queryCharset(options.charset)
    const url = toUrl(charset === undefined ? href : encodeQuery(href, charset))
    if (url === null) return INVALID
    // relative, on a page of another scheme
    if (!/^https?:/.test(url)) return OTHER
    return url.length > maxUrlBytes ? { tooLong: startOf(url) } : withoutFragment(url)
  }
  let known: Map<string, Resolved> | undefined
  return (raw) => {
    const before = known?.get(raw)
    if (before !== undefined) return before
    const resolved = resolveNew(raw)
    known ??= new Map()
    known.set(raw, resolved)
    return resolved
  }
}

/** A copy: a slice would keep the whole page in memory. */
function startOf(href: string): string {
  return Buffer.from(href.slice(0, SHOWN_OF_TOO_LONG)).toString()
}
