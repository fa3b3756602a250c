/** The end of a pass: everything that was found, resolved against the base that the whole page gives. */

import type { PageLink, PageRefresh, PageScan } from './contract.ts'
import { createUrlResolver, encodeQuery, hasOtherScheme, queryCharset, trimHref } from './href.ts'
import type { FoundLink, Page } from './page.ts'
import { decodeAttribute, wordsOf } from './text.ts'

const DEFAULT_MAX_URL_BYTES = 8192
const MAX_TOO_LONG = 1000
/** All URLs of a page together: 50,000 short links on a page with a long URL would be many times the page. */
const MAX_URL_CHARS = 32 * 1024 * 1024
const SHOWN_OF_TOO_LONG = 200

/** `other`: another scheme, no link to follow. `invalid`: no URL. */
type Resolved = { readonly url: string } | { readonly tooLong: string } | 'invalid' | 'other'
type Resolve = (href: string) => Resolved

export function resolvePage(page: Page): PageScan {
  const base = baseOf(page)
  const resolve = createPageResolver(page, base)
  const links: PageLink[] = []
  const tooLong: string[] = []
  let { droppedLinks } = page
  let invalidLinks = 0
  let chars = 0
  for (const found of page.links) {
    if (chars > MAX_URL_CHARS) {
      droppedLinks++
      continue
    }
    const resolved = resolve(found.href)
    if (resolved === 'other') continue
    if (resolved !== 'invalid' && 'url' in resolved) {
      links.push(linkOf(found, resolved.url, page.options.withText === true))
      chars += resolved.url.length
      continue
    }
    invalidLinks++
    if (resolved !== 'invalid' && tooLong.length < MAX_TOO_LONG) tooLong.push(resolved.tooLong)
  }
  const canonical = page.canonicalHref === undefined ? undefined : urlOf(resolve(page.canonicalHref))
  const refresh = firstRefresh(page, resolve)
  return {
    base,
    links,
    title: page.title ?? '',
    ...(canonical === undefined ? {} : { canonical }),
    robots: page.robots,
    ...(refresh === undefined ? {} : { refresh }),
    invalidLinks,
    tooLong,
    droppedLinks,
  }
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
  return resolved !== 'invalid' && resolved !== 'other' && 'url' in resolved ? resolved.url : undefined
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
function baseOf(page: Page): string {
  const own = withoutFragment(page.options.url)
  if (page.baseHref === undefined) return createUrlResolver(own)('') ?? own
  const charset = queryCharset(page.options.charset)
  const href = trimHref(decodeAttribute(page.baseHref))
  // every link would become as long
  if (href.length > (page.options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES)) return own
  return createUrlResolver(own)(charset === undefined ? href : encodeQuery(href, charset)) ?? own
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#')
  return hash < 0 ? url : url.slice(0, hash)
}

/** Nothing in it to decode, to trim or to encode: most links. */
const PLAIN_HREF = /^[!-%'-~]*$/

/** Resolves what is written in the page, each different text once. */
function createPageResolver(page: Page, base: string): Resolve {
  const { options } = page
  const maxUrlBytes = options.maxUrlBytes ?? DEFAULT_MAX_URL_BYTES
  const charset = queryCharset(options.charset)
  const toUrl = (URL.canParse(base) ? (options.resolve ?? createUrlResolver) : createUrlResolver)(base)
  const resolveNew = (raw: string): Resolved => {
    const isPlain = PLAIN_HREF.test(raw)
    const href = isPlain ? raw : trimHref(decodeAttribute(raw))
    if (hasOtherScheme(href)) return 'other'
    if (href.length > maxUrlBytes) return { tooLong: startOf(href) }
    const url = toUrl(isPlain || charset === undefined ? href : encodeQuery(href, charset))
    if (url === null) return 'invalid'
    // relative, on a page of another scheme
    if (!/^https?:/.test(url)) return 'other'
    return url.length > maxUrlBytes ? { tooLong: startOf(url) } : { url: withoutFragment(url) }
  }
  const known = new Map<string, Resolved>()
  return (raw) => {
    const before = known.get(raw)
    if (before !== undefined) return before
    const resolved = resolveNew(raw)
    known.set(raw, resolved)
    return resolved
  }
}

/** A copy: a slice would keep the whole page in memory. */
function startOf(href: string): string {
  return Buffer.from(href.slice(0, SHOWN_OF_TOO_LONG)).toString()
}
