/** Time, injected everywhere, so that no test sleeps and no part of the crawler trusts the wall clock for waiting. */

import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the epoch. May jump: for dates that people read, never for waiting. */
  nowMs(): number
  /** Milliseconds of a clock that never jumps and that all processes of this machine share since boot. */
  monotonicMs(): number
  /** Resolves after `ms`, or at once when the signal aborts (it never rejects). Leaves no timer behind. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` after `ms` unless cancelled. The timer does not keep the process alive when `unref` is set. */
  timer(ms: number, fn: () => void, unref?: boolean): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  sleep: async (ms, signal) => {
    if (signal?.aborted === true) return
    try {
      await delay(Math.min(ms, 2 ** 31 - 1), undefined, signal === undefined ? {} : { signal })
    } catch {
      // aborted: the caller looks at its signal
    }
  },
  timer: (ms, fn, unref = false) => {
    const timer = setTimeout(fn, Math.min(ms, 2 ** 31 - 1))
    if (unref) timer.unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
