/** Reads Retry-After (RFC 9110, 10.2.3): seconds, or a date. */

import { parseHttpDate } from './http-date.ts'

/** Longest time that a server can silence the crawl of its host. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

/**
 * Milliseconds to wait, 0 to 24 h, or undefined when there is none or it makes no sense: then own backoff applies. A date
 * is compared with the answer's own `date` where there is one, so that a server's wrong clock does no harm; else with
 * `nowMs`. A date that is past gives 0.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number, date?: string): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,100}$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  const atMs = parseHttpDate(text, nowMs)
  if (atMs === undefined) return undefined
  const fromMs = (date === undefined ? undefined : parseHttpDate(date.trim(), nowMs)) ?? nowMs
  return Math.min(Math.max(atMs - fromMs, 0), MAX_RETRY_AFTER_MS)
}
