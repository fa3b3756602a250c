/** Which answers are failures, and of which class. */

import type { FailureClass } from '../core/outcome.ts'

/**
 * The class of an HTTP status, or undefined when the answer stands as a page. A redirect without a usable Location and a
 * 304 that nobody asked for are answers: they carry what the server had to say, and asking again would bring the same.
 * 503 is a request to slow down only when it says for how long.
 */
export function failureOfStatus(status: number, hasRetryAfter = false): FailureClass | undefined {
  if (status === 429 || (status === 503 && hasRetryAfter)) return 'throttled'
  if (status >= 500) return 'http-5xx'
  if (status >= 400) return 'http-4xx'
  // 1xx never ends an exchange, and there is nothing below.
  return status < 200 ? 'protocol' : undefined
}
