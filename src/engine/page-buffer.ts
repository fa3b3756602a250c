/** What one page finds and pushes, kept aside until the page is settled. */

import type { JsonObject } from '../core/json.ts'
import type { StoredRequest } from '../core/request.ts'
import { nextTurn } from '../util/next-turn.ts'
import type { LinkVisitor, PageRefresh } from '../extract/contract.ts'
import type { ItemDraft } from '../items/contract.ts'
import type { Candidate, Door, Page, RequestDraft } from './contract.ts'

export interface PageBuffer {
  readonly discovered: StoredRequest[]
  /** Fingerprints of links that are known already: only kept while a depth limit may have to be passed on. */
  readonly knownLinks: string[]
  readonly items: ItemDraft[]
  /** Links of a large page that are still being looked at: the page is not settled before. */
  readonly adding: Promise<void>[]
  duplicates: number
  invalidUrls: number
}

export function createPageBuffer(): PageBuffer {
  return { discovered: [], knownLinks: [], items: [], adding: [], duplicates: 0, invalidUrls: 0 }
}

export interface Doorway {
  readonly door: Door
  readonly buffer: PageBuffer
  /** Level of what is found here. */
  readonly depth: number
  readonly keepKnownLinks: boolean
  /** Where the answer or the page sends its readers on, if anywhere. */
  readonly refresh?: PageRefresh | undefined
}

function enqueueOne(way: Doorway, candidate: Candidate): void {
  const { door, buffer, keepKnownLinks } = way
  const answer = door.admit(candidate)
  if (answer === 'known') countKnown(way, candidate.url)
  else if (answer !== 'refused') buffer.discovered.push(answer)
  else if (keepKnownLinks) buffer.knownLinks.push(door.fingerprintOf(candidate.url))
}

function countKnown({ door, buffer, keepKnownLinks }: Doorway, url: string): void {
  buffer.duplicates++
  if (keepKnownLinks) buffer.knownLinks.push(door.fingerprintOf(url))
}

/** Pages with no more links than this are done in one go. */
const FEW_LINKS = 2000
/** Links looked at in one turn: some 10 ms. */
const LINKS_A_TURN = 1000

/**
 * All links of the page; one that is there with and without nofollow counts as followed. Those of a page with thousands
 * are looked at in turns, so that it holds up no other: a promise then, which is in the buffer too.
 */
export function enqueuePageLinks(way: Doorway, page: Page, pageNofollow: boolean): Promise<void> | undefined {
  const { scan } = page
  const found: FoundOnPage = { page, pageNofollow, fresh: new FreshLinks(page.url), unfollowed: [] }
  if (scan.foundCount > FEW_LINKS) {
    const adding = enqueueInTurns(way, found)
    way.buffer.adding.push(adding)
    return adding
  }
  scan.visitLinks(createVisitor(way, found))
  enqueueRest(way, found)
  for (const url of found.unfollowed) enqueueUnfollowed(way, url, found)
  return undefined
}

async function enqueueInTurns(way: Doorway, found: FoundOnPage): Promise<void> {
  await found.page.scan.visitLinksInTurns(createVisitor(way, found))
  enqueueRest(way, found)
  for (const [index, url] of found.unfollowed.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
    if (index % LINKS_A_TURN === 0) await nextTurn()
    enqueueUnfollowed(way, url, found)
  }
}

interface FoundOnPage {
  readonly page: Page
  readonly pageNofollow: boolean
  readonly fresh: FreshLinks
  /** With nofollow: looked at last. */
  readonly unfollowed: string[]
}

function createVisitor(way: Doorway, { pageNofollow, fresh, unfollowed }: FoundOnPage): LinkVisitor {
  const { door, buffer, depth, keepKnownLinks } = way
  return {
    // most links are known, and told by a hash of what stands in the page
    passesOver: (pieces) => {
      if (pageNofollow || keepKnownLinks || !door.arePiecesKnown(pieces, depth)) return false
      buffer.duplicates++
      return true
    },
    take: (link) => {
      if (link.nofollow || pageNofollow) unfollowed.push(link.url)
      else enqueueFresh(way, { url: link.url, depth }, fresh)
    },
  }
}

/** What is not in the list of links. */
function enqueueRest(way: Doorway, { page, pageNofollow, fresh }: FoundOnPage): void {
  const { refresh } = way
  const { tooLong, invalidLinks } = page.scan
  if (refresh !== undefined) enqueueFresh(way, { url: refresh.url, depth: way.depth, nofollow: pageNofollow }, fresh)
  for (const head of tooLong) recordTooLong(way, head)
  way.buffer.invalidUrls += invalidLinks
}

function enqueueUnfollowed(way: Doorway, url: string, { fresh }: FoundOnPage): void {
  enqueueFresh(way, { url, depth: way.depth, nofollow: true }, fresh)
}

/** Only what is new needs a look whether this page had it already. */
class FreshLinks {
  readonly #pageUrl: string
  #urls: Set<string> | undefined

  constructor(pageUrl: string) {
    this.#pageUrl = pageUrl
  }

  /** False: the page itself, or met before. */
  add(url: string): boolean {
    if (url === this.#pageUrl) return false
    this.#urls ??= new Set()
    const { size } = this.#urls
    return this.#urls.add(url).size > size
  }
}

function enqueueFresh(way: Doorway, candidate: Candidate, fresh: FreshLinks): void {
  if (way.door.isKnown(candidate.url, candidate.depth)) countKnown(way, candidate.url)
  else if (fresh.add(candidate.url)) enqueueOne(way, candidate)
}

/** A request as a handler wrote it; relative URLs are resolved against `base`. */
export function enqueueDraft(way: Doorway, draft: string | RequestDraft, base: string): void {
  const { url, ...rest } = typeof draft === 'string' ? { url: draft } : draft
  const absolute = URL.canParse(url, base) ? new URL(url, base) : undefined
  if (absolute === undefined || !/^https?:$/.test(absolute.protocol)) {
    way.buffer.invalidUrls++
    return
  }
  absolute.hash = ''
  enqueueOne(way, { url: absolute.href, depth: way.depth, draft: rest })
}

export function pushItems(buffer: PageBuffer, data: JsonObject | readonly JsonObject[]): void {
  const list: readonly JsonObject[] = Array.isArray(data) ? data : [data as JsonObject]
  // a copy, so that what the handler changes later does not change what was pushed; and a proof that it is JSON
  for (const one of list) buffer.items.push({ data: JSON.parse(JSON.stringify(one)) as JsonObject })
}

/** Its own address is too long to keep: the head stands for it, and can be asked for. */
function recordTooLong(way: Doorway, head: string): void {
  const answer = way.door.admit({ url: head, depth: way.depth })
  if (typeof answer === 'object') way.buffer.discovered.push({ ...answer, url: `${head}…`, skip: 'url-too-long' })
}
