/** Resolves the links of one page: `new URL`, with short cuts for the plain links that most pages are made of. */

import { joinPieces, type UrlPieces } from '../core/url-pieces.ts'

/** Links kept that took the slow way, for the navigation that repeats inside a page. */
const MAX_CACHED_LINKS = 4096
const MAX_CACHED_LENGTH = 512
/** Hosts that are known to be written as the standard would write them, or not. */
const MAX_CACHED_ORIGINS = 512

export interface Resolver {
  /**
   * The absolute URL without fragment, exactly as `new URL(href, baseUrl)` would give it, or null when that cannot parse
   * it. Schemes other than http and https come back too: the caller looks.
   */
  (href: string): string | null
  /**
   * The same for the link that stands in a text, without making a string; undefined where it is not plain what it means,
   * also where it holds a `&`, which markup may mean otherwise.
   */
  pieces(text: string, from: number, to: number): UrlPieces | undefined
}

/** Keeps state bounded by constants; one per page. */
export function createResolver(baseUrl: string): Resolver {
  const base = anchorOfPlain(baseUrl) === undefined ? parse(baseUrl, undefined) : null
  const anchor = anchorOfPlain(baseUrl) ?? (base === null || !isHttp(base.href) ? undefined : anchorOf(base.href))
  const baseHref = anchor?.self ?? base?.href
  const joint: Joint = { prefix: '', text: '', from: 0, to: 0 }
  let cache: Map<string, string | null> | undefined

  const pieces = (text: string, from: number, to: number): UrlPieces | undefined => {
    if (anchor === undefined) return undefined
    place(joint, text, { from, to })
    return takePlain(anchor, joint, WRITTEN) ? joint : undefined
  }

  const resolveCached = (href: string): string | null => {
    const cached = cache?.get(href)
    if (cached !== undefined) return cached
    const url = parse(href, baseHref)
    const resolved = url === null ? null : withoutFragment(url.href)
    cache ??= new Map()
    if (cache.size < MAX_CACHED_LINKS && href.length <= MAX_CACHED_LENGTH) cache.set(href, resolved)
    return resolved
  }

  const resolve = (href: string): string | null => {
    if (anchor === undefined) return resolveCached(href)
    place(joint, href, { from: 0, to: href.length })
    return takePlain(anchor, joint, PLAIN) ? joinPieces(joint) : resolveCached(href)
  }

  return Object.assign(resolve, { pieces })
}

const [HASH, SLASH, DOT, PERCENT, QUESTION, COLON] = [0x23, 0x2f, 0x2e, 0x25, 0x3f, 0x3a]
/** Which characters stand in a path or a query as they are, whatever comes before them: 1 each. */
interface Alphabet {
  readonly any: Uint8Array
  /** Of a relative path, which a colon could turn into something else. */
  readonly relative: Uint8Array
}

const PLAIN = alphabet(/[\w\-.~!$&()*+,;=:@/?%[\]]/)
/** The same in markup, where `&` may begin a reference. */
const WRITTEN = alphabet(/[\w\-.~!$()*+,;=:@/?%[\]]/)

function alphabet(plain: RegExp): Alphabet {
  const any = Uint8Array.from({ length: 128 }, (_, code) => Number(plain.test(String.fromCharCode(code))))
  return { any, relative: any.map((isPlain, code) => (code === COLON ? 0 : isPlain)) }
}

interface Anchor {
  /** `http:` */
  readonly scheme: string
  /** `http://user@host:port` */
  readonly origin: string
  /** Up to and with the last slash of the path, then the folders above, as far as they were asked for. */
  readonly folders: string[]
  /** Without query. */
  readonly path: string
  /** Without fragment. */
  readonly self: string
}

type Joint = { -readonly [K in keyof UrlPieces]: UrlPieces[K] }

function place(joint: Joint, text: string, { from, to }: { readonly from: number; readonly to: number }): void {
  joint.text = text
  joint.from = from
  joint.to = to
}

/** From a link to its pieces. False where it is not plain that joining strings does what the standard does. */
function takePlain(anchor: Anchor, joint: Joint, { any, relative }: Alphabet): boolean {
  const { text, from, to } = joint
  const first = from < to ? text.charCodeAt(from) : HASH
  if (first === HASH) {
    joint.prefix = anchor.self
    joint.to = from
    return true
  }
  if (first === SLASH) {
    if (from + 1 < to && text.charCodeAt(from + 1) === SLASH) return takeOrigin(joint, anchor.scheme, any)
    joint.prefix = anchor.origin
    return endPlain(joint, from + 1, any)
  }
  if (first === QUESTION) {
    joint.prefix = anchor.path
    return endPlain(joint, from + 1, any)
  }
  const path = from + anchor.origin.length
  if (path < to && text.charCodeAt(path) === SLASH && text.startsWith(anchor.origin, from)) {
    joint.prefix = anchor.origin
    joint.from = path
    return endPlain(joint, path + 1, any)
  }
  if (text.startsWith('http://', from) || text.startsWith('https://', from)) return takeOrigin(joint, '', any)
  takeFolder(anchor, joint)
  return endPlain(joint, joint.from, relative)
}

/** The folder that a relative path goes on from. */
function takeFolder({ origin, folders }: Anchor, joint: Joint): void {
  const { text, to } = joint
  let { from } = joint
  let up = 0
  if (text.startsWith('./', from)) from += 2
  while (from + 3 <= to && text.startsWith('../', from)) {
    from += 3
    const folder = folders[up] ?? ''
    // above the root there is only the root
    if (folder.length <= origin.length + 1) continue
    if (++up === folders.length) folders.push(folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1))
  }
  joint.prefix = folders[up] ?? ''
  joint.from = Math.min(from, to)
}

/** A link that names its host, which has to be written as the standard would write it. */
function takeOrigin(joint: Joint, scheme: string, table: Uint8Array): boolean {
  const { text, from, to } = joint
  const path = text.indexOf('/', text.indexOf('//', from) + 2)
  if (path === -1 || path >= to) return false
  for (let at = from; at < path; at++) if (table[text.charCodeAt(at)] !== 1) return false
  if (!isPlainOrigin(scheme + text.slice(from, path))) return false
  joint.prefix = scheme
  return endPlain(joint, path + 1, table)
}

/**
 * Ends the pieces where the link or its fragment ends. False when something from `start`, which begins a segment, needs
 * an escape or could be part of a dot segment.
 */
function endPlain(joint: Joint, start: number, table: Uint8Array): boolean {
  const { text, to } = joint
  let before = SLASH
  for (let at = start; at < to; at++) {
    const code = text.charCodeAt(at)
    if (table[code] !== 1) {
      joint.to = at
      return code === HASH
    }
    // A segment that begins with a dot, plain or escaped, may be a dot segment.
    if (before === SLASH && (code === DOT || code === PERCENT)) return false
    before = code
  }
  return true
}

const origins = new Map<string, boolean>()

/** A memo of a pure function: shared by all pages. */
function isPlainOrigin(origin: string): boolean {
  const known = origins.get(origin)
  if (known !== undefined) return known
  const isSame = parse(origin, undefined)?.href === `${origin}/`
  if (origins.size >= MAX_CACHED_ORIGINS) origins.clear()
  // a copy: a slice would keep its whole page in memory
  if (origin.length <= MAX_CACHED_LENGTH) origins.set(Buffer.from(origin).toString(), isSame)
  return isSame
}

/** Of a base that is written as the standard would write it. */
function anchorOfPlain(base: string): Anchor | undefined {
  const path = isHttp(base) ? base.indexOf('/', 8) : -1
  if (path === -1 || !isPlainOrigin(base.slice(0, path))) return undefined
  const joint: Joint = { prefix: '', text: base, from: 0, to: base.length }
  return endPlain(joint, path + 1, PLAIN.any) ? anchorOf(base) : undefined
}

/** Of a serialised http(s) URL. */
function anchorOf(base: string): Anchor {
  const self = withoutFragment(base)
  const query = self.indexOf('?')
  const path = query === -1 ? self : self.slice(0, query)
  const scheme = self.slice(0, self.indexOf(':') + 1)
  const origin = path.slice(0, path.indexOf('/', scheme.length + 2))
  return { scheme, origin, folders: [path.slice(0, path.lastIndexOf('/') + 1)], path, self }
}

function isHttp(href: string): boolean {
  return href.startsWith('http://') || href.startsWith('https://')
}

function withoutFragment(href: string): string {
  const hash = href.indexOf('#')
  return hash === -1 ? href : href.slice(0, hash)
}

function parse(href: string, base: string | undefined): URL | null {
  try {
    return new URL(href, base)
  } catch {
    return null
  }
}
