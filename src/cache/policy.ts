/** Whether a kept answer may be used, and whether a new one is kept: decisions alone, no I/O. */

import type { FetchRequest, FetchResponse } from '../fetch/contract.ts'
import type { CacheMode } from '../core/request.ts'
import type { CacheEntry } from './contract.ts'
import { fitsVaried, headerOf, validatorsOf } from './headers.ts'
import { isFreshByRfc, isStorableByRfc } from './rfc9111.ts'

export type UseDecision =
  | { readonly kind: 'serve' }
  /** Ask the server whether the kept answer still holds. */
  | { readonly kind: 'revalidate'; readonly validators: Readonly<Record<string, string>> }
  | { readonly kind: 'fetch' }
  /** Nothing to use, and the network is not asked. */
  | { readonly kind: 'not-cached' }

export interface UseQuestion {
  readonly entry: CacheEntry | undefined
  readonly request: FetchRequest
  readonly mode: CacheMode
  /** Older is not fresh, whatever `mode` says. */
  readonly ttlMs: number
  readonly nowMs: number
}

/** Answers of these kinds fail a page: they are kept for offline crawls, and otherwise asked for anew. */
const GONE = new Set([404, 410])
const STORABLE = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, ...GONE])
/** A request that asks for a part, or under a condition of its own, is its sender's business. */
const OWN_CONDITIONS = ['range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']

/** False: such a request goes past the cache both ways. POST does (RFC 9111 allows little, and no two need agree). */
export function isCacheable(request: FetchRequest): boolean {
  const method = request.method ?? 'GET'
  if (method !== 'GET' && method !== 'HEAD') return false
  if (request.body !== undefined) return false
  const headers = request.headers ?? {}
  return OWN_CONDITIONS.every((name) => headers[name] === undefined)
}

export function decideUse(question: UseQuestion): UseDecision {
  const { entry, request, mode } = question
  if (mode === 'off' || mode === 'refresh') return { kind: 'fetch' }
  const without: UseDecision = { kind: mode === 'offline' ? 'not-cached' : 'fetch' }
  if (entry === undefined || !isUsable(entry, request)) return without
  if (mode === 'offline' || isFresh(entry, question)) return { kind: 'serve' }
  const validators = validatorsOf(entry.headers)
  return Object.keys(validators).length === 0 ? { kind: 'fetch' } : { kind: 'revalidate', validators }
}

function isUsable(entry: CacheEntry, request: FetchRequest): boolean {
  if (!isCacheable(request) || entry.method !== (request.method ?? 'GET')) return false
  const { maxBodyBytes = Infinity, truncateAtBytes = Infinity } = request
  if (entry.bodyBytes > Math.min(maxBodyBytes, truncateAtBytes)) return false
  return fitsVaried(entry.varied, request.headers ?? {})
}

function isFresh(entry: CacheEntry, { request, mode, ttlMs, nowMs }: UseQuestion): boolean {
  // A wall clock that was set back must not make pages young for ever, nor old at once.
  if (Math.max(0, nowMs - entry.checkedAtMs) >= ttlMs) return false
  return mode === 'http' ? isFreshByRfc({ entry, request, nowMs }) : !GONE.has(entry.status)
}

export interface StoreQuestion {
  readonly request: FetchRequest
  readonly response: FetchResponse
  readonly mode: CacheMode
}

/** `drop`: what is kept of this URL is out of date and goes. `keep`: it stays as it is. */
export type StoreDecision = 'store' | 'drop' | 'keep'

/**
 * Kept are whole answers that stand for a page, a redirect or the lack of a page. Cut bodies, parts (206), throttling,
 * faults of servers and of the way never are.
 */
export function decideStore({ request, response, mode }: StoreQuestion): StoreDecision {
  if (mode === 'off' || mode === 'offline' || !isCacheable(request) || response.fromCache === true) return 'keep'
  if (response.truncated || !STORABLE.has(response.status)) return 'keep'
  if (isRedirect(response.status) && headerOf(response.headers, 'location') === undefined) return 'keep'
  if (mode !== 'http') return 'store'
  return isStorableByRfc(request, response) ? 'store' : 'drop'
}

/** Statuses of answers that may be kept at all. */
export function isStorableStatus(status: number): boolean {
  return STORABLE.has(status)
}

function isRedirect(status: number): boolean {
  return status >= 301 && status <= 308
}
