/** Which answers are failures, and of which class. */

import type { FailureClass } from '../core/outcome.ts'

/**
 * The class of an HTTP status, or undefined when the answer stands as a page. A redirect without a usable Location is an
 * answer: it carries what the server had to say, and asking again would bring the same. 503 is a request to slow down only
 * when it says for how long.
 */
export function failureOfStatus(status: number, hasRetryAfter = false): FailureClass | undefined {
  if (status === 429 || (status === 503 && hasRetryAfter)) return 'throttled'
  if (status >= 500) return 'http-5xx'
  if (status >= 400) return 'http-4xx'
  // 1xx never ends an exchange, and there is nothing below.
  return status < 200 ? 'protocol' : undefined
}

const CONDITIONS = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range']

/** "Not modified" to a request that did not say what it has: there is no page then, neither here nor in the answer. */
export function isUnasked304(status: number, requestHeaders: Readonly<Record<string, string>>): boolean {
  return status === 304 && CONDITIONS.every((name) => requestHeaders[name] === undefined)
}
