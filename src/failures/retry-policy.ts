/** Whether a try that failed is made again, and when. */

import type { FailureClass } from '../core/outcome.ts'
import { backoffMs } from '../util/backoff.ts'
import type { Random } from '../util/random.ts'
import { MAX_RETRY_AFTER_MS } from '../util/retry-after.ts'

const RETRY_BASE_MS = 400
const RETRY_MAX_MS = 60 * 1000
/** 4xx answers that are about the moment, not about the page. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])

/** What asking again can change. Of `http-4xx` only three statuses: see `decideRetry`. */
const RETRYABLE: Readonly<Record<FailureClass, boolean>> = {
  dns: true,
  connect: true,
  timeout: true,
  reset: true,
  incomplete: true,
  'http-5xx': true,
  throttled: true,
  proxy: true,
  handler: true,
  browser: true,
  // The same next time: the page, the server's set-up or our own bounds.
  tls: false,
  'http-4xx': false,
  redirects: false,
  'too-large': false,
  decode: false,
  protocol: false,
  'not-cached': false,
  // Others decide when these are taken up again.
  'host-down': false,
  'robots-unreachable': false,
}

export interface RetryQuestion {
  readonly failure: FailureClass
  readonly status?: number | undefined
  /** The try that failed, counted from 1. */
  readonly attempt: number
  /** Further tries after the first. */
  readonly maxRetries: number
  readonly retryAfterMs?: number | undefined
  readonly random: Random
}

export type RetryDecision = { readonly retry: true; readonly inMs: number } | { readonly retry: false }

/** Waits 200 to 400 ms before the second try and twice as long before each further one, up to a minute; a server's Retry-After (at most 24 h) when that is longer. */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { failure, status, attempt, maxRetries, retryAfterMs = 0, random } = question
  const isWorthwhile =
    RETRYABLE[failure] || (status !== undefined && failure === 'http-4xx' && RETRYABLE_STATUSES.has(status))
  if (!isWorthwhile || attempt > maxRetries) return { retry: false }
  const ownMs = backoffMs({ baseMs: RETRY_BASE_MS, maxMs: RETRY_MAX_MS, step: attempt, random })
  const askedMs = Number.isFinite(retryAfterMs) ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : 0
  return { retry: true, inMs: Math.max(ownMs, askedMs) }
}
