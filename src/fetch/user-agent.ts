/** Browsers to show ourselves as: drawn by their share of use, and one for a host as long as a session lasts. */

import type { HeaderList } from './contract.ts'

/** Lower-case names, in the order in which they go out. */
export type IdentityHeaders = Readonly<Record<string, string>>

export interface Identities {
  /** The headers by which this session shows itself to this host: the same for as long as the session lasts. */
  headersFor(session: string, url: string): IdentityHeaders
}

export interface RandomIdentitiesOptions {
  /** Draws one browser: `openBrowserDraw` outside tests. */
  readonly draw: () => IdentityHeaders
  /** Hosts remembered. Default 10,000; those met longest ago may get another browser then. */
  readonly maxHosts?: number
}

export function createRandomIdentities(options: RandomIdentitiesOptions): Identities {
  const maxHosts = options.maxHosts ?? 10_000
  const drawn = new Map<string, { readonly secure: IdentityHeaders; readonly plain: IdentityHeaders }>()
  return {
    headersFor: (session, url) => {
      const secure = url.startsWith('https://')
      const key = `${session} ${hostOf(url)}`
      const known = drawn.get(key) ?? bothOf(options.draw())
      drawn.delete(key)
      drawn.set(key, known)
      for (const oldest of drawn.keys()) {
        if (drawn.size <= maxHosts) break
        drawn.delete(oldest)
      }
      return secure ? known.secure : known.plain
    },
  }
}

/** Browsers tell client hints and fetch metadata to secure origins alone. */
function bothOf(secure: IdentityHeaders): { readonly secure: IdentityHeaders; readonly plain: IdentityHeaders } {
  const plain = Object.entries(secure).filter(([name]) => !name.startsWith('sec-'))
  return { secure, plain: Object.fromEntries(plain) }
}

function hostOf(url: string): string {
  const from = url.indexOf('//') + 2
  const slash = url.indexOf('/', from)
  return url.slice(from, slash === -1 ? undefined : slash)
}

/** Desktop browsers by share of use; a version far behind the newest is a rare one and stands out. */
const MAX_MAJORS_BEHIND = 6
const CANDIDATES = 200

/** Loads the browser data (some 20 ms): once, and only when random agents are asked for. */
export async function openBrowserDraw(random: () => number): Promise<() => IdentityHeaders> {
  const { HeaderGenerator } = await import('header-generator')
  const generator = new HeaderGenerator({
    browsers: ['chrome', 'firefox', 'safari', 'edge'],
    devices: ['desktop'],
    locales: ['en-US', 'en'],
    httpVersion: '2',
  })
  const all = Array.from({ length: CANDIDATES }, () => identityOf(Object.entries(generator.getHeaders())))
  const current = keepCurrent(all)
  return () => current[Math.floor(random() * current.length)] ?? current[0] ?? {}
}

/** What is the connection's business and not the browser's. */
const DROPPED: ReadonlySet<string> = new Set(['accept-encoding', 'connection', 'host', 'te', 'priority'])

export function identityOf(headers: HeaderList): IdentityHeaders {
  const own = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !DROPPED.has(name))
    // A page that nobody linked to: typed into the address bar.
    .map(([name, value]) => [name, name === 'sec-fetch-site' ? 'none' : value] as const)
  return Object.fromEntries(own)
}

/**
 * Those with an agent of a known browser that is not far behind the newest of its kind in the list, and whose client hints
 * tell of that same browser: in the data of real browsers some wear the name of another.
 */
export function keepCurrent(all: readonly IdentityHeaders[]): readonly IdentityHeaders[] {
  const newest = new Map<string, number>()
  const honest = all.filter(hintsAgree)
  for (const { name, major } of honest.map(browserOf)) newest.set(name, Math.max(newest.get(name) ?? 0, major))
  return honest.filter((identity) => {
    const { name, major } = browserOf(identity)
    // Safari's numbers follow the year since 26: the jump from 18 is one step.
    const behind = name === 'Version' && major <= 18 ? major + 7 : major
    return name !== '' && behind >= (newest.get(name) ?? 0) - MAX_MAJORS_BEHIND
  })
}

/** Browsers of the Chromium kind, and no others, send client hints; these repeat its version. */
function hintsAgree(identity: IdentityHeaders): boolean {
  const chromium = /Chrome\/(\d+)/.exec(identity['user-agent'] ?? '')?.[1]
  const hints = identity['sec-ch-ua']
  return chromium === undefined ? hints === undefined : hints?.includes(`v="${chromium}"`) === true
}

function browserOf(identity: IdentityHeaders): { readonly name: string; readonly major: number } {
  const match = /(Firefox|Edg|Chrome|Version)\/(\d+)(?!.*Edg\/)/.exec(identity['user-agent'] ?? '')
  return { name: match?.[1] ?? '', major: Number(match?.[2] ?? 0) }
}
