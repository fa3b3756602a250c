/** Resolves the links of one page: `new URL`, with short cuts for the plain links that most pages are made of. */

/** Links kept resolved, for the navigation that repeats inside a page. */
const MAX_CACHED_LINKS = 4096
const MAX_CACHED_LENGTH = 512
/** Hosts that are known to be written as the standard would write them. */
const MAX_CACHED_ORIGINS = 512

// Characters that stand in a path or a query as they are, whatever comes before them. Dots and colons are looked at apart.
const PLAIN = /^[A-Za-z0-9\-._~!$&()*+,;=:@/?%[\]]+$/
// A segment that begins with a dot, plain or escaped, may be a dot segment.
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2[eE])/
const ORIGIN = /^https?:\/\/[^/?]+/

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
    const bare = hash === -1 ? href : href.slice(0, hash)
    // Blanks before a fragment are not what blanks at the end are: such links go without the cache.
    if (hash !== -1 && !PLAIN.test(bare)) return resolvePlain(bare) ?? resolveSlow(href, base)
    const cached = cache.get(bare)
    if (cached !== undefined) return cached
    const resolved = resolvePlain(bare) ?? resolveSlow(bare, base)
    if (cache.size < MAX_CACHED_LINKS && bare.length <= MAX_CACHED_LENGTH) cache.set(bare, resolved)
    return resolved
  }

  /** Undefined where it is not plain that joining strings does what the standard does. */
  function resolvePlain(href: string): string | undefined {
    if (anchor === undefined) return undefined
    if (href === '') return anchor.self
    if (!PLAIN.test(href)) return undefined
    if (href.startsWith('/')) {
      return href.startsWith('//') ? resolveOrigin(anchor.scheme + href) : joinPath(anchor.origin, href)
    }
    if (href.startsWith('?')) return anchor.path + href
    if (href.startsWith('http')) {
      const absolute = resolveOrigin(href)
      if (absolute !== undefined) return absolute
    }
    return href.includes(':') ? undefined : joinRelative(anchor, href)
  }

  function resolveOrigin(href: string): string | undefined {
    const origin = ORIGIN.exec(href)?.[0]
    if (origin === undefined) return undefined
    let isPlain = origins.get(origin)
    if (isPlain === undefined) {
      isPlain = parse(origin, undefined)?.href === `${origin}/`
      if (origins.size < MAX_CACHED_ORIGINS) origins.set(origin, isPlain)
    }
    if (!isPlain) return undefined
    const rest = href.slice(origin.length)
    return rest.startsWith('/') ? joinPath(origin, rest) : rest === '' ? `${origin}/` : `${origin}/${rest}`
  }
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
  const self = base.href.split('#', 1)[0] ?? ''
  const path = self.split('?', 1)[0] ?? ''
  const origin = path.slice(0, path.indexOf('/', base.protocol.length + 2))
  return { scheme: base.protocol, origin, folder: path.slice(0, path.lastIndexOf('/') + 1), path, self }
}

function joinPath(origin: string, pathAndQuery: string): string | undefined {
  return DOT_SEGMENT.test(pathAndQuery) ? undefined : origin + pathAndQuery
}

function joinRelative(anchor: Anchor, href: string): string | undefined {
  let { folder } = anchor
  let rest = href
  while (rest.startsWith('../')) {
    rest = rest.slice(3)
    // Above the root there is only the root.
    if (folder.length > anchor.origin.length + 1)
      folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
  }
  if (rest === href && rest.startsWith('./')) rest = rest.slice(2)
  if (rest === '') return folder
  return DOT_SEGMENT.test(rest) ? undefined : folder + rest
}

function resolveSlow(href: string, base: URL | null): string | null {
  const url = parse(href, base?.href)
  return url === null ? null : (url.href.split('#', 1)[0] ?? null)
}

function parse(href: string, base: string | undefined): URL | null {
  try {
    return new URL(href, base)
  } catch {
    return null
  }
}
