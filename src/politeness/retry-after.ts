/** How long a server asks to be left alone. */

export { MAX_RETRY_AFTER_MS, parseRetryAfter } from '../util/retry-after.ts'
