/** How a host's state changes with what is asked of it and what it answers: pure, one atomic step each. */

import { backoffMs } from '../util/backoff.ts'
import { isLoopbackHost } from '../util/host-name.ts'
import type { Random } from '../util/random.ts'
import type { HostLimits, HostReport, HostSignal, HostState } from './contract.ts'
import { MAX_RETRY_AFTER_MS } from './retry-after.ts'

/** Host backoff when a server asks to slow down without saying for how long: 1 s or so, doubling up to 5 min. */
const BACKOFF_BASE_MS = 1500
const BACKOFF_MAX_MS = 5 * 60 * 1000
/** Requests in a row without any answer after which the host counts as down. */
export const MAX_SILENT_FAILURES = 5
/** How long a host that is down rests before one request may probe it: doubling with each silent probe. */
const REST_BASE_MS = 30 * 1000
const REST_MAX_MS = 15 * 60 * 1000
/**
 * Between the lease and the request's first byte lies work of ours, a few milliseconds that differ from one request to
 * the next: this much is added to each delay, so that the server never sees less than the delay itself. A longer way
 * is told by `startLate`.
 */
export const START_SLACK_MS = 5
/** A longer crawl delay counts as this. */
const MAX_CRAWL_DELAY_MS = 60 * 60 * 1000

/**
 * Of a host that nothing is known of. It stands at one step of backoff, so that it is asked one request at a time until
 * it has answered: its crawl delay is not known before.
 */
export function initialHostState(): HostState {
  return {
    nextAtMs: 0,
    inFlight: 0,
    crawlDelayMs: 0,
    backoffStep: 1,
    backoffAtMs: 0,
    silentFailures: 0,
    downUntilMs: 0,
  }
}

export interface PolitenessSettings {
  readonly delayMs: number
  /** For hosts that are loopback by their name. */
  readonly loopbackDelayMs: number
  readonly maxInFlightPerHost: number
}

export function hostLimits(settings: PolitenessSettings, hostKey: string): HostLimits {
  const delayMs = isLoopbackHost(hostKey) ? settings.loopbackDelayMs : settings.delayMs
  return { delayMs, maxInFlight: Math.max(1, settings.maxInFlightPerHost) }
}

/** While a host is down its requests are leased at once, to be settled as failed `host-down` without being sent. */
export function isHostDown(state: HostState, nowMs: number): boolean {
  return state.downUntilMs > nowMs
}

/** It never answered, or the last request got no answer: what is sent to it may have to wait for its deadline. */
export function isSilent({ silentFailures, backoffStep, backoffAtMs }: HostState): boolean {
  return silentFailures > 0 || (backoffStep > 0 && backoffAtMs === 0)
}

/** Whether a request of this host may be leased now. Also true when the host is down: see `isHostDown`. */
export function mayStart(state: HostState, limits: HostLimits, nowMs: number): boolean {
  if (isHostDown(state, nowMs)) return true
  return nowMs >= state.nextAtMs && state.inFlight < placesOf(state, limits)
}

/** When `mayStart` may turn true by time alone; `Infinity` while only a settlement can help. */
export function nextStartMs(state: HostState, limits: HostLimits, nowMs: number): number {
  if (isHostDown(state, nowMs)) return nowMs
  return state.inFlight < placesOf(state, limits) ? state.nextAtMs : Number.POSITIVE_INFINITY
}

export function hostReport(state: HostState, limits: HostLimits, nowMs: number): HostReport {
  const { inFlight, crawlDelayMs, silentFailures } = state
  return {
    inFlight,
    crawlDelayMs,
    // the first step is that of a host that nothing is known of
    backoffStep: state.backoffAtMs === 0 ? 0 : state.backoffStep,
    silentFailures,
    nextInMs: Math.max(0, state.nextAtMs - nowMs),
    delayMs: Math.max(limits.delayMs, crawlDelayMs),
    downForMs: Math.max(0, state.downUntilMs - nowMs),
  }
}

/** Takes a place in flight, and the host's time. To be called only when `mayStart`. */
export function reserve(state: HostState, limits: HostLimits, nowMs: number): HostState {
  const inFlight = state.inFlight + 1
  return isHostDown(state, nowMs)
    ? { ...state, inFlight }
    : { ...state, inFlight, nextAtMs: nowMs + delayOf(state, limits) }
}

/** A request goes out only now, later than it was leased: whoever comes next keeps the delay from now on. */
export function startLate(state: HostState, limits: HostLimits, nowMs: number): HostState {
  return { ...state, nextAtMs: laterOf(state, nowMs + delayOf(state, limits)) }
}

export interface SettleHostOptions {
  /** When the request was leased; store clock. */
  readonly leasedAtMs: number
  readonly nowMs: number
  readonly limits: HostLimits
  readonly random: Random
}

/** Gives the place back and takes in what the request says of the host. */
export function settleHost(state: HostState, signal: HostSignal, options: SettleHostOptions): HostState {
  const freed: HostState = { ...state, inFlight: Math.max(0, state.inFlight - 1) }
  switch (signal.kind) {
    case 'unused':
      return giveTimeBack(freed, options)
    case 'answered':
      return takeAnswer(freed, signal.crawlDelayMs, options)
    case 'troubled':
      return { ...freed, silentFailures: 0, downUntilMs: 0 }
    case 'throttled':
      return slowDown({ ...freed, silentFailures: 0, downUntilMs: 0 }, signal.retryAfterMs, options)
    case 'silent':
      return noteSilence(freed, options)
    case 'hold':
      return { ...freed, nextAtMs: laterOf(freed, options.nowMs + boundedMs(signal.holdMs)) }
  }
}

/** One at a time while the host is backing off, new, being probed, or asks for whole seconds between requests. */
function placesOf(state: HostState, limits: HostLimits): number {
  const isCareful = state.backoffStep > 0 || state.silentFailures >= MAX_SILENT_FAILURES || state.crawlDelayMs >= 1000
  return isCareful ? 1 : limits.maxInFlight
}

function delayOf(state: HostState, limits: HostLimits): number {
  const delayMs = Math.max(limits.delayMs, state.crawlDelayMs)
  return delayMs > 0 ? delayMs + START_SLACK_MS : 0
}

function laterOf(state: HostState, atMs: number): number {
  return Math.max(state.nextAtMs, atMs)
}

function boundedMs(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : 0
}

/** Only while the time is still the one that this request reserved: whoever came after, or a backoff, keeps theirs. */
function giveTimeBack(state: HostState, { leasedAtMs, limits }: SettleHostOptions): HostState {
  // A store may have rounded one of the two.
  const isOwn = Math.abs(state.nextAtMs - leasedAtMs - delayOf(state, limits)) < 1 && state.backoffAtMs <= leasedAtMs
  return isOwn ? { ...state, nextAtMs: leasedAtMs } : state
}

function takeAnswer(state: HostState, crawlDelayMs: number | undefined, options: SettleHostOptions): HostState {
  const { nowMs, leasedAtMs, limits } = options
  const delayMs =
    crawlDelayMs === undefined ? state.crawlDelayMs : Math.min(boundedMs(crawlDelayMs), MAX_CRAWL_DELAY_MS)
  const answered: HostState = {
    ...state,
    crawlDelayMs: delayMs,
    // The answer to a request from before the last step says nothing about whether that step helped.
    backoffStep: leasedAtMs >= state.backoffAtMs ? 0 : state.backoffStep,
    silentFailures: 0,
    downUntilMs: 0,
  }
  // A delay that is learnt only now was not in what this request reserved; it began at some time before now.
  return delayMs > state.crawlDelayMs
    ? { ...answered, nextAtMs: laterOf(state, nowMs + delayOf(answered, limits)) }
    : answered
}

/**
 * The whole host is silent for as long as the server says, or for its next step of backoff. Answers to requests that began
 * before the last step are part of that step; a longer Retry-After among them counts.
 */
function slowDown(state: HostState, retryAfterMs: number | undefined, options: SettleHostOptions): HostState {
  const { nowMs, leasedAtMs, random } = options
  const askedMs = boundedMs(retryAfterMs ?? 0)
  if (leasedAtMs < state.backoffAtMs) {
    return askedMs > 0 ? { ...state, nextAtMs: laterOf(state, nowMs + askedMs) } : state
  }
  // A host that never answered stands at one step already.
  const step = state.backoffAtMs === 0 ? 1 : Math.min(state.backoffStep + 1, 30)
  const waitMs = askedMs > 0 ? askedMs : backoffMs({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, step, random })
  return { ...state, backoffStep: step, backoffAtMs: nowMs, nextAtMs: laterOf(state, nowMs + waitMs) }
}

function noteSilence(state: HostState, { nowMs }: SettleHostOptions): HostState {
  // Others that were in flight when the host went down are no news.
  if (isHostDown(state, nowMs)) return state
  const silentFailures = state.silentFailures + 1
  if (silentFailures < MAX_SILENT_FAILURES) return { ...state, silentFailures }
  const rests = Math.min(silentFailures - MAX_SILENT_FAILURES, 20)
  const restMs = Math.min(REST_BASE_MS * 2 ** rests, REST_MAX_MS)
  return { ...state, silentFailures, downUntilMs: nowMs + restMs }
}
