/** A site without an end until it is told to end, whose truth is known: what there is, and how often each part was asked for. */

import { once } from 'node:events'
import { openTestSite } from '../../../src/testing/site.ts'
import type { SiteLogEntry, TestSite } from '../../../src/testing/site.ts'
import type { SiteAnswer } from '../../../src/testing/site-answer.ts'

const HOSTS = ['a.test', 'b.test', 'c.test', 'd.test'] as const
/** Pages that a hub links to, beside the next hub. */
const BATCH = 24
const SUBTREE = 24
const SLOW_MS = 400

export const SEED = 'http://a.test/hub/0'

export interface ChaosSite extends AsyncDisposable {
  readonly site: TestSite
  /** Requests for pages so far: without robots.txt. */
  pages(): readonly SiteLogEntry[]
  /** The next hub is the last: it leads to a slow page that holds the only link to a subtree. */
  finish(): void
  /** Every URL that must be in the items once: where redirects led, when they did. Complete when the crawl is over. */
  truth(): ReadonlySet<string>
  /** Resolves when the slow page at the end is asked for. */
  readonly gateReached: Promise<void>
}

/** `gateMs`: how long the page takes that holds the only link to the last subtree. */
export async function openChaosSite({ gateMs }: { readonly gateMs: number }): Promise<ChaosSite> {
  /** Whether the hub leads to another: decided at its first visit, for all later ones. */
  const goesOn: boolean[] = []
  let finishing = false
  const gate = new AbortController()
  const site = await openTestSite(({ path }) => {
    const [, kind = '', hub = '', page = ''] = path.split('/')
    if (kind === 'hub') return hubPage(Number(hub), (goesOn[Number(hub)] ??= !finishing))
    if (kind === 'gate') gate.abort()
    return kind === 'gate' ? { links: subtree(), delayMs: gateMs } : leaf(kind, Number(hub), Number(page))
  })
  return {
    site,
    pages: () => site.log.filter(({ path }) => path !== '/robots.txt'),
    finish: () => {
      finishing = true
    },
    truth: () => {
      const hubs = goesOn.flatMap((_, hub) => [urlOf('a.test', `/hub/${hub}`), ...linksOf(hub).map(endOf)])
      return new Set([...hubs, GATE, ...subtree()])
    },
    gateReached: once(gate.signal, 'abort').then(() => undefined),
    [Symbol.asyncDispose]: () => site.close(),
  }
}

const GATE = 'http://b.test/gate'

function urlOf(host: string, path: string): string {
  return `http://${host}${path}`
}

function subtree(): string[] {
  return Array.from({ length: SUBTREE }, (_, n) => urlOf(hostOf(n), `/sub/${n}`))
}

function hostOf(page: number): string {
  return HOSTS[page % HOSTS.length] ?? HOSTS[0]
}

/** Of 24 links one is a redirect to another of them, two lead to pages that only they lead to. */
function linksOf(hub: number): string[] {
  return Array.from({ length: BATCH }, (_, page) => {
    const kind = page === 7 ? 'again' : page % 12 === 3 ? 'moved' : 'page'
    return urlOf(hostOf(page), `/${kind}/${hub}/${page}`)
  })
}

/** Where a redirect leads; the URL itself when it is none. */
function endOf(url: string): string {
  const { host, pathname } = new URL(url)
  const [, kind, hub = '', page = ''] = pathname.split('/')
  if (kind === 'moved') return urlOf(host, `/target/${hub}/${page}`)
  return kind === 'again' ? urlOf(hostOf(8), `/page/${hub}/8`) : url
}

function hubPage(hub: number, goesOn: boolean): SiteAnswer {
  const next = goesOn ? urlOf('a.test', `/hub/${hub + 1}`) : GATE
  return { title: `Hub ${hub}`, links: [next, ...linksOf(hub)] }
}

function leaf(kind: string, hub: number, page: number): SiteAnswer | undefined {
  if (kind === 'moved' || kind === 'again') {
    return { status: 302, headers: { location: endOf(urlOf(hostOf(page), `/${kind}/${hub}/${page}`)) }, body: '' }
  }
  if (kind !== 'page' && kind !== 'target' && kind !== 'sub') return undefined
  // back to what is known: every page asks the store about links that it has
  const links = kind === 'sub' ? [GATE] : [SEED, urlOf('a.test', `/hub/${hub}`), ...linksOf(hub).slice(0, 4)]
  return { title: `${kind} ${hub} ${page}`, links, ...(page % 20 === 5 ? { delayMs: SLOW_MS } : {}) }
}
