/** What was found out about one thing. */

import { clean } from '../text.ts'

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string
  /** `warning`: a crawl runs, and some are worse off; `problem`: one does not. */
  readonly level: 'ok' | 'warning' | 'problem'
  readonly found: string
  /** What to do; only where there is something to do. */
  readonly advice?: string
}

export function findingText({ check, level, found, advice }: Finding): string {
  const head = `${level.padEnd(7)}  ${check.padEnd(13)}  ${clean(found)}`
  return advice === undefined ? head : `${head}\n${' '.repeat(24)}${clean(advice)}`
}

/** One line of an error. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
