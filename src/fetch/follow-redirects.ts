/** A fetch that follows redirects to their end, for commands and tools; the crawl itself takes each hop through its door. */

import type { FetchFailure, FetchRequest, FetchResponse, FetchResult, Fetcher } from './contract.ts'
import { headersAll } from './headers.ts'
import { decideRedirect, headersForHop } from './redirect.ts'

export interface Hop {
  readonly url: string
  readonly status: number
  /** Where it led: absolute, without fragment. */
  readonly location: string
}

export interface FollowedResult {
  readonly result: FetchResult
  /** The URL that was asked last. */
  readonly finalUrl: string
  readonly hops: readonly Hop[]
}

export interface FollowOptions {
  /** Most redirects followed. Default 20, as browsers. */
  readonly maxRedirects?: number
  /** `allowPrivate` of the request holds for its own host alone; with this, for every hop. Default false. */
  readonly allowPrivateEverywhere?: boolean
  /** May this hop be made? A string refuses it and says why; a request replaces the one that would be sent. */
  readonly onHop?: (next: FetchRequest, hop: Hop) => FetchRequest | string
}

export async function followRedirects(
  fetcher: Fetcher,
  request: FetchRequest,
  options: FollowOptions = {},
): Promise<FollowedResult> {
  const maxRedirects = options.maxRedirects ?? 20
  const hops: Hop[] = []
  const seen = new Set<string>([keyOf(request)])
  let current = request
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each hop is known only from the answer before it
    const result = await fetcher.fetch(current)
    const end = (final: FetchResult): FollowedResult => ({ result: final, finalUrl: current.url, hops })
    if (result.kind === 'failure') return end(result)
    const decision = decideRedirect({ ...result, url: current.url }, current.method ?? 'GET')
    if (decision.kind === 'none') return end(result)
    if (decision.kind === 'refused') return end(redirectFailure(result, decision.reason))
    if (hops.length >= maxRedirects) return end(redirectFailure(result, `more than ${maxRedirects} redirects`))
    const hop = { url: current.url, status: result.status, location: decision.url }
    const next = takeHop(guarded(nextRequest(current, decision), request, options), hop, options)
    if (typeof next === 'string') return end(redirectFailure(result, next))
    // A cookie may open the way at the second try; without a new one, the same question gets the same answer.
    if (headersAll(result.headers, 'set-cookie').length > 0) seen.clear()
    if (seen.has(keyOf(next))) return end(redirectFailure(result, `a redirect loop over ${next.url}`))
    seen.add(keyOf(next))
    hops.push(hop)
    current = next
  }
}

function takeHop(next: FetchRequest, hop: Hop, options: FollowOptions): FetchRequest | string {
  return options.onHop?.(next, hop) ?? next
}

/** A seed's own host may be private; where it leads may not. */
function guarded(next: FetchRequest, first: FetchRequest, options: FollowOptions): FetchRequest {
  const allowed = options.allowPrivateEverywhere === true || new URL(next.url).hostname === new URL(first.url).hostname
  return { ...next, allowPrivate: allowed && first.allowPrivate === true }
}

function keyOf(request: FetchRequest): string {
  return `${request.method ?? 'GET'} ${request.url}`
}

function nextRequest(
  from: FetchRequest,
  to: { readonly url: string; readonly method: string; readonly keepBody: boolean },
): FetchRequest {
  const { body, headers, ...rest } = from
  return {
    ...rest,
    url: to.url,
    method: to.method,
    ...(headers === undefined
      ? {}
      : { headers: headersForHop({ from: from.url, to: to.url, headers, keepBody: to.keepBody }) }),
    ...(body === undefined || !to.keepBody ? {} : { body }),
  }
}

function redirectFailure(answer: FetchResponse, error: string): FetchFailure {
  return {
    kind: 'failure',
    failure: 'redirects',
    error,
    status: answer.status,
    headers: answer.headers,
    wireBytes: answer.wireBytes,
  }
}
