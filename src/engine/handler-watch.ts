/** Finds the handler or hook that blocks the event loop, and tells of it by name. */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { LoopWatch } from '../core/loop-watch.ts'

/** Code of people's own that is under way. */
export interface UserCode {
  readonly url: string
  readonly task: string
  /** Its rule and its function, as people know it. */
  readonly name: string
}

/** What blocks for less is not told. */
const TELL_MS = 1000
/** Of those that may have done it. */
const MAX_NAMED = 3

export interface HandlerWatch {
  /** Calls it and waits for its end. */
  run(code: UserCode, call: () => unknown): Promise<void>
}

export function createHandlerWatch({ clock, log }: { readonly clock: Clock; readonly log: Logger }): HandlerWatch {
  const running = new Set<UserCode>()
  let toldMs = 0
  // after a wait nobody knows whose turn it was: all that were under way are named
  const loop = new LoopWatch(clock, (ms) => {
    if (ms - toldMs >= TELL_MS) tell(log, [...running], ms - toldMs)
  })
  /** Up to its first wait it is known whose turn it is. */
  const callTimed = (code: UserCode, call: () => unknown): unknown => {
    const fromMs = clock.monotonicMs()
    try {
      return call()
    } finally {
      const tookMs = clock.monotonicMs() - fromMs
      if (tookMs >= TELL_MS) {
        tell(log, [code], tookMs)
        toldMs = tookMs
        loop.stillMs()
        toldMs = 0
      }
    }
  }
  return {
    run: async (code, call) => {
      running.add(code)
      loop.begin()
      try {
        await callTimed(code, call)
      } finally {
        loop.end()
        running.delete(code)
      }
    },
  }
}

function tell(log: Logger, suspects: readonly UserCode[], blockedMs: number): void {
  const ms = Math.round(blockedMs)
  const [only] = suspects
  if (only === undefined) return
  const advice = 'nothing else went on meanwhile; give way with await, or do such work in a worker thread'
  if (suspects.length === 1) {
    const { url, task, name } = only
    log.warn({ handler: name, task, url, ms }, `a handler has blocked the event loop: ${advice}`)
    return
  }
  const handlers = [...new Set(suspects.map(({ name }) => name))].slice(0, MAX_NAMED).join(', ')
  const urls = suspects.slice(0, MAX_NAMED).map(({ url }) => url)
  const fields = { handlers, urls: urls.join(' '), underWay: suspects.length, ms }
  log.warn(fields, `one of the handlers under way has blocked the event loop: ${advice}`)
}
