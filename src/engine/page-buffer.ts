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

export function enqueueOne({ door, buffer, keepKnownLinks }: Doorway, candidate: Candidate): void {
  const answer = door.admit(candidate)
  if (answer === 'known') {
    buffer.duplicates++
    if (keepKnownLinks) buffer.knownLinks.push(door.fingerprintOf(candidate.url))
  } else if (answer !== 'refused') buffer.discovered.push(answer)
  else if (keepKnownLinks) buffer.knownLinks.push(door.fingerprintOf(candidate.url))
}

/** All links of the page, each once; one that is there with and without nofollow counts as followed. */
export function enqueuePageLinks(way: Doorway, page: Page, pageNofollow: boolean): void {
  const { links, refresh, tooLong, invalidLinks } = page.scan
  const followed = new Set<string>([page.url])
  let unfollowed: string[] | undefined
  for (const link of links) {
    if (link.nofollow || pageNofollow) (unfollowed ??= []).push(link.url)
    else if (!followed.has(link.url)) {
      followed.add(link.url)
      enqueueOne(way, { url: link.url, depth: way.depth })
    }
  }
  if (refresh !== undefined && !followed.has(refresh.url)) {
    followed.add(refresh.url)
    enqueueOne(way, { url: refresh.url, depth: way.depth, nofollow: pageNofollow })
  }
  for (const url of unfollowed ?? []) {
    if (followed.has(url)) continue
    followed.add(url)
    enqueueOne(way, { url, depth: way.depth, nofollow: true })
  }
  for (const head of tooLong) recordTooLong(way, head)
  way.buffer.invalidUrls += invalidLinks
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
