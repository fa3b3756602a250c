/** The one door: every seed, link and redirect target is parsed, judged and named here before the frontier sees it. */

import { cacheOverrideOf } from '../cache/override.ts'
import type { JsonObject } from '../core/json.ts'
import type { SkipReason } from '../core/outcome.ts'
import type { StoredRequest } from '../core/request.ts'
import type { UrlPieces } from '../core/url-pieces.ts'
import type { TaskSettings } from '../frontier/contract.ts'
import { createKnownFilter, type KnownFilter } from '../frontier/known-filter.ts'
import { canonicalOf, fingerprintOf, hostKeyOf, parseHttpUrl } from '../url/canonical.ts'
import type { Scope } from '../url/scope.ts'
import type { Random } from '../util/random.ts'
import type { Candidate, Door, RequestDraft } from './contract.ts'
import { DOWNLOAD_LABEL } from './download-requests.ts'

export interface DoorOptions {
  readonly settings: TaskSettings
  readonly scope: Scope
  /** Names the rule of the trap that a URL runs into. */
  readonly trapOf?: (url: string, depth: number) => string | undefined
  readonly maxUrlBytes: number
  /** From a canonical URL to what its identity rests on. Default: the canonical URL itself. */
  readonly identityOf?: (canonical: string) => string
  readonly obeyNofollow: boolean
  readonly random: Random
  /** Told of each seed's URL, and whether it brought a host or more of one. */
  readonly onSeed?: (url: string, isNews: boolean) => void
  /** A seed's redirect brought this URL's host into scope: to be kept before the page is settled. */
  readonly onScopeGrown?: (url: string) => void
}

export function createDoor(options: DoorOptions): Door {
  return new TaskDoor(options)
}

class TaskDoor implements Door {
  readonly #options: DoorOptions
  readonly #known: KnownFilter
  readonly #refused: KnownFilter
  readonly #seedHosts = new Set<string>()

  constructor(options: DoorOptions) {
    this.#options = options
    this.#known = createKnownFilter({ random: options.random })
    this.#refused = createKnownFilter({ capacity: 1 << 17, random: options.random })
  }

  admitSeed(draft: RequestDraft): StoredRequest | { readonly problem: string } {
    const parsed = parseHttpUrl(draft.url, { maxUrlBytes: this.#options.maxUrlBytes })
    if (!parsed.ok) return { problem: parsed.problem }
    const isNews = this.#options.scope.addSeed(parsed.url) || !this.#seedHosts.has(parsed.hostKey)
    this.#options.onSeed?.(parsed.url, isNews)
    this.#seedHosts.add(parsed.hostKey)
    return this.#request(draft, { ...parsed, depth: 0 })
  }

  isKnown(url: string, depth: number): boolean {
    return this.#known.has(url, depth)
  }

  arePiecesKnown(pieces: UrlPieces, depth: number): boolean {
    return this.#known.hasPieces(pieces, depth)
  }

  admit(candidate: Candidate): StoredRequest | 'known' | 'refused' {
    const { url, depth, draft } = candidate
    const plain = !hasIdentityOfItsOwn(draft)
    if (plain && (draft?.priority ?? 0) <= 0 && this.#known.has(url, depth)) return 'known'
    const hostKey = hostKeyOf(url)
    const refusal = this.#judge(candidate, hostKey)
    if (plain && refusal !== undefined && this.#refused.has(url, depth)) return 'refused'
    const made = this.#request(draft ?? {}, { url, canonical: canonicalOf(url), hostKey, depth })
    // not by a spread of both: the engine gives each such object a shape of its own, and whoever reads them pays for it
    return refusal === undefined ? made : Object.assign(made, refusal)
  }

  admitRedirect(url: string, from: StoredRequest): StoredRequest | { readonly skip: SkipReason } {
    const { scope, maxUrlBytes, onScopeGrown } = this.#options
    const parsed = parseHttpUrl(url, { maxUrlBytes })
    if (!parsed.ok) return { skip: parsed.reason }
    const isSeed = from.depth === 0
    if (isSeed && scope.decide(parsed.url, parsed.hostKey) === 'scope') {
      scope.addSeed(parsed.url)
      onScopeGrown?.(parsed.url)
    }
    const { depth, label } = from
    const draft = label === DOWNLOAD_LABEL ? { label } : {}
    const skip = this.#judge({ url: parsed.url, depth, draft }, parsed.hostKey)?.skip
    // --match says which links to follow; a seed is asked for by name, and so is where it leads
    if (skip !== undefined && !(skip === 'filtered' && isSeed)) return { skip }
    return this.#request({}, { ...parsed, depth: from.depth })
  }

  note(requests: readonly StoredRequest[]): void {
    for (const request of requests) {
      if (request.skip !== undefined) this.#refused.note(request.url, request.depth)
      else if (!hasIdentityOfItsOwn(request)) this.#known.note(request.url, request.depth)
    }
  }

  isSeedHost(hostKey: string): boolean {
    return this.#seedHosts.has(hostKey)
  }

  fingerprintOf(url: string): string {
    return fingerprintOf(this.#identityOf(canonicalOf(url)))
  }

  nameOf(url: string): Pick<StoredRequest, 'fingerprint' | 'hostKey'> {
    const page = this.#identityOf(canonicalOf(url))
    return { fingerprint: fingerprintOf(page), hostKey: hostKeyOf(page) }
  }

  #judge({ url, depth, nofollow, draft }: Candidate, hostKey: string): Refusal | undefined {
    const isDownload = draft?.label === DOWNLOAD_LABEL
    const { scope, settings, maxUrlBytes, obeyNofollow, trapOf } = this.#options
    if (url.length > maxUrlBytes) return { skip: 'url-too-long' }
    const verdict = isDownload ? verdictOnFile(scope, url) : scope.decide(url, hostKey)
    if (verdict !== 'in') return { skip: verdict }
    if (nofollow === true && obeyNofollow) return { skip: 'nofollow' }
    if (settings.maxDepth !== undefined && depth > settings.maxDepth) return { skip: 'depth' }
    const rule = trapOf?.(url, depth)
    return rule === undefined ? undefined : trapRefusal(rule)
  }

  #identityOf(canonical: string): string {
    return this.#options.identityOf?.(canonical) ?? canonical
  }

  #request(draft: Omit<RequestDraft, 'url'>, named: Named): StoredRequest {
    const page = this.#identityOf(named.canonical)
    const identity = hasIdentityOfItsOwn(draft) ? `${draft.method ?? 'GET'} ${page}\n${draft.payload ?? ''}` : page
    const request: Mutable<StoredRequest> = {
      task: this.#options.settings.name,
      url: named.url,
      fingerprint: fingerprintOf(identity),
      // what counts as one page must count as one host
      hostKey: page === named.canonical ? named.hostKey : hostKeyOf(page),
      depth: named.depth,
      priority: draft.priority ?? 0,
    }
    addRareParts(request, draft)
    return request
  }
}

/** Pages show pictures of other hosts, and `--match` says which links to follow. */
function verdictOnFile(scope: Scope, url: string): 'in' | 'filtered' {
  return scope.isExcluded(url) ? 'filtered' : 'in'
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What few requests have. */
function addRareParts(request: Mutable<StoredRequest>, draft: Omit<RequestDraft, 'url'>): void {
  if (draft.label !== undefined) request.label = draft.label
  if (draft.userData !== undefined) request.userData = draft.userData
  if (draft.method !== undefined) request.method = draft.method
  if (draft.headers !== undefined) request.headers = draft.headers
  if (draft.payload !== undefined) request.payload = draft.payload
  if (draft.cache !== undefined) request.cache = cacheOverrideOf(draft.cache)
}

/** The rule that fired is kept with the request, for those who ask why. */
export function trapRefusal(rule: string): Refusal {
  return { skip: 'trap', userData: { trapRule: rule } }
}

interface Refusal {
  readonly skip: SkipReason
  readonly userData?: JsonObject
}

interface Named {
  readonly url: string
  readonly canonical: string
  readonly hostKey: string
  readonly depth: number
}

/** Requests that differ in method or payload are different requests, whatever their URL. */
function hasIdentityOfItsOwn(draft: Pick<RequestDraft, 'method' | 'payload'> | undefined): boolean {
  return draft !== undefined && ((draft.method !== undefined && draft.method !== 'GET') || draft.payload !== undefined)
}
