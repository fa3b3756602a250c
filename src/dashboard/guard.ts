/** Who may ask the dashboard for what: pure decisions over the head of a request. */

import { createHash, timingSafeEqual } from 'node:crypto'

export interface GuardSettings {
  /** It is bound to loopback: then only names of this machine are let in, so that no page can lead a name of its own here. */
  readonly isLoopback: boolean
  /** The address it is bound to. */
  readonly host: string
  readonly port: number
  /** Undefined: none is asked for. */
  readonly token: string | undefined
  /** Made anew for each process; comes back with whatever changes something. */
  readonly key: string
}

export interface RequestHead {
  readonly method: string
  /** As in the request line. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type Access =
  | { readonly kind: 'granted' }
  /** The token came in the address: keep it as a cookie, and out of the address bar. */
  | { readonly kind: 'sign-in'; readonly cookie: string }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 403 | 405; readonly why: string }

const GRANTED: Access = { kind: 'granted' }
const LOCAL_NAMES = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** What an orchestrator asks, by the address of a container and without a token; they tell nothing of the crawl. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

export const isProbe = ({ target, method }: RequestHead): boolean => method === 'GET' && PROBES.has(target)

export function decideAccess(head: RequestHead, settings: GuardSettings): Access {
  if (isProbe(head)) return GRANTED
  if (!URL.canParse(head.target, 'http://dashboard')) return refused(400, 'expected a path, as in /api/hello')
  if (!isOwnHost(textOf(head, 'host'), settings))
    return refused(403, 'expected the address of this machine in Host; a name of another place leads here')
  const { token } = settings
  if (token !== undefined) {
    const given = new URL(head.target, 'http://dashboard').searchParams.get('token')
    if (head.method === 'GET' && given !== null && isSame(given, token)) {
      return { kind: 'sign-in', cookie: `${cookieName(settings)}=${token}; Path=/; HttpOnly; SameSite=Strict` }
    }
    if (!hasToken(head, settings, token))
      return refused(401, 'expected the token: open the address that the command has printed')
  }
  if (head.method === 'GET' || head.method === 'HEAD') return GRANTED
  if (head.method !== 'POST') return refused(405, `expected GET or POST, found ${head.method}`)
  return decideChange(head, settings)
}

/** What changes something must come from the page itself: no other page can read the key or send it along. */
function decideChange(head: RequestHead, { key }: GuardSettings): Access {
  const site = textOf(head, 'sec-fetch-site')
  const origin = textOf(head, 'origin')
  const isOwn = origin === undefined || hostIn(origin) === textOf(head, 'host')
  if ((site !== undefined && site !== 'same-origin') || !isOwn) return refused(403, 'another site asked for a change')
  if (!isSame(textOf(head, 'x-spoor-key') ?? '', key))
    return refused(403, 'expected the key of this dashboard: load the page again')
  return GRANTED
}

const refused = (status: 400 | 401 | 403 | 405, why: string): Access => ({ kind: 'refused', status, why })

function textOf({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Behind a token any name will do: no other site has the cookie. */
function isOwnHost(host: string | undefined, { isLoopback, host: bound }: GuardSettings): boolean {
  if (host === undefined) return false
  if (!isLoopback) return true
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return LOCAL_NAMES.test(name) || name === bound.toLowerCase()
}

function hostIn(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1]
}

/** Cookies are shared by all ports of a machine. */
const cookieName = ({ port }: GuardSettings): string => `spoor-${port}`

function hasToken(head: RequestHead, settings: GuardSettings, token: string): boolean {
  const bearer = /^bearer +(\S+)$/i.exec(textOf(head, 'authorization') ?? '')?.[1]
  if (bearer !== undefined) return isSame(bearer, token)
  const name = `${cookieName(settings)}=`
  const cookie = (textOf(head, 'cookie') ?? '').split(/; */).find((pair) => pair.startsWith(name))
  return cookie !== undefined && isSame(cookie.slice(name.length), token)
}

/** Takes the same time wherever they differ. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
