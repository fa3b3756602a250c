/** The story of one request, from its lease to its settlement. */

import type { FailedAttempt, Outcome } from '../core/outcome.ts'
import { failureOfStatus, isUnasked304 } from '../failures/classify.ts'
import type { CacheAnswer } from '../cache/contract.ts'
import type { FetchFailure, FetchRequest, FetchResponse, FetchResult } from '../fetch/contract.ts'
import { headerOf, headersAll } from '../fetch/headers.ts'
import { decideRedirect, headersForHop } from '../fetch/redirect.ts'
import type { Lease, Settlement } from '../frontier/contract.ts'
import { START_SLACK_MS } from '../politeness/host-state.ts'
import { parseRetryAfter } from '../politeness/retry-after.ts'
import type { HostSignal } from '../politeness/contract.ts'
import { cacheChoiceOf } from './cache-choice.ts'
import { isDownload } from './download-requests.ts'
import { handlePage } from './handle-page.ts'
import { settleDownload } from './settle-download.ts'
import { renderRequestOf } from './render-choice.ts'
import { hasHook, runAfterFetch, runBeforeFetch } from './middleware.ts'
import { followHop, hasTurnedToGet, hopOf } from './redirect.ts'
import { answered, end, failed, hostSignal, type ProcessOptions, retryOrFail, type Story } from './settlement.ts'
import { withVisit } from './visits.ts'

/** What is in memory answers within a microtask; whatever takes longer was fetched or read. */
const STALE_LEASE_MS = 1

export async function processRequest(options: ProcessOptions): Promise<Settlement> {
  const { deps, task, lease } = options
  const asked = fetchRequestOf(options)
  const request = hasHook(options, 'beforeFetch') ? await runBeforeFetch(options, asked) : asked
  if ('kind' in request) return end(lease, request)
  const cached = await lookUp(options, request)
  if (cached?.kind === 'hit')
    return settleResult(
      { ...options, request, crawlDelayMs: undefined, isHit: true, sentCookies: cookiesOf(options) },
      cached.response,
    )
  if (cached?.kind === 'not-cached') return end(lease, failed(cached.failure))
  // an unpaced one would have to be sent, and waits for its host's time like any other
  if (lease.unpaced === true || !options.hold.isHeld()) return end(lease, { kind: 'released' })
  if (lease.hostDown) {
    return end(lease, failed({ failure: 'host-down', error: `${lease.hostKey} gave no answer to the last requests` }))
  }
  const crawlDelayMs = task.respectRobots ? await askRobots(options, request) : undefined
  if (typeof crawlDelayMs === 'object') return crawlDelayMs
  const sentCookies = cookiesOf(options)
  const { hold, signal, watch } = options
  const story: Story = { deps, task, lease, request, hold, signal, watch, crawlDelayMs, isHit: false, sentCookies }
  return settleAndClose(story, await fetchPage(story, request, cached))
}

async function fetchPage(story: Story, request: FetchRequest, cached: CacheAnswer | undefined): Promise<FetchResult> {
  const { cache, fetcher, clock, onFetched } = story.deps
  const onSent = lateStart(story, story.crawlDelayMs)
  const sent = onSent === undefined ? request : { ...request, onSent }
  const by = story.task.fetcher ?? fetcher
  const sentAtMs = clock.monotonicMs()
  const result =
    cache === undefined || cached === undefined ? await by.fetch(sent) : await cache.fetchThrough(by, sent, cached)
  onFetched?.(request.url, clock.monotonicMs() - sentAtMs, result)
  return result
}

/** The crawl delay where the request is allowed; else how it ends. */
async function askRobots(options: ProcessOptions, { allowPrivate }: FetchRequest): Promise<number | Settlement> {
  const { deps, lease, signal } = options
  const askedAtMs = deps.clock.monotonicMs()
  const onSent = lateStart(options, undefined)
  const decision = await deps.robots.decide(lease.url, { allowPrivate: allowPrivate === true, signal, onSent })
  if (decision.kind === 'guarded') return end(lease, { kind: 'skipped', reason: 'private-address' })
  if (decision.kind === 'unreachable') return waitForRobots(options, decision)
  const { verdict } = decision
  const crawlDelayMs = (verdict.crawlDelay ?? 0) * 1000
  const refused: Outcome = { kind: 'skipped', reason: 'robots' }
  // robots.txt had to be fetched: the time reserved by the lease was for that, and others may have waited with this one
  if (deps.clock.monotonicMs() - askedAtMs > STALE_LEASE_MS) {
    return { ...end(lease, verdict.allowed ? { kind: 'released' } : refused), host: { kind: 'answered', crawlDelayMs } }
  }
  return verdict.allowed ? crawlDelayMs : end(lease, refused)
}

const cookiesOf = ({ deps, task, lease }: ProcessOptions): string => deps.cookiesVersion(task.settings.name, lease.url)

/** The cache is asked before robots and politeness: a hit costs neither. Undefined: there is no cache. */
async function lookUp(options: ProcessOptions, request: FetchRequest): Promise<CacheAnswer | undefined> {
  return options.deps.cache?.lookup(request, cacheChoiceOf(options))
}

/** The page of a browser is open for its handler alone. */
async function settleAndClose(story: Story, result: FetchResult): Promise<Settlement> {
  if (result.kind === 'failure' || result.live === undefined) return settleResult(story, result)
  try {
    return await settleResult(story, result)
  } finally {
    await result.live.close()
  }
}

async function settleResult(story: Story, result: FetchResult): Promise<Settlement> {
  const { deps, task, lease } = story
  if (result.kind === 'failure') return settleFailure(story, result)

  const method = methodOf(lease)
  const redirect = decideRedirect(result, method)
  if (redirect.kind === 'refused') {
    const attempt: FailedAttempt = { failure: 'redirects', status: result.status, error: redirect.reason }
    return answered(story, result, failed(attempt))
  }
  if (redirect.kind === 'follow') {
    const outcome = followHop({
      lease,
      hop: hopOf(lease.url, story.sentCookies),
      target: redirect.url,
      targetCookies: deps.cookiesVersion(task.settings.name, redirect.url),
      status: result.status,
      turnsToGet: redirect.method !== method,
      door: task.door,
    })
    return answered(story, result, outcome)
  }
  const decided = hasHook(story, 'afterFetch') ? await runAfterFetch(story, result) : undefined
  if (decided !== undefined) return answered(story, result, decided)
  const failure = failureOfStatus(result.status, headerOf(result.headers, 'retry-after') !== undefined)
  if (failure !== undefined) return settleStatus(story, result, { failure, error: `HTTP ${result.status}` })
  if (isUnasked304(result.status, story.request.headers ?? {}))
    return settleStatus(story, result, { failure: 'protocol', error: 'HTTP 304 to a request without a condition' })
  return isDownload(lease.request) ? settleDownload(story, result) : handlePage(story, result)
}

function methodOf({ hops, request: { method = 'GET' } }: Lease): string {
  return method !== 'GET' && hasTurnedToGet(hops) ? 'GET' : method
}

function fetchRequestOf({ task, lease, hold, signal, onBody }: ProcessOptions): FetchRequest {
  const { request } = lease
  const method = methodOf(lease)
  const seedHost = task.door.isSeedHost(lease.hostKey)
  // filled one by one: nearly all requests then have one shape
  const sent: { -readonly [K in keyof FetchRequest]: FetchRequest[K] } = {
    url: lease.url,
    headers: withSeedHeaders(hopHeaders(task.headers, lease), seedHost ? task.seedHeaders : NO_HEADERS),
    allowPrivate: task.allowPrivate || seedHost,
    session: task.settings.name,
    isStillHeld: hold.isHeld,
    signal,
  }
  if (onBody !== undefined) sent.onBody = onBody
  if (method !== 'GET') sent.method = method
  if (task.timeoutMs !== undefined) sent.timeoutMs = task.timeoutMs
  if (isDownload(request)) {
    if (task.maxDownloadBytes !== undefined) sent.maxBodyBytes = task.maxDownloadBytes
  } else {
    const render = renderRequestOf(task)
    if (render !== undefined) sent.render = render
  }
  if (request.payload !== undefined && method === request.method) sent.body = request.payload
  return sent
}

type Headers = Readonly<Record<string, string>>
const NO_HEADERS: Headers = {}

function withSeedHeaders(headers: Headers, seedHeaders: Headers): Headers {
  for (const _ in seedHeaders) return { ...headers, ...seedHeaders }
  return headers
}

/** Making a connection takes its time: a host with a delay is told when the request really goes out. */
function lateStart({ deps, task, lease }: ProcessOptions, crawlDelayMs: Story['crawlDelayMs']): FetchRequest['onSent'] {
  const { delayMs, loopbackDelayMs } = task.settings
  if (delayMs === 0 && loopbackDelayMs === 0 && (crawlDelayMs ?? 0) === 0) return undefined
  const leasedAtMs = deps.clock.monotonicMs()
  return () => {
    if (deps.clock.monotonicMs() - leasedAtMs < START_SLACK_MS) return
    deps.store.frontier.started([lease]).catch(() => undefined) // the settlement meets the same fault and tells it
  }
}

/** Where a redirect led to another origin, the user's own headers stay behind. */
function hopHeaders(shared: Headers, lease: Lease): Headers {
  const headers = lease.request.headers === undefined ? shared : { ...shared, ...lease.request.headers }
  if (lease.hops.length === 0) return headers
  return headersForHop({ from: lease.request.url, to: lease.url, headers, keepBody: !hasTurnedToGet(lease.hops) })
}

function settleFailure(story: Story, result: FetchFailure): Settlement {
  const { lease } = story
  if (result.guarded === true) return end(lease, { kind: 'skipped', reason: 'private-address' })
  const attempt: FailedAttempt = {
    failure: result.failure,
    error: result.error,
    ...(result.status === undefined ? {} : { status: result.status }),
  }
  const silent = result.status === undefined && result.wireBytes === 0 && isSilence(result)
  if (result.failure === 'browser') {
    return answeredBadly(story, result, attempt)
  }
  const host: HostSignal =
    result.failure === 'proxy' ? { kind: 'unused' } : silent ? { kind: 'silent' } : { kind: 'troubled' }
  return {
    ...end(lease, retryOrFail(story, attempt, undefined)),
    host,
    counts: { requests: 1, bytes: result.wireBytes },
  }
}

/** The host has answered; what failed is the browser, on this machine. */
function answeredBadly(story: Story, result: FetchFailure, attempt: FailedAttempt): Settlement {
  return {
    ...end(story.lease, retryOrFail(story, attempt, undefined)),
    host: hostSignal(story, 'answered'),
    counts: { requests: 1, bytes: result.wireBytes },
  }
}

/** The host did not answer at all, as opposed to answering badly. */
function isSilence({ failure }: FetchFailure): boolean {
  return failure === 'dns' || failure === 'connect' || failure === 'tls' || failure === 'timeout'
}

function settleStatus(story: Story, response: FetchResponse, fault: Omit<FailedAttempt, 'status'>): Settlement {
  const { status, headers } = response
  const retryAfterMs = parseRetryAfter(
    headersAll(headers, 'retry-after')[0],
    story.deps.clock.nowMs(),
    headerOf(headers, 'date'),
  )
  const { failure } = fault
  const attempt: FailedAttempt = { ...fault, status }
  const throttled = failure === 'throttled'
  const settlement: Settlement = {
    ...answered(story, response, retryOrFail(story, attempt, retryAfterMs)),
    host: throttled
      ? { kind: 'throttled', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
      : hostSignal(story, failure === 'http-5xx' ? 'troubled' : 'answered'),
  }
  return withVisit(story, response, settlement)
}

function waitForRobots(
  { task, lease }: ProcessOptions,
  unreachable: { readonly tries: number; readonly retryInMs: number; readonly error: string },
): Settlement {
  const attempt: FailedAttempt = { failure: 'robots-unreachable', error: `robots.txt: ${unreachable.error}` }
  if (unreachable.tries > task.maxRetries) return end(lease, failed(attempt))
  return {
    ...end(lease, { kind: 'retry', attempt, retryInMs: unreachable.retryInMs, charged: false }),
    host: { kind: 'hold', holdMs: unreachable.retryInMs },
  }
}
