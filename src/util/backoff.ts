/** Exponential backoff with jitter. */

import type { Random } from './random.ts'

export interface BackoffOptions {
  /** Of the first step. */
  readonly baseMs: number
  readonly maxMs: number
  /** Counted from 1. */
  readonly step: number
  readonly random: Random
}

/** `baseMs` doubled for each further step, at most `maxMs`, of which a random half to whole is taken. Whole milliseconds. */
export function backoffMs({ baseMs, maxMs, step, random }: BackoffOptions): number {
  const wholeMs = Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(step - 1, 0), 50))
  return Math.round(wholeMs * (0.5 + random() / 2))
}
