/** Resolves the links of one page: `new URL`, with short cuts for the plain links that most pages are made of. */

/** Links kept that took the slow way, for the navigation that repeats inside a page. */
const MAX_CACHED_LINKS = 4096
const MAX_CACHED_LENGTH = 512
/** Hosts that are known to be written as the standard would write them, or not. */
const MAX_CACHED_ORIGINS = 512

export type Resolver = (href: string) => string | null

/**
 * Gives the absolute URL without fragment, exactly as `new URL(href, baseUrl)` would, or null when that cannot parse it.
 * Schemes other than http and https come back too: the caller looks. Keeps state bounded by constants; one per page.
 */
export function createResolver(baseUrl: string): Resolver {
  const base = parse(baseUrl, undefined)
  const anchor = base !== null && /^https?:$/.test(base.protocol) ? anchorOf(base) : undefined
  const origins = new Map<string, boolean>()
  const cache = new Map<string, string | null>()

  return (href) => {
    const hash = href.indexOf('#')
    const plain = anchor === undefined ? undefined : resolvePlain(anchor, hash === -1 ? href : href.slice(0, hash))
    return plain ?? resolveCached(href)
  }

  function resolveCached(href: string): string | null {
    const cached = cache.get(href)
    if (cached !== undefined) return cached
    const url = parse(href, base?.href)
    const resolved = url === null ? null : withoutFragment(url.href)
    if (cache.size < MAX_CACHED_LINKS && href.length <= MAX_CACHED_LENGTH) cache.set(href, resolved)
    return resolved
  }

  /** Undefined where it is not plain that joining strings does what the standard does. */
  function resolvePlain(from: Anchor, href: string): string | undefined {
    const first = href.charCodeAt(0)
    if (first === SLASH) {
      if (href.charCodeAt(1) === SLASH) return resolveOrigin(from, from.scheme + href)
      return isPlain(href, 1) ? from.origin + href : undefined
    }
    if (first === QUESTION) return isPlain(href, 1) ? from.path + href : undefined
    if (href === '') return from.self
    if (href.startsWith('http://') || href.startsWith('https://')) return resolveOrigin(from, href)
    return href.includes(':') ? undefined : joinRelative(from, href)
  }

  function resolveOrigin(from: Anchor, href: string): string | undefined {
    const end = href.indexOf('/', 8)
    if (end === -1 || !isPlain(href, end + 1)) return undefined
    const origin = href.slice(0, end)
    return origin === from.origin || isPlainOrigin(origin) ? href : undefined
  }

  function isPlainOrigin(origin: string): boolean {
    const known = origins.get(origin)
    if (known !== undefined) return known
    const isSame = parse(origin, undefined)?.href === `${origin}/`
    if (origins.size < MAX_CACHED_ORIGINS) origins.set(origin, isSame)
    return isSame
  }
}

const [SLASH, DOT, PERCENT, QUESTION] = [0x2f, 0x2e, 0x25, 0x3f]
/** 1 for the characters that stand in a path or a query as they are, whatever comes before them. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w\-.~!$&()*+,;=:@/?%[\]]/.test(String.fromCharCode(code))),
)

/** Whether nothing from `start`, which begins a segment, needs an escape or could be part of a dot segment. */
function isPlain(href: string, start: number): boolean {
  let before = SLASH
  for (let i = start; i < href.length; i++) {
    const code = href.charCodeAt(i)
    if (PLAIN[code] !== 1) return false
    // A segment that begins with a dot, plain or escaped, may be a dot segment.
    if (before === SLASH && (code === DOT || code === PERCENT)) return false
    before = code
  }
  return true
}

interface Anchor {
  /** `http:` */
  readonly scheme: string
  /** `http://user@host:port` */
  readonly origin: string
  /** Up to and with the last slash of the path. */
  readonly folder: string
  /** Without query. */
  readonly path: string
  /** Without fragment. */
  readonly self: string
}

function anchorOf(base: URL): Anchor {
  const self = withoutFragment(base.href)
  const query = self.indexOf('?')
  const path = query === -1 ? self : self.slice(0, query)
  const origin = path.slice(0, path.indexOf('/', base.protocol.length + 2))
  return { scheme: base.protocol, origin, folder: path.slice(0, path.lastIndexOf('/') + 1), path, self }
}

function joinRelative({ origin, folder: start }: Anchor, href: string): string | undefined {
  let folder = start
  let from = href.startsWith('./') ? 2 : 0
  while (href.startsWith('../', from)) {
    from += 3
    // Above the root there is only the root.
    if (folder.length > origin.length + 1) folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
  }
  return isPlain(href, from) ? folder + href.slice(from) : undefined
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
