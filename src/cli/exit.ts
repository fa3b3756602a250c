/** The exit status, and the one line that says why. */

import { isCrawlError } from '../core/errors.ts'

export const EXIT = {
  done: 0,
  /** Pages failed, or a fault; the last line on stderr says which. */
  failed: 1,
  usage: 2,
  /** The store cannot be opened or reached. */
  store: 3,
  /** Interrupted, resumable. */
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const USAGE_CODES: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  'SEEDS_UNREADABLE',
  'PEER_MISSING',
  'BROWSER_UNAVAILABLE',
])

export function exitCodeOf(error: unknown): ExitCode {
  if (!isCrawlError(error)) return EXIT.failed
  if (USAGE_CODES.has(error.code)) return EXIT.usage
  if (error.code.startsWith('STORE_')) return EXIT.store
  return error.code === 'CRAWL_ABORTED' ? EXIT.interrupted : EXIT.failed
}

/** One line. An error that is none of ours is a fault of the program, or of the machine it runs on: it says so. */
export function problemLine(error: unknown): string {
  if (isCrawlError(error)) return `spoor: ${error.message}`
  const text = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return `spoor: unexpected fault: ${text.split('\n')[0] ?? ''}${code}; SPOOR_LOG_LEVEL=debug shows where`
}
