/** Everything a page asks for, by one way: judged, paced, and fetched by the crawler's own fetcher. */

import type { CDPSession } from 'playwright-core'
import type { Clock } from '../../core/clock.ts'
import type { RobotsSource } from '../../robots/contract.ts'
import type { FetchRequest, FetchResponse, Fetcher, RenderRequest } from '../contract.ts'
import type { CookieJars } from '../cookies.ts'
import { headersAll } from '../headers.ts'
import { type AssetCache, isAsset } from './asset-cache.ts'
import type { HostPace } from './host-pace.ts'
import { kindOf, mayBeSent } from './kinds.ts'
import { isSameSite } from './same-site.ts'
import { answerToShow, bodyToSend, headersToSend, type Paused } from './sub-request.ts'

/** Requests of one page, and their bytes: beyond it nothing more is loaded. */
const MAX_REQUESTS = 500
const MAX_BYTES = 128 * 1024 * 1024

export interface TrafficDeps {
  /** Has no jar of its own: which cookies go along depends on who asks. */
  readonly http: Fetcher
  readonly jars: CookieJars
  /** Undefined: robots.txt is not obeyed. */
  readonly robots: RobotsSource | undefined
  readonly pace: HostPace
  readonly assets: AssetCache
  readonly clock: Clock
  /** Least time between the starts of two data requests to a host. */
  readonly delayMsOf: (hostKey: string) => number
  /** Who the crawl shows itself as to a host. Default: to all as one. */
  readonly userAgentFor?: (session: string, url: string) => string | undefined
}

export interface TrafficPlan {
  readonly session: CDPSession
  readonly mainFrameId: string
  readonly request: FetchRequest
  readonly render: RenderRequest
  /** What the server answered: shown, not fetched again. */
  readonly document: FetchResponse
  /** Of the visit: ends what is under way. */
  readonly signal: AbortSignal
  /** The page's scripts lead on to this URL; they are not followed. */
  readonly onNavigate: (url: string) => void
}

export interface TrafficCounts {
  /** Sent over the wire, the document not counted. */
  requests: number
  /** Not made: blocked, refused by robots.txt or the guard, or over a bound. */
  refused: number
  wireBytes: number
}

interface RequestParts {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly allowPrivate: boolean
}

type Refusal = 'BlockedByClient' | 'AccessDenied' | 'Failed' | 'TimedOut' | 'Aborted'

export class Traffic {
  readonly counts: TrafficCounts = { requests: 0, refused: 0, wireBytes: 0 }
  readonly #plan: TrafficPlan
  readonly #deps: TrafficDeps
  readonly #documentUrl: string
  #shown = false
  #asked = 0
  #taken = 0
  #active = 0
  #ownQueue: Promise<unknown> = Promise.resolve()
  #onChange: () => void = () => undefined

  constructor(plan: TrafficPlan, deps: TrafficDeps) {
    this.#plan = plan
    this.#deps = deps
    this.#documentUrl = bare(plan.request.url)
  }

  /** Requests that wait or are under way. */
  get active(): number {
    return this.#active
  }

  /** Requests so far, those that were refused too. */
  get asked(): number {
    return this.#taken
  }

  /** Called when `active` has changed. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Never rejects. */
  async take(paused: Paused): Promise<void> {
    if (paused.resourceType === 'Document') {
      await this.#takeDocument(paused)
      return
    }
    this.#active++
    this.#taken++
    this.#onChange()
    try {
      await this.#answer(paused, await this.#fetch(paused))
    } catch {
      await this.#refuse(paused, 'Aborted')
    } finally {
      this.#active--
      this.#onChange()
    }
  }

  async #takeDocument(paused: Paused): Promise<void> {
    const { mainFrameId, document, onNavigate } = this.#plan
    const url = bare(paused.request.url)
    if (paused.frameId !== mainFrameId) {
      await this.#refuse(paused, 'BlockedByClient')
      return
    }
    if (!this.#shown && url === this.#documentUrl) {
      this.#shown = true
      await this.#answer(paused, document)
      return
    }
    await this.#refuse(paused, 'Aborted')
    if (paused.request.method === 'GET' && /^https?:/.test(url)) onNavigate(url)
  }

  /** A refusal, or what came. */
  async #fetch(paused: Paused): Promise<FetchResponse | Refusal> {
    const { url, method } = paused.request
    const kind = kindOf(paused)
    const { render } = this.#plan
    if (kind === undefined || render.block.includes(kind) || !mayBeSent(method)) return 'BlockedByClient'
    if (!/^https?:/.test(url) || ++this.#asked > MAX_REQUESTS || this.counts.wireBytes > MAX_BYTES) return 'Failed'
    if (!isAsset(kind, method)) return this.#send(paused)
    const key = `${this.#plan.request.session ?? ''} ${bare(url)}`
    const kept = this.#deps.assets.get(key)
    if (kept !== undefined) return kept
    const result = await this.#send(paused)
    if (typeof result === 'object') this.#deps.assets.put(key, result)
    return result
  }

  /** A page has one place at its own host, where it takes one request at a time: its lease is one. */
  async #send(paused: Paused): Promise<FetchResponse | Refusal> {
    if (hostKeyOf(paused.request.url) !== hostKeyOf(this.#plan.request.url)) return this.#sendNow(paused)
    const turn = this.#ownQueue.then(() => this.#sendNow(paused))
    this.#ownQueue = turn.catch(() => undefined)
    return turn
  }

  async #sendNow(paused: Paused): Promise<FetchResponse | Refusal> {
    const { signal, render } = this.#plan
    signal.throwIfAborted()
    const { url } = paused.request
    const allowPrivate = render.mayBePrivate(url)
    const crawlDelayMs = await this.#crawlDelayMs(url, allowPrivate)
    if (crawlDelayMs === undefined) return 'AccessDenied'
    const hostKey = hostKeyOf(url)
    const isData = kindOf(paused) === 'data'
    const delayMs = isData ? Math.max(this.#deps.delayMsOf(hostKey), crawlDelayMs) : 0
    const leave = await this.#deps.pace.enter({ hostKey, delayMs, signal })
    try {
      return await this.#exchange(paused, allowPrivate)
    } finally {
      leave()
    }
  }

  /** Undefined: robots.txt refuses it, or cannot be had. */
  async #crawlDelayMs(url: string, allowPrivate: boolean): Promise<number | undefined> {
    const { robots } = this.#deps
    if (robots === undefined) return 0
    const decision = await robots.decide(url, { allowPrivate, signal: this.#plan.signal })
    if (decision.kind !== 'verdict' || !decision.verdict.allowed) return undefined
    return (decision.verdict.crawlDelay ?? 0) * 1000
  }

  async #exchange(paused: Paused, allowPrivate: boolean): Promise<FetchResponse | Refusal> {
    const { request } = this.#plan
    const { url } = paused.request
    const body = bodyToSend(paused)
    if (body === 'unreadable') return 'BlockedByClient'
    const isOwnSite = isSameSite(url, request.url)
    const headers = headersToSend({
      paused,
      own: originOf(url) === originOf(request.url) ? (request.headers ?? {}) : {},
      cookie: isOwnSite ? await this.#cookieFor(url) : undefined,
    })
    this.counts.requests++
    const result = await this.#deps.http.fetch(this.#requestOf(paused, { headers, body, allowPrivate }))
    this.counts.wireBytes += result.wireBytes
    if (isOwnSite && result.headers !== undefined) {
      this.#deps.jars.receive(request.session ?? 'default', url, headersAll(result.headers, 'set-cookie'))
    }
    if (result.kind === 'response') return result
    if (result.guarded === true) return 'AccessDenied'
    return result.failure === 'timeout' ? 'TimedOut' : 'Failed'
  }

  #requestOf(paused: Paused, parts: RequestParts): FetchRequest {
    const { request, signal } = this.#plan
    const { session, maxBodyBytes, isStillHeld } = request
    const { url, method } = paused.request
    return {
      url: bare(url),
      method,
      headers: parts.headers,
      ...(parts.body === undefined ? {} : { body: parts.body }),
      allowPrivate: parts.allowPrivate,
      ...(session === undefined ? {} : { session }),
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      ...(isStillHeld === undefined ? {} : { isStillHeld }),
      onSent: () => {
        this.#noteSent(url)
      },
      signal,
    }
  }

  /** The page's host is told in the store too, so that other workers keep their distance. */
  #noteSent(url: string): void {
    const { request } = this.#plan
    const hostKey = hostKeyOf(url)
    this.#deps.pace.started(hostKey)
    if (hostKey === hostKeyOf(request.url)) request.onSent?.()
  }

  /** The browser's own: what scripts have set is among them. */
  async #cookieFor(url: string): Promise<string> {
    const { cookies } = await this.#plan.session.send('Network.getCookies', { urls: [url] })
    return cookies.map(({ name, value }) => (name === '' ? value : `${name}=${value}`)).join('; ')
  }

  async #answer(paused: Paused, answer: FetchResponse | Refusal): Promise<void> {
    if (typeof answer === 'string') {
      await this.#refuse(paused, answer)
      return
    }
    const shown = answerToShow(answer, isSameSite(paused.request.url, this.#documentUrl))
    try {
      await this.#plan.session.send('Fetch.fulfillRequest', { requestId: paused.requestId, ...shown })
    } catch {
      // a header that Chromium does not take, or a page that is gone
      await this.#refuse(paused, 'Failed')
    }
  }

  async #refuse(paused: Paused, errorReason: Refusal): Promise<void> {
    if (errorReason !== 'Aborted') this.counts.refused++
    await refuse(this.#plan.session, paused, errorReason)
  }
}

/** Never rejects: a page that is gone asks for nothing. */
export async function refuse(session: CDPSession, { requestId }: Paused, errorReason: Refusal): Promise<void> {
  await session.send('Fetch.failRequest', { requestId, errorReason }).catch(() => undefined)
}

function bare(url: string): string {
  const hash = url.indexOf('#')
  return hash === -1 ? url : url.slice(0, hash)
}

const hostKeyOf = (url: string): string => new URL(url).host

const originOf = (url: string): string => new URL(url).origin
