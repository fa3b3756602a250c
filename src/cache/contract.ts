/** The download cache: answers of servers, kept so that no page is downloaded twice; and how it is asked. */

import type { CacheOverride } from '../core/request.ts'
import type { Fetcher, FetchFailure, FetchRequest, FetchResponse, FetchResult, HeaderList } from '../fetch/contract.ts'

/** Names one entry. */
export interface CacheId {
  /** 32 hexadecimal digits: see `cacheKeyOf`. The first 8 stand for the host, so that a host's entries are neighbours. */
  readonly key: string
  /** What the key was made of; compared at every `get`, so that no two URLs share an entry. Without fragment. */
  readonly url: string
}

/** What is kept of one answer, beside its body. Instants are wall-clock milliseconds since the epoch. */
export interface CacheEntry extends CacheId {
  /** As it went over the wire, when that is not `url`. */
  readonly wireUrl?: string
  readonly method: string
  readonly status: number
  /** As received. The body is decoded of its content codings all the same. */
  readonly headers: HeaderList
  /** When the body was downloaded. */
  readonly fetchedAtMs: number
  /** When the server last said that it is this body: the download, or a later 304. Age counts from here. */
  readonly checkedAtMs: number
  /** Request headers that the answer depended on (`Vary`, credentials), values hashed; absent: none. */
  readonly varied?: Readonly<Record<string, string>>
  /** Length of the body. */
  readonly bodyBytes: number
  /** Length as it came over the wire: what a hit saves. */
  readonly wireBytes: number
}

/** An entry as it is put: the store knows the length of the body. */
export type NewCacheEntry = Omit<CacheEntry, 'bodyBytes'>

export interface CachedAnswer {
  readonly entry: CacheEntry
  readonly body: Uint8Array
}

/** What a 304 changes. */
export interface CacheRefresh {
  readonly checkedAtMs: number
  readonly headers: HeaderList
}

export interface CacheFilter {
  /** Lower case, with the port when it is not the scheme's own. Default: all hosts. */
  readonly host?: string
  /** Entries whose `url` begins with it. */
  readonly urlPrefix?: string
}

export interface CacheListPage {
  readonly entries: readonly CacheEntry[]
  /** Hand it in again for what follows; undefined: that was all. */
  readonly cursor: string | undefined
}

export interface PruneOptions {
  /** Entries that were last checked before this instant go. */
  readonly checkedBeforeMs?: number
  /** Then the least recently used go, until the store takes up at most this much. */
  readonly maxBytes?: number
  /** Stop after about this long and say so by `finished: false`. Default: until all is done. */
  readonly budgetMs?: number
  readonly signal?: AbortSignal
}

export interface PruneResult {
  readonly entries: number
  /** Bytes of disk given back. */
  readonly bytes: number
  readonly finished: boolean
}

export interface CacheStats {
  readonly entries: number
  /** Distinct bodies. */
  readonly bodies: number
  /** Of all entries, as if nothing were packed or shared. */
  readonly bodyBytes: number
  /** What the bodies take up, packed. */
  readonly packedBytes: number
  /** What the store takes up on disk. */
  readonly diskBytes: number
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
  /** Of all runs that used the store. */
  readonly counts: CacheCounts
  /** The hosts with most entries, at most 100. */
  readonly hosts: readonly { readonly host: string; readonly entries: number; readonly bodyBytes: number }[]
}

export interface CacheCounts {
  readonly hits: number
  /** Asked again and answered by 304. */
  readonly revalidated: number
  readonly misses: number
  /** Bytes that hits and revalidations did not download. */
  readonly savedBytes: number
}

/**
 * Keeps answers. Invariants, each one a test of the published suite:
 * 1. `get` gives what the last acknowledged `put` of that key and URL gave, byte for byte, or nothing; never a part of it
 *    and never the answer of another URL.
 * 2. What `put` acknowledged is there after kill -9. One that was under way is there whole or not at all, and an entry
 *    that was there before stays until the new one is whole.
 * 3. A damaged entry is a miss, and the next `put` replaces it. A store that is damaged as a whole says so when it is
 *    opened (STORE_CORRUPT) and changes nothing.
 * 4. Several processes may use one store; each sees what another has acknowledged.
 * 5. `refresh` changes headers and `checkedAtMs`, never the body; of what is not there it makes nothing.
 * 6. `prune` deletes what it is asked to and nothing else, and gives the space back. Bodies that are still in use stay.
 * 7. `list` gives every entry that is there all the time exactly once, in an order that does not change.
 * 8. Nothing blocks the event loop for long: work is done in small batches, large bodies in parts.
 */
export interface CacheStore extends AsyncDisposable {
  /** Where it is, for messages; without credentials. */
  readonly location: string
  get(id: CacheId): Promise<CachedAnswer | undefined>
  /** The entry without its body: does not count as a use. */
  head(id: CacheId): Promise<CacheEntry | undefined>
  /**
   * Rejects with STORE_FULL, STORE_BUSY; what was there before stays then. A body over 256 MiB is not kept. The bytes
   * must not be changed until it resolves.
   */
  put(entry: NewCacheEntry, body: Uint8Array): Promise<void>
  /** False: no such entry. */
  refresh(id: CacheId, change: CacheRefresh): Promise<boolean>
  delete(id: CacheId): Promise<boolean>
  /** At most `max` (default 100) entries after the cursor, those of a host together. */
  list(filter: CacheFilter, page?: { readonly cursor?: string; readonly max?: number }): Promise<CacheListPage>
  prune(options: PruneOptions): Promise<PruneResult>
  stats(): Promise<CacheStats>
  /** Adds to the counts; kept with the next write. */
  note(counts: Partial<CacheCounts>): void
  /** Writes what waits and lets go. Idempotent; every other call rejects with STORE_CLOSED from then on. */
  close(): Promise<void>
}

/** What the cache has for a request. */
export type CacheAnswer =
  | { readonly kind: 'hit'; readonly response: FetchResponse }
  /** Send these headers along: a 304 says that the kept body is still the answer. */
  | { readonly kind: 'stale'; readonly entry: CacheEntry; readonly validators: Readonly<Record<string, string>> }
  /** Fetch it. */
  | { readonly kind: 'miss' }
  /** Mode `offline` and nothing kept. */
  | { readonly kind: 'not-cached'; readonly failure: FetchFailure }

/** Asked before robots and politeness, and again around the fetch. */
export interface CacheGate {
  /** Never rejects: a fault of the store is a miss, told by `onFault`. */
  lookup(request: FetchRequest, override?: CacheOverride): Promise<CacheAnswer>
  /** Fetches what `lookup` did not have, keeps it, and answers a 304 with the kept body. Rejects only as the fetcher does. */
  fetchThrough(fetcher: Fetcher, request: FetchRequest, answer: CacheAnswer): Promise<FetchResult>
}
