/** Where a page leads, as the link graph keeps it: bounded, each target once a kind of element and rel. */

import { createHash } from 'node:crypto'
import type { PageLink } from '../extract/contract.ts'
import type { FetchResponse } from '../fetch/contract.ts'
import type { LinkDraft, LinkKind, PageLinks } from '../graph/contract.ts'
import { nextTurn } from '../util/next-turn.ts'
import type { Page } from './contract.ts'
import type { Doorway } from './page-buffer.ts'

/** Different links kept of one page: far beyond what pages have, and little enough to be settled in one step. */
const MAX_KEPT_LINKS = 5000
const MAX_TEXT_CHARS = 120
const MAX_REL_CHARS = 100
const MAX_TITLE_CHARS = 300
const HASH_CHARS = 16
/** Pages with no more links than this are done in one go. */
const FEW_LINKS = 2000
/** Links that are named in one turn: some 10 ms. */
const LINKS_A_TURN = 1000

interface Named {
  readonly url: string
  readonly kind: LinkKind
  readonly rel: string
  text: string
}

export async function keptLinksOf(page: Page, response: FetchResponse, way: Doorway): Promise<PageLinks> {
  const found = new FoundLinks(page.url)
  const visitor = {
    take: (link: PageLink): void => {
      found.take(link)
    },
  }
  if (page.scan.foundCount > FEW_LINKS) await page.scan.visitLinksInTurns(visitor)
  else page.scan.visitLinks(visitor)
  if (way.refresh !== undefined) found.take({ url: way.refresh.url, tag: 'refresh', rel: '' })
  return {
    links: await nameAll(found, way),
    dropped: found.dropped + page.scan.droppedLinks,
    title: cut(page.title, MAX_TITLE_CHARS),
    bytes: response.body.length,
    ms: response.fromCache === true ? 0 : Math.round(response.timings.totalMs),
    isHtml: page.isHtml,
    contentHash: response.body.length === 0 ? '' : hashOf(response.body),
  }
}

class FoundLinks {
  readonly #pageUrl: string
  readonly #links = new Map<string, Named>()
  dropped = 0

  constructor(pageUrl: string) {
    this.#pageUrl = pageUrl
  }

  /** A page does not lead to itself. */
  take({ url, tag, rel, text = '' }: Pick<PageLink, 'url' | 'rel' | 'text'> & { readonly tag: LinkKind }): void {
    if (url === this.#pageUrl) return
    const key = `${tag} ${rel} ${url}`
    const met = this.#links.get(key)
    if (met !== undefined) {
      if (met.text === '') met.text = cut(text, MAX_TEXT_CHARS)
    } else if (this.#links.size < MAX_KEPT_LINKS) {
      this.#links.set(key, { url, kind: tag, rel: cut(rel, MAX_REL_CHARS), text: cut(text, MAX_TEXT_CHARS) })
    } else this.dropped++
  }

  values(): Iterable<Named> {
    return this.#links.values()
  }
}

/** URLs that differ and mean the same page are one target. */
async function nameAll(found: FoundLinks, { door }: Doorway): Promise<readonly LinkDraft[]> {
  const links = new Map<string, LinkDraft>()
  let count = 0
  for (const link of found.values()) {
    // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
    if (++count % LINKS_A_TURN === 0) await nextTurn()
    const name = door.nameOf(link.url)
    const key = `${name.fingerprint} ${link.kind} ${link.rel}`
    if (!links.has(key)) links.set(key, { ...link, ...name })
  }
  return [...links.values()]
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, HASH_CHARS)
}

/** Never half a surrogate pair. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
}
