/** A request as the frontier keeps it, and what it may ask of the download cache. */

import type { JsonObject } from './json.ts'
import type { SkipReason } from './outcome.ts'

export type RequestState = 'pending' | 'leased' | 'done' | 'failed' | 'skipped'

/**
 * `on`: younger than the TTL is served, older is asked for again (by its validators where it has some). `http`: RFC 9111,
 * private cache. `refresh`: fetched and stored anew. `offline`: the cache only. `off`: neither read nor written.
 */
export type CacheMode = 'on' | 'http' | 'refresh' | 'offline' | 'off'

/**
 * What one request asks of the cache instead of what its crawl does. A crawl that is `offline` sends nothing whatever its
 * requests say, and one whose cache is `off` has none.
 */
export type CacheOverride = Readonly<{
  /** Default: the crawl's. */
  mode?: CacheMode
  /** Milliseconds; older is asked for again, 0: always. With `http` an upper bound beside it. Default: the crawl's. */
  ttlMs?: number
}>

export interface StoredRequest {
  /** Name of the task (crawl) it belongs to. Known-set, depth and limits are the task's own. */
  readonly task: string
  /** As found (WHATWG-parsed, without fragment): what goes on the wire. Identity is the fingerprint's business. */
  readonly url: string
  /** 16 characters of base64url: 96 bits of the SHA-256 of the canonical URL. */
  readonly fingerprint: string
  /** Lower-case host, with the port when it is not the default of the scheme: the unit of politeness. */
  readonly hostKey: string
  /** Links from the nearest seed; seeds are 0; redirects do not count. */
  readonly depth: number
  /** Higher comes first. Default 0. */
  readonly priority: number
  /** Chooses the handler. */
  readonly label?: string
  readonly userData?: JsonObject
  /** Default GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string
  /** Default: the task's. */
  readonly cache?: CacheOverride
  /** Set when the door refused it: it is recorded with this reason, not queued. */
  readonly skip?: SkipReason
}
