/** The gate: what stands between a request and its fetch, so that a hit costs neither network nor politeness. */

import type { Clock } from '../core/clock.ts'
import type { Fetcher, FetchFailure, FetchRequest, FetchResponse, FetchResult } from '../fetch/contract.ts'
import type { CacheMode, CacheOverride } from '../core/request.ts'
import type { CacheAnswer, CachedAnswer, CacheEntry, CacheGate, CacheStore } from './contract.ts'
import { mergeHeaders, variantOf, variedOf } from './headers.ts'
import { cacheKeyOf, type CacheKeyParts } from './key.ts'
import { decideStore, decideUse, isCacheable } from './policy.ts'

export interface CacheGateOptions {
  readonly store: CacheStore
  readonly mode: CacheMode
  /** Age after which an answer is asked for again in mode `on`; 0: at once. */
  readonly ttlMs: number
  readonly clock: Clock
  /** What an entry's name is made of. Default: the URL without its fragment. */
  readonly canonicalOf?: (url: string) => string
  /** A fault of the store: the page is fetched, or not kept, and the crawl goes on. */
  readonly onFault?: (error: unknown) => void
}

/** No I/O of its own. The store stays the caller's to close. */
export function createCacheGate(options: CacheGateOptions): CacheGate {
  const deps: GateDeps = { ...options, overrides: new WeakMap() }
  return {
    lookup: async (request, override = {}) => {
      const answer = await lookUp(deps, request, override)
      deps.overrides.set(answer, override)
      return answer
    },
    fetchThrough: (fetcher, request, answer) => fetchThrough({ deps, fetcher, request, answer }),
  }
}

interface GateDeps extends CacheGateOptions {
  /** `fetchThrough` goes by what `lookup` was told. */
  readonly overrides: WeakMap<CacheAnswer, CacheOverride>
}

interface Passage {
  readonly deps: GateDeps
  readonly fetcher: Fetcher
  readonly request: FetchRequest
  readonly answer: CacheAnswer
}

async function lookUp(deps: GateDeps, request: FetchRequest, override: CacheOverride): Promise<CacheAnswer> {
  const mode = modeOf(deps, override)
  if (mode === 'off' || mode === 'refresh') return { kind: 'miss' }
  const found = isCacheable(request) ? await findAnswer(deps, request) : undefined
  const decision = decideUse({
    entry: found?.entry,
    request,
    mode,
    ttlMs: override.ttlMs ?? (mode === 'http' ? Infinity : deps.ttlMs),
    nowMs: deps.clock.nowMs(),
  })
  if (decision.kind === 'serve' && found !== undefined) {
    deps.store.note({ hits: 1, savedBytes: found.entry.wireBytes })
    return { kind: 'hit', response: responseOf(request, found) }
  }
  if (decision.kind === 'revalidate' && found !== undefined) {
    return { kind: 'stale', entry: found.entry, validators: decision.validators }
  }
  deps.store.note({ misses: 1 })
  return decision.kind === 'not-cached' ? { kind: 'not-cached', failure: notCached(request) } : { kind: 'miss' }
}

/** Offline is a promise about the network: no single request is let out. */
function modeOf({ mode }: GateDeps, override: CacheOverride | undefined): CacheMode {
  return mode === 'offline' ? mode : (override?.mode ?? mode)
}

/** The answer kept under the URL, or under the URL and what its answer depends on. */
async function findAnswer(deps: GateDeps, request: FetchRequest): Promise<CachedAnswer | undefined> {
  const url = identityOf(deps, request)
  const method = request.method ?? 'GET'
  return guarded(deps, async () => {
    const first = await deps.store.get({ key: keyOf(request, { method, url }), url })
    const headers = request.headers ?? {}
    const variant = variantOf(Object.keys(first?.entry.varied ?? {}), headers)
    if (variant === '' || first === undefined) return first
    const mine = variedOf({ headers: first.entry.headers, request: headers })
    if (isSameVariant(first.entry.varied, mine)) return first
    return (await deps.store.get({ key: keyOf(request, { method, url, variant }), url })) ?? first
  })
}

async function fetchThrough(passage: Passage): Promise<FetchResult> {
  const { deps, fetcher, request, answer } = passage
  if (answer.kind === 'hit') return answer.response
  if (answer.kind === 'not-cached') return answer.failure
  if (answer.kind === 'miss') return keep(passage, await fetcher.fetch(request))
  const result = await fetcher.fetch({ ...request, headers: { ...request.headers, ...answer.validators } })
  if (result.kind !== 'response' || result.status !== 304) return keep(passage, result)
  const kept = await confirm(deps, answer.entry, result)
  // The entry is gone meanwhile: the 304 is about nothing, so the page is asked for as if it had never been kept.
  if (kept === undefined) return keep(passage, await fetcher.fetch(request))
  const { wireBytes, timings, remoteAddress } = result
  return {
    ...responseOf(request, kept),
    wireBytes,
    timings,
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
  }
}

/** The kept answer, dated anew by a 304. */
async function confirm(deps: GateDeps, entry: CacheEntry, result: FetchResponse): Promise<CachedAnswer | undefined> {
  const kept = await guarded(deps, () => deps.store.get(entry))
  if (kept === undefined) return undefined
  const headers = mergeHeaders(kept.entry.headers, result.headers)
  const checkedAtMs = deps.clock.nowMs()
  await guarded(deps, () => deps.store.refresh(entry, { checkedAtMs, headers }))
  deps.store.note({ revalidated: 1, savedBytes: kept.entry.wireBytes })
  return { ...kept, entry: { ...kept.entry, headers, checkedAtMs } }
}

/** Puts what may be put; a fault of the store does not take the page away. */
async function keep({ deps, request, answer }: Passage, result: FetchResult): Promise<FetchResult> {
  if (result.kind !== 'response') return result
  const mode = modeOf(deps, deps.overrides.get(answer))
  const decision = decideStore({ request, response: result, mode })
  if (decision === 'store') {
    // one date for the page that is handled now and for the same page out of the cache
    const fetchedAtMs = result.fetchedAtMs ?? deps.clock.nowMs()
    const dated = { ...result, fetchedAtMs }
    await guarded(deps, () => putAnswer({ deps, request, response: dated, nowMs: fetchedAtMs }))
    return dated
  }
  if (decision === 'drop' && answer.kind === 'stale') await guarded(deps, () => deps.store.delete(answer.entry))
  return result
}

interface NewAnswer extends Pick<Passage, 'deps' | 'request'> {
  readonly response: FetchResponse
  readonly nowMs: number
}

async function putAnswer({ deps, request, response, nowMs }: NewAnswer): Promise<void> {
  const url = identityOf(deps, request)
  const method = request.method ?? 'GET'
  const headers = request.headers ?? {}
  const varied = variedOf({ headers: response.headers, request: headers })
  let key = keyOf(request, { method, url })
  if (varied !== undefined) {
    // The first variant has the plain name; the others stand beside it.
    const first = await deps.store.head({ key, url })
    if (first !== undefined && !isSameVariant(first.varied, varied)) {
      const names = Object.keys(first.varied ?? {})
      key = keyOf(request, { method, url, variant: variantOf(names, headers) })
    }
  }
  await deps.store.put(
    {
      key,
      url,
      ...(bareUrl(request) === url ? {} : { wireUrl: bareUrl(request) }),
      method,
      status: response.status,
      headers: response.headers,
      fetchedAtMs: nowMs,
      checkedAtMs: nowMs,
      ...(varied === undefined ? {} : { varied }),
      wireBytes: response.wireBytes,
    },
    response.body,
  )
}

function isSameVariant(a: CacheEntry['varied'], b: CacheEntry['varied']): boolean {
  return textOf(a) === textOf(b)
}

function textOf(varied: CacheEntry['varied']): string {
  return JSON.stringify(Object.entries(varied ?? {}).toSorted())
}

function identityOf({ canonicalOf }: GateDeps, request: FetchRequest): string {
  const bare = bareUrl(request)
  return canonicalOf === undefined ? bare : canonicalOf(bare)
}

/** What a browser made of a page is another answer than what the server sent. */
function keyOf({ render }: FetchRequest, parts: CacheKeyParts): string {
  if (render === undefined) return cacheKeyOf(parts)
  const { mode, wait, block, save } = render
  const rendered = JSON.stringify(['rendered', mode, wait, block.toSorted(), save.toSorted(), parts.variant ?? ''])
  return cacheKeyOf({ ...parts, variant: rendered })
}

function bareUrl({ url }: FetchRequest): string {
  const hash = url.indexOf('#')
  return hash === -1 ? url : url.slice(0, hash)
}

/** Cookies that the answer set when it came are among its headers, and are not set again: as in browsers. */
function responseOf(request: FetchRequest, { entry, body }: CachedAnswer): FetchResponse {
  return {
    kind: 'response',
    url: request.url,
    status: entry.status,
    headers: entry.headers,
    body,
    wireBytes: 0,
    truncated: false,
    timings: { headMs: 0, totalMs: 0 },
    fromCache: true,
    fetchedAtMs: entry.fetchedAtMs,
  }
}

function notCached(request: FetchRequest): FetchFailure {
  return {
    kind: 'failure',
    failure: 'not-cached',
    error: `the cache holds no answer to ${request.method ?? 'GET'} that may be used here, and offline nothing is fetched`,
    wireBytes: 0,
  }
}

async function guarded<T>(deps: GateDeps, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    deps.onFault?.(error)
    return undefined
  }
}
