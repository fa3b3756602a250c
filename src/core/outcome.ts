/** How one request ended, and the closed lists of reasons and failure classes that people see. */

/** Reasons are decisions, not errors: none of them is ever thrown. */
export const SKIP_REASONS = [
  'robots',
  'scope',
  'depth',
  'duplicate',
  'trap',
  'nofollow',
  'filtered',
  'private-address',
  'url-too-long',
  'invalid-url',
  'limit',
  'handler',
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/**
 * Skips that say something of the way the URL was met, not of the URL: met again in reach, it is crawled. A page that its
 * handler has skipped was fetched.
 * `add` of such a URL without a skip turns it into a pending request.
 */
export const REVIVABLE_SKIPS: ReadonlySet<SkipReason> = new Set<SkipReason>(
  SKIP_REASONS.filter((reason) => reason !== 'duplicate' && reason !== 'handler'),
)

export const FAILURE_CLASSES = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'incomplete',
  'http-4xx',
  'http-5xx',
  'throttled',
  'redirects',
  'too-large',
  'decode',
  'protocol',
  'proxy',
  'not-cached',
  'handler',
  'browser',
  'host-down',
  'robots-unreachable',
] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

/** One try that did not succeed, as the failure log keeps it. */
export interface FailedAttempt {
  readonly failure: FailureClass
  /** What happened, for people: expected, found, where. Without credentials. */
  readonly error: string
  /** HTTP status, when an answer came. */
  readonly status?: number
}

/** How one lease ends. Every lease ends in exactly one outcome; nothing else is reported. */
export type Outcome =
  | { readonly kind: 'done'; readonly status: number; readonly fromCache: boolean }
  /** `why`: in the words of a handler. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly why?: string }
  /** The answer was a redirect: the request goes on at `to`, in that host's queue, or ends as a duplicate of it. */
  | { readonly kind: 'redirected'; readonly to: RedirectTarget }
  /** Comes back after `retryInMs`. `charged` false gives the attempt back (robots not reachable, reused connection lost). */
  | {
      readonly kind: 'retry'
      readonly attempt: FailedAttempt
      readonly retryInMs: number
      readonly charged: boolean
    }
  | { readonly kind: 'failed'; readonly attempt: FailedAttempt }
  /** Given back untouched, as if it had never been leased: a stop, an abort. */
  | { readonly kind: 'released' }

export interface RedirectTarget {
  readonly url: string
  readonly fingerprint: string
  readonly hostKey: string
  /** What is remembered of the hop just made, to tell a loop from a cookie wall: see engine/redirect. */
  readonly hop: string
}
