/** Freshness and storability by RFC 9111 for a private cache, worked out by http-cache-semantics at a given instant. */

import CachePolicy from 'http-cache-semantics'
import type { FetchRequest, FetchResponse, HeaderList } from '../fetch/contract.ts'
import type { CacheEntry } from './contract.ts'
import { headerRecord } from './headers.ts'

export interface FreshnessQuestion {
  readonly entry: CacheEntry
  readonly request: FetchRequest
  readonly nowMs: number
}

/** True: it may be served without asking. `stale-while-revalidate` does not count: a crawler has time to ask. */
export function isFreshByRfc({ entry, request, nowMs }: FreshnessQuestion): boolean {
  const headers = semanticHeaders(entry.headers)
  if (hasToken(entry.headers, 'vary', '*')) return false
  const policy = policyAt(new CachePolicy({ headers: {} }, { status: entry.status, headers }, { shared: false }), {
    receivedAtMs: entry.checkedAtMs,
    nowMs: Math.max(nowMs, entry.checkedAtMs),
  })
  // Other headers of the request were compared by `fitsVaried` before.
  return policy.satisfiesWithoutRevalidation({ headers: requestDirectives(request) })
}

export function isStorableByRfc(request: FetchRequest, response: FetchResponse): boolean {
  const method = request.method ?? 'GET'
  const headers = semanticHeaders(response.headers)
  // 302, 303 and 307 need explicit freshness: the library knows.
  return new CachePolicy(
    { method, headers: requestDirectives(request) },
    { status: response.status, headers },
    { shared: false },
  ).storable()
}

/** The library takes its time from the system; `t` is when the answer came, `now` what it asks. */
function policyAt(policy: CachePolicy, { receivedAtMs, nowMs }: { receivedAtMs: number; nowMs: number }): CachePolicy {
  const moved = CachePolicy.fromObject({ ...policy.toObject(), t: receivedAtMs })
  return Object.assign(moved, { now: () => nowMs })
}

function requestDirectives(request: FetchRequest): Record<string, string> {
  const { 'cache-control': control, pragma } = request.headers ?? {}
  return {
    ...(control === undefined ? {} : { 'cache-control': control.toLowerCase() }),
    ...(pragma === undefined ? {} : { pragma: pragma.toLowerCase() }),
  }
}

/**
 * Directives in lower case; without Vary, which is compared elsewhere, and without `must-revalidate`, which forbids stale
 * answers (none is given here) and which the library would read as `no-cache`.
 */
function semanticHeaders(list: HeaderList): Record<string, string> {
  const headers = headerRecord(list)
  delete headers['vary']
  const control = headers['cache-control']
  if (control !== undefined) headers['cache-control'] = directivesOf(control)
  return headers
}

function directivesOf(control: string): string {
  return control
    .replace(/"[^"]*"/g, (quoted) => quoted.replaceAll(',', ' '))
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !/^(must|proxy)-revalidate\b/.test(directive))
    .join(', ')
}

function hasToken(headers: HeaderList, wanted: string, token: string): boolean {
  return headers.some(([name, value]) => name === wanted && value.split(',').some((part) => part.trim() === token))
}
