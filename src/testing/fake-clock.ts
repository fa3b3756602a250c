/** A clock that moves only when it is told to, so that hours pass in a test within milliseconds. */

import type { Clock } from '../core/clock.ts'

export interface FakeClock extends Clock {
  /**
   * Moves both clocks on by `ms`, firing what falls due in order of time. Between two timers, and at the end, everything
   * that is ready runs (promises, I/O callbacks), so that what a timer starts can set the next one.
   */
  advance(ms: number): Promise<void>
  /** Moves to the next timer and fires it. False when there is none. */
  advanceToNext(): Promise<boolean>
  /** Moves the wall clock alone, back as well, as an administrator or a time server does. */
  jumpWall(ms: number): void
  /** Timers and sleeps that wait. A test that ends with 0 has left nothing behind. */
  readonly waiting: number
}

export interface FakeClockOptions {
  /** Milliseconds since the epoch. Default: 2024-01-01. */
  readonly nowMs?: number
}

interface Timer {
  readonly dueMs: number
  readonly fn: () => void
}

/** The first instant of 2024. */
const DEFAULT_NOW_MS = 1_704_067_200_000

export function createFakeClock({ nowMs = DEFAULT_NOW_MS }: FakeClockOptions = {}): FakeClock {
  const timers = new Set<Timer>()
  let elapsedMs = 0
  let wallOffsetMs = nowMs

  const timer = (ms: number, fn: () => void): (() => void) => {
    const entry = { dueMs: elapsedMs + Math.max(0, ms), fn }
    timers.add(entry)
    return () => {
      timers.delete(entry)
    }
  }
  // a Set keeps insertion order, so equal instants fire first come, first served
  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const entry of timers) if (first === undefined || entry.dueMs < first.dueMs) first = entry
    return first
  }
  const fire = async (entry: Timer): Promise<void> => {
    elapsedMs = Math.max(elapsedMs, entry.dueMs)
    timers.delete(entry)
    entry.fn()
    await settled()
  }

  return {
    nowMs: () => wallOffsetMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    timer,
    sleep: (ms, signal) => sleepOn(timer, ms, signal),
    advance: async (ms) => {
      const untilMs = elapsedMs + ms
      await settled()
      for (let entry = next(); entry !== undefined && entry.dueMs <= untilMs; entry = next()) await fire(entry)
      elapsedMs = untilMs
      await settled()
    },
    advanceToNext: async () => {
      await settled()
      const entry = next()
      if (entry === undefined) return false
      await fire(entry)
      return true
    },
    jumpWall: (ms) => {
      wallOffsetMs += ms
    },
    get waiting() {
      return timers.size
    },
  }
}

function sleepOn(timer: (ms: number, fn: () => void) => () => void, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const cancel = timer(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    const onAbort = (): void => {
      cancel()
      resolve()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** One turn of the event loop: promises that are ready have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
