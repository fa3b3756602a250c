/** Origins whose robots.txt cannot be had for now: how often it was tried, and when it is tried again. */

import type { Clock } from '../core/clock.ts'
import { backoffMs } from '../util/backoff.ts'
import type { Random } from '../util/random.ts'
import { createWeightedLru } from '../util/weighted-lru.ts'

const RETRY_BASE_MS = 1000
const RETRY_MAX_MS = 10 * 60 * 1000
const MAX_TROUBLED_ORIGINS = 20_000

export interface Trouble {
  /** Counted from 1, since the last success. */
  readonly tries: number
  readonly retryInMs: number
  readonly error: string
}

export interface Troubles {
  /** Undefined when there is none, or it is time for the next try. */
  current(origin: string): Trouble | undefined
  /** One more try came to nothing. A longer wait that the server asks for goes before the own backoff. */
  note(origin: string, what: { readonly error: string; readonly retryAfterMs?: number }): Trouble
  clear(origin: string): void
}

export function createTroubles({ clock, random }: { readonly clock: Clock; readonly random: Random }): Troubles {
  const troubles = createWeightedLru<{ readonly tries: number; readonly retryAtMs: number; readonly error: string }>(
    MAX_TROUBLED_ORIGINS,
  )
  return {
    current(origin) {
      const trouble = troubles.get(origin)
      const retryInMs = trouble === undefined ? 0 : Math.ceil(trouble.retryAtMs - clock.monotonicMs())
      return trouble === undefined || retryInMs <= 0 ? undefined : { ...trouble, retryInMs }
    },
    note(origin, { error, retryAfterMs = 0 }) {
      const tries = (troubles.get(origin)?.tries ?? 0) + 1
      const ownMs = backoffMs({ baseMs: RETRY_BASE_MS, maxMs: RETRY_MAX_MS, step: tries, random })
      const retryInMs = Math.max(ownMs, retryAfterMs)
      troubles.set(origin, { tries, retryAtMs: clock.monotonicMs() + retryInMs, error }, 1)
      return { tries, retryInMs, error }
    },
    clear: (origin) => {
      troubles.delete(origin)
    },
  }
}
