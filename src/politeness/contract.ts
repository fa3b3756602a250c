/** What the frontier keeps of a host so that all workers together are polite to it. */

/** Kept in the store; times are the store clock's. Changed only inside `lease` and `settle`, in one atomic step. */
export interface HostState {
  /** No request to the host starts before. */
  readonly nextAtMs: number
  /** Requests leased and not settled. */
  readonly inFlight: number
  /** From robots.txt; 0 when none. */
  readonly crawlDelayMs: number
  /** Steps of exponential backoff taken since the last good answer. */
  readonly backoffStep: number
  /** When the last step was taken: an answer to a request that began before is no further step. */
  readonly backoffAtMs: number
  /** Requests in a row that never got an answer (DNS, connect, TLS, time-out before the head). */
  readonly silentFailures: number
  /** Until then the host counts as down: its requests fail without being sent. 0 when it is up. */
  readonly downUntilMs: number
}

/** The same for those who look: spans from now on instead of instants of a clock that is not theirs. */
export interface HostReport extends Pick<HostState, 'inFlight' | 'crawlDelayMs' | 'backoffStep' | 'silentFailures'> {
  /** No request to the host starts before. */
  readonly nextInMs: number
  /** Least time between two request starts: that of the task, or the host's own where that is longer. */
  readonly delayMs: number
  /** For so long the host still counts as down; 0 when it is up. */
  readonly downForMs: number
}

/** The limits that hold for one host in one task. */
export interface HostLimits {
  readonly delayMs: number
  readonly maxInFlight: number
}

/** What one settled request says of its host. */
export type HostSignal =
  /** Nothing was sent: place and time are given back (cache hit, robots verdict, release). */
  | { readonly kind: 'unused' }
  /** The host answered. */
  | { readonly kind: 'answered'; readonly crawlDelayMs?: number }
  /** 429, 503 or another request to slow down. `retryAfterMs` when the server gave a usable one. */
  | { readonly kind: 'throttled'; readonly retryAfterMs?: number }
  /** An answer that asks for care (5xx, reset, broken body): backoff of the request, none of the host. */
  | { readonly kind: 'troubled' }
  /** No answer at all. */
  | { readonly kind: 'silent' }
  /** The host waits as a whole, no step of backoff: robots.txt could not be had. */
  | { readonly kind: 'hold'; readonly holdMs: number }
