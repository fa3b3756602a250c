/** Cookie jars, one a session: RFC 6265bis with the public suffix list, bounded as in browsers, kept in the store. */

import { createHash, randomUUID } from 'node:crypto'

import type * as ToughCookie from 'tough-cookie'
import type { Cookie, CookieJar, MemoryCookieStore } from 'tough-cookie'

import type { Clock } from '../core/clock.ts'
import type { StateStore } from '../core/state-store.ts'
import { parseCookieDate } from './cookie-date.ts'
import { createCookieNews, type CookieNews } from './cookie-news.ts'
import { formatCookiesTxt, parseCookiesTxt } from './cookies-txt.ts'
import { loadLate } from '../util/load-late.ts'

const library = loadLate<typeof ToughCookie>('tough-cookie')

export interface CookieJars {
  /** The Cookie header for a request, or undefined: over the caller's own header, whose other cookies it keeps. */
  headerFor(session: string, url: string, own?: string): string | undefined
  /** Takes the Set-Cookie fields of an answer. Bad ones are dropped, as in browsers. */
  receive(session: string, url: string, fields: readonly string[]): void
  /** The user's own cookies (`k=v`), for these URLs' hosts alone. What a server set under that name is not replaced. */
  addUserCookies(session: string, urls: readonly string[], pairs: readonly string[]): void
  /** The living cookies of the domains that are wanted. */
  select(session: string, isWanted: (domain: string) => boolean): readonly JarCookie[]
  /** Changes when other cookies would be sent: a repeated URL under a new version is no loop. '' without cookies. */
  versionFor(session: string, url: string): string
  /** Reads what the store has of a session; newer cookies in memory stay. Without a store: nothing. */
  load(session: string): Promise<void>
  /**
   * Takes over what other workers of the same store have saved, when there is any. Looks every two seconds at the most:
   * undefined in between.
   */
  refreshSoon(session: string): Promise<void> | undefined
  /** Is there anything for `save` to write? */
  hasChanges(): boolean
  /** Writes the hosts that changed since the last time, in one step. Without a store: nothing. */
  save(): Promise<void>
  /** All cookies of a session in the cookies.txt format of curl and wget. */
  exportText(session: string): string
  /** Adds from a cookies.txt; how many were taken. */
  importText(session: string, text: string): number
}

export interface JarCookie {
  readonly name: string
  readonly value: string
  /** Without a dot in front. */
  readonly domain: string
  /** Not for the hosts below it. */
  readonly hostOnly: boolean
  readonly path: string
  readonly secure: boolean
  readonly httpOnly: boolean
  /** Milliseconds since the epoch; undefined: to the end of the session. */
  readonly expiresMs: number | undefined
  readonly sameSite: 'Strict' | 'Lax' | 'None'
}

export interface CookieJarsOptions {
  readonly clock: Clock
  readonly state?: StateStore
}

/** RFC 6265bis, 5.7 and 6.1: as browsers bound them. */
const MAX_PER_DOMAIN = 50
const MAX_PER_SESSION = 3000
const MAX_COOKIE_CHARS = 4096
/** More fields than this in one answer are an attack. */
const MAX_FIELDS = 100
const KEY_PREFIX = 'cookies/'
const REFRESH_EVERY_MS = 2000
/** Two workers may write a host's cookies at once: what is younger than this and not there yet was overwritten. */
const OVERWRITTEN_WITHIN_MS = 10_000

interface Session {
  readonly store: MemoryCookieStore
  readonly jar: CookieJar
  /** How many cookies a domain has; hosts without any cost one look-up. */
  readonly counts: Map<string, number>
  readonly dirty: Set<string>
  /** Keys of what the user gave: given again at the next start, never stored. */
  readonly users: Set<string>
  total: number
  readonly news: CookieNews
  lookedAtMs: number
}

/** What the keys of a session's cookies begin with in the store. */
export function cookieKeysOf(session: string): string {
  return `${KEY_PREFIX}${encodeURIComponent(session)}/`
}

/** No host begins like that. */
function newsKeysOf(session: string): string {
  return `${cookieKeysOf(session)}*`
}

export function createCookieJars(options: CookieJarsOptions): CookieJars {
  const { clock, state } = options
  const sessions = new Map<string, Session>()
  const sessionOf = (name: string): Session => {
    const session = sessions.get(name) ?? createSession(name)
    sessions.set(name, session)
    return session
  }
  const now = (): Date => new Date(clock.nowMs())
  const headerFor = (name: string, url: string, own?: string): string | undefined => {
    const session = sessions.get(name)
    if (session === undefined || session.total === 0 || !hasCookies(session, hostOf(url))) return own
    return mergeHeader(cookiesFor(session, url, now()), own)
  }
  return {
    headerFor,
    receive: (name, url, fields) => {
      const session = sessionOf(name)
      for (const field of fields.slice(0, MAX_FIELDS)) {
        const cookie = parseField(field, url, now())
        if (cookie !== undefined) put(session, { cookie, url, now: now() })
      }
    },
    addUserCookies: (name, urls, pairs) => {
      const session = sessionOf(name)
      for (const url of urls) for (const pair of pairs) putUsers(session, { pair, url, now: now() })
    },
    select: (name, isWanted) => selectCookies(sessions.get(name), isWanted, now()),
    versionFor: (name, url) => {
      const header = headerFor(name, url)
      return header === undefined ? '' : createHash('sha256').update(header).digest('base64url').slice(0, 16)
    },
    load: async (name) => {
      if (state !== undefined) await loadSession(sessionOf(name), { name, state, now: now() })
    },
    refreshSoon: (name) => {
      const session = sessionOf(name)
      const nowMs = clock.monotonicMs()
      if (state === undefined || nowMs - session.lookedAtMs < REFRESH_EVERY_MS) return undefined
      session.lookedAtMs = nowMs
      return refreshSession(session, { name, state, now: now() })
    },
    hasChanges: () => {
      for (const { dirty } of sessions.values()) if (dirty.size > 0) return true
      return false
    },
    save: async () => {
      const entries: Record<string, string | undefined> = {}
      for (const [name, session] of sessions) collectChanges(entries, session, { name, nowMs: clock.nowMs() })
      if (state !== undefined && Object.keys(entries).length > 0) await state.set(entries)
    },
    exportText: (name) => formatCookiesTxt(allCookies(sessionOf(name))),
    importText: (name, text) => {
      const session = sessionOf(name)
      return parseCookiesTxt(text, clock.nowMs()).filter(({ cookie, url }) => put(session, { cookie, url, now: now() }))
        .length
    },
  }
}

function createSession(name: string): Session {
  let jar: CookieJar | undefined
  let store: MemoryCookieStore | undefined
  // few sites set a cookie at all
  const openStore = (): MemoryCookieStore => (store ??= new (library().MemoryCookieStore)())
  // Loose: a cookie without a name is one (RFC 6265bis, 5.6); prefixes are held to in silence, as in browsers.
  const options = { looseMode: true, rejectPublicSuffixes: true, prefixSecurity: 'silent' } as const
  const openJar = (): CookieJar => (jar ??= new (library().CookieJar)(openStore(), options))
  const own = { counts: new Map(), dirty: new Set<string>(), users: new Set<string>() }
  const news = createCookieNews({ prefix: newsKeysOf(name), worker: randomUUID().slice(0, 12) })
  return {
    get store() {
      return openStore()
    },
    get jar() {
      return openJar()
    },
    ...own,
    total: 0,
    news,
    lookedAtMs: Number.NEGATIVE_INFINITY,
  }
}

/** Does the host or a domain above it have cookies? */
function hasCookies(session: Session, host: string): boolean {
  for (let at = 0; ;) {
    if (session.counts.has(at === 0 ? host : host.slice(at))) return true
    const dot = host.indexOf('.', at)
    if (dot === -1) return false
    at = dot + 1
  }
}

/** Of a serialised URL, without brackets. */
function hostOf(url: string): string {
  const from = url.indexOf('//') + 2
  const slash = url.indexOf('/', from)
  const authority = url.slice(Math.max(from, url.lastIndexOf('@', slash) + 1), slash === -1 ? undefined : slash)
  return authority.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
}

function cookiesFor(session: Session, url: string, now: Date): readonly Cookie[] {
  try {
    // Expiry is judged by our clock, not by the library's.
    const all = session.jar.getCookiesSync(url, { expire: false })
    return all.filter((cookie) => !isExpired(cookie, now)).toSorted(library().cookieCompare)
  } catch {
    return []
  }
}

function isExpired(cookie: Cookie, now: Date): boolean {
  const expiresMs = cookie.expiryTime()
  return expiresMs !== undefined && expiresMs <= now.getTime()
}

/** The jar wins over a copied header: a redirect may have changed a value in between. */
function mergeHeader(cookies: readonly Cookie[], own: string | undefined): string | undefined {
  if (cookies.length === 0) return own
  const pairs = cookies.map((cookie) => cookie.cookieString())
  if (own === undefined) return pairs.join('; ')
  const names = new Set(cookies.map((cookie) => cookie.key))
  const others = own.split(';').map((pair) => pair.trim())
  return [...pairs, ...others.filter((pair) => pair !== '' && !names.has(pair.split('=')[0]?.trim() ?? ''))].join('; ')
}

function parseField(field: string, url: string, now: Date): Cookie | undefined {
  const semicolon = field.indexOf(';')
  if ((semicolon === -1 ? field.length : semicolon) > MAX_COOKIE_CHARS) return undefined
  const cookie = library().Cookie.parse(field.slice(0, MAX_COOKIE_CHARS * 4), { loose: true })
  if (cookie === undefined) return undefined
  settleExpiry(cookie, field, now)
  // RFC 6265bis, 5.7, 8: a Secure cookie cannot come over a plain connection.
  return cookie.secure && url.startsWith('http://') ? undefined : cookie
}

/** RFC 6265bis, 5.5: nothing is kept longer. */
const MAX_AGE_MS = 400 * 86_400_000

/** One absolute instant instead of two fields: the library counts Max-Age from the last use, and takes dates that do not exist. */
function settleExpiry(cookie: Cookie, field: string, now: Date): void {
  const latest = now.getTime() + MAX_AGE_MS
  if (cookie.maxAge !== null) {
    const seconds = typeof cookie.maxAge === 'number' ? cookie.maxAge : 0
    cookie.maxAge = null
    cookie.expires = new Date(seconds <= 0 ? 0 : Math.min(latest, now.getTime() + seconds * 1000))
    return
  }
  const text = [...field.matchAll(/;\s*expires\s*=([^;]*)/gi)].at(-1)?.[1]
  if (text === undefined) return
  const date = parseCookieDate(text)
  cookie.expires = date === undefined ? 'Infinity' : new Date(Math.min(latest, date))
}

interface Put {
  readonly cookie: Cookie
  readonly url: string
  readonly now: Date
}

function put(session: Session, { cookie, url, now }: Put): boolean {
  const set = storeCookie(session, { cookie, url, now })
  if (set === undefined) return false
  session.users.delete(keyOf(set))
  return true
}

function storeCookie(session: Session, { cookie, url, now }: Put): Cookie | undefined {
  try {
    const set = session.jar.setCookieSync(cookie, url, { ignoreError: true })
    if (set === undefined || set.domain == null) return undefined
    recount(session, set.domain, now)
    return set
  } catch {
    return undefined
  }
}

function putUsers(
  session: Session,
  { pair, url, now }: { readonly pair: string; readonly url: string; readonly now: Date },
): void {
  const cookie = library().Cookie.parse(pair.trim(), { loose: true })
  if (cookie === undefined || cookiesOf(session, hostOf(url)).some((known) => known.key === cookie.key)) return
  cookie.path = '/'
  const set = storeCookie(session, { cookie, url, now })
  if (set !== undefined) session.users.add(keyOf(set))
}

function selectCookies(
  session: Session | undefined,
  isWanted: (domain: string) => boolean,
  now: Date,
): readonly JarCookie[] {
  if (session === undefined || session.total === 0) return []
  const domains = [...session.counts.keys()].filter((domain) => isWanted(domain))
  return domains.flatMap((domain) =>
    cookiesOf(session, domain)
      .filter((cookie) => !isExpired(cookie, now))
      .map(asPlain),
  )
}

const SAME_SITE: Readonly<Record<string, JarCookie['sameSite']>> = { strict: 'Strict', none: 'None' }

function asPlain(cookie: Cookie): JarCookie {
  const expiresMs = cookie.expiryTime()
  return {
    name: cookie.key,
    value: cookie.value,
    domain: cookie.domain ?? '',
    hostOnly: cookie.hostOnly !== false,
    path: cookie.path ?? '/',
    secure: cookie.secure,
    httpOnly: cookie.httpOnly,
    expiresMs: expiresMs === undefined || !Number.isFinite(expiresMs) ? undefined : expiresMs,
    sameSite: SAME_SITE[cookie.sameSite ?? ''] ?? 'Lax',
  }
}

function keyOf(cookie: Cookie): string {
  return `${cookie.domain ?? ''} ${cookie.path ?? ''} ${cookie.key}`
}

function allCookies(session: Session): readonly Cookie[] {
  return [...session.counts.keys()].flatMap((domain) => cookiesOf(session, domain))
}

function cookiesOf(session: Session, domain: string): readonly Cookie[] {
  const paths = session.store.idx[domain] ?? {}
  return Object.values(paths).flatMap((byName) => Object.values(byName ?? {}).filter((cookie) => cookie !== undefined))
}

/** Counts a domain anew after a change and holds both bounds: what has expired goes first, then the oldest. */
function recount(session: Session, domain: string, now: Date): void {
  session.dirty.add(domain)
  trim(session, domain, now)
  if (session.total <= MAX_PER_SESSION) return
  // The domain that has not been written to for longest loses first.
  for (const oldest of session.counts.keys()) {
    if (session.total <= MAX_PER_SESSION || oldest === domain) return
    for (const cookie of cookiesOf(session, oldest)) remove(session, cookie)
    session.dirty.add(oldest)
    setCount(session, oldest, 0)
  }
}

function trim(session: Session, domain: string, now: Date): void {
  const all = cookiesOf(session, domain)
  const expired = all.filter((cookie) => isExpired(cookie, now))
  const living = all.filter((cookie) => !expired.includes(cookie)).toSorted(byAge)
  for (const cookie of [...expired, ...living.slice(0, Math.max(0, living.length - MAX_PER_DOMAIN))])
    remove(session, cookie)
  setCount(session, domain, Math.min(living.length, MAX_PER_DOMAIN))
}

function byAge(a: Cookie, b: Cookie): number {
  return (
    (a.creation instanceof Date ? a.creation.getTime() : 0) - (b.creation instanceof Date ? b.creation.getTime() : 0) ||
    (a.creationIndex ?? 0) - (b.creationIndex ?? 0)
  )
}

function remove(session: Session, cookie: Cookie): void {
  session.users.delete(keyOf(cookie))
  const byName = session.store.idx[cookie.domain ?? '']?.[cookie.path ?? '']
  if (byName !== undefined) delete byName[cookie.key]
}

function setCount(session: Session, domain: string, count: number): void {
  session.total += count - (session.counts.get(domain) ?? 0)
  session.counts.delete(domain)
  if (count > 0) session.counts.set(domain, count)
  else delete session.store.idx[domain]
}

function collectChanges(
  entries: Record<string, string | undefined>,
  session: Session,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): void {
  if (session.dirty.size === 0) return
  Object.assign(entries, session.news.tell([...session.dirty], nowMs))
  for (const domain of session.dirty) {
    const own = cookiesOf(session, domain).filter((cookie) => !session.users.has(keyOf(cookie)))
    const value = own.length === 0 ? undefined : JSON.stringify(own.map((cookie) => cookie.toJSON()))
    entries[cookieKeysOf(name) + domain] = value
  }
  session.dirty.clear()
}

interface Loading {
  readonly name: string
  readonly state: StateStore
  readonly now: Date
}

async function loadSession(session: Session, { name, state, now }: Loading): Promise<void> {
  await session.news.begin(state, now.getTime())
  const keys = await domainKeys(state, name)
  const values = await Promise.all(keys.map((key) => state.get(key)))
  for (const value of values) {
    for (const cookie of parseStored(value)) restore(session, cookie, now)
  }
}

async function refreshSession(session: Session, loading: Loading): Promise<void> {
  const { state, name, now } = loading
  const prefix = cookieKeysOf(name)
  const news = await session.news.look(state)
  const all = news === 'all' ? (await domainKeys(state, name)).map((key) => key.slice(prefix.length)) : []
  const domains = news === 'all' ? [...new Set([...session.counts.keys(), ...all])] : news
  const values = await Promise.all(domains.map((domain) => state.get(prefix + domain)))
  for (const [at, domain] of domains.entries()) takeOver(session, { domain, kept: parseStored(values[at]), now })
}

async function domainKeys(state: StateStore, name: string): Promise<readonly string[]> {
  const news = newsKeysOf(name)
  return (await state.keys(cookieKeysOf(name))).filter((key) => !key.startsWith(news))
}

interface Domain {
  readonly domain: string
  readonly kept: readonly Cookie[]
  readonly now: Date
}

/** The store's word counts; what this worker has not saved yet is saved next. */
function takeOver(session: Session, { domain, kept, now }: Domain): void {
  if (session.dirty.has(domain)) {
    for (const cookie of kept) restore(session, cookie, now)
    return
  }
  const inStore = new Set(kept.map(keyOf))
  const own = cookiesOf(session, domain).filter(
    (cookie) => !session.users.has(keyOf(cookie)) && !inStore.has(keyOf(cookie)),
  )
  const isYoung = ({ creation }: Cookie): boolean =>
    creation instanceof Date && now.getTime() - creation.getTime() < OVERWRITTEN_WITHIN_MS
  for (const cookie of own) if (!isYoung(cookie)) remove(session, cookie)
  for (const cookie of kept) {
    session.store.putCookie(cookie, () => {})
    session.users.delete(keyOf(cookie))
  }
  recount(session, domain, now)
  if (!own.some(isYoung)) session.dirty.delete(domain)
}

/** What another version or a hand wrote is passed over, not trusted. */
function parseStored(value: string | undefined): readonly Cookie[] {
  try {
    const list: unknown = JSON.parse(value ?? '[]')
    return Array.isArray(list)
      ? list.map((each) => library().Cookie.fromJSON(each)).filter((cookie) => cookie !== undefined)
      : []
  } catch {
    return []
  }
}

function restore(session: Session, cookie: Cookie, now: Date): void {
  const { domain } = cookie
  if (typeof domain !== 'string' || typeof cookie.path !== 'string') return
  const known = cookiesOf(session, domain).find((each) => keyOf(each) === keyOf(cookie))
  if (known !== undefined && !session.users.has(keyOf(known)) && byAge(known, cookie) >= 0) return
  session.store.putCookie(cookie, () => {})
  session.users.delete(keyOf(cookie))
  const wasDirty = session.dirty.has(domain)
  recount(session, domain, now)
  if (!wasDirty) session.dirty.delete(domain)
}
