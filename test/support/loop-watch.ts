/** Watches how long the event loop is held up, in time of the processor: a busy machine makes nothing look slow. */

import { readFileSync } from 'node:fs'

/** Issue 3: no page may hold up the others for longer. */
export const LONGEST_STALL_MS = 200

export interface LoopWatch extends Disposable {
  /** Most time of the processor that the main thread took between two turns of the event loop. */
  worstMs(): number
}

/** Time that the main thread has had of the processor; elsewhere than on Linux nothing is known and nothing is found. */
function threadMs(): number {
  try {
    const [ns = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')
    return Number(ns) / 1e6
  } catch {
    return 0
  }
}

export function watchLoop(): LoopWatch {
  let last = threadMs()
  let worst = 0
  const tick = (): void => {
    const now = threadMs()
    worst = Math.max(worst, now - last)
    last = now
  }
  const timer = setInterval(tick, 2)
  return {
    worstMs: () => {
      tick()
      return worst
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
    },
  }
}
