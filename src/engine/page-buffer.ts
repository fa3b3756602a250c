/** What one page finds and pushes, kept aside until the page is settled. */

import type { JsonObject } from '../core/json.ts'
import type { StoredRequest } from '../core/request.ts'
import type { ItemDraft } from '../items/contract.ts'
import type { Candidate, Door, Page, RequestDraft } from './contract.ts'

export interface PageBuffer {
  readonly discovered: StoredRequest[]
  /** Fingerprints of links that are known already: only kept while a depth limit may have to be passed on. */
  readonly knownLinks: string[]
  readonly items: ItemDraft[]
  duplicates: number
  invalidUrls: number
}

export function createPageBuffer(): PageBuffer {
  return { discovered: [], knownLinks: [], items: [], duplicates: 0, invalidUrls: 0 }
}

export interface Doorway {
  readonly door: Door
  readonly buffer: PageBuffer
  /** Level of what is found here. */
  readonly depth: number
  readonly keepKnownLinks: boolean
}

export function enqueueOne(way: Doorway, candidate: Candidate): void {
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

/** All links of the page; one that is there with and without nofollow counts as followed. */
export function enqueuePageLinks(way: Doorway, page: Page, pageNofollow: boolean): void {
  const { door, buffer, depth, keepKnownLinks } = way
  const { scan } = page
  const fresh = new FreshLinks(page.url)
  let unfollowed: string[] | undefined
  scan.visitLinks({
    // most links are known, and told by a hash of what stands in the page
    passesOver: (pieces) => {
      if (pageNofollow || keepKnownLinks || !door.arePiecesKnown(pieces, depth)) return false
      buffer.duplicates++
      return true
    },
    take: (link) => {
      if (link.nofollow || pageNofollow) (unfollowed ??= []).push(link.url)
      else enqueueFresh(way, { url: link.url, depth }, fresh)
    },
  })
  const { refresh } = scan
  if (refresh !== undefined) enqueueFresh(way, { url: refresh.url, depth, nofollow: pageNofollow }, fresh)
  for (const url of unfollowed ?? []) enqueueFresh(way, { url, depth, nofollow: true }, fresh)
  for (const head of scan.tooLong) recordTooLong(way, head)
  buffer.invalidUrls += scan.invalidLinks
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
