/** What robots.txt says, as data (RFC 9309). */

export interface RobotsVerdict {
  readonly allowed: boolean
  /** The rule it rests on, as written (`Disallow: /private`), or null when none matched. */
  readonly rule: string | null
  /** Its line, counted from 1. */
  readonly line: number | null
  /** The user-agent of the group that applied, or null. */
  readonly group: string | null
  /** Seconds, or null. */
  readonly crawlDelay: number | null
  readonly sitemaps: readonly string[]
}

/** What the service knows for one URL, now. */
export type RobotsDecision =
  | { readonly kind: 'verdict'; readonly verdict: RobotsVerdict }
  /** The address guard refuses the host. */
  | { readonly kind: 'guarded' }
  /** robots.txt cannot be had for now: nothing of the host may be fetched before. `tries` counts from 1. */
  | { readonly kind: 'unreachable'; readonly tries: number; readonly retryInMs: number; readonly error: string }

export interface RobotsQuestion {
  /** May robots.txt be fetched from private and loopback addresses: as for the page itself. */
  readonly allowPrivate: boolean
  /** Of the one caller: others go on waiting. */
  readonly signal?: AbortSignal
  /** Called as each request for robots.txt (redirects make several) goes out on behalf of this question. */
  readonly onSent?: (() => void) | undefined
}

export interface RobotsSource {
  /** One fetch for any number of waiting callers; kept 24 h, over restarts too. */
  decide(url: string, options: RobotsQuestion): Promise<RobotsDecision>
}
