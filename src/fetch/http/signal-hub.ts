/** Many waits on one AbortSignal with a single listener: a crawl hands the same signal to every request. */

import { createSlots, type Slots } from '../../util/slots.ts'

export interface SignalHub {
  /** Calls `fn` when the signal aborts; `forget` with the number returned forgets it. */
  onAbort(signal: AbortSignal, fn: () => void): number
  forget(signal: AbortSignal, ticket: number): void
}

export function createSignalHub(): SignalHub {
  const waiting = new WeakMap<AbortSignal, Slots<() => void>>()
  return {
    onAbort: (signal, fn) => {
      let all = waiting.get(signal)
      if (all === undefined) {
        const fresh = createSlots<() => void>()
        all = fresh
        waiting.set(signal, fresh)
        const listener = (): void => {
          waiting.delete(signal)
          for (const each of fresh.values()) each()
        }
        signal.addEventListener('abort', listener, { once: true })
      }
      return all.add(fn)
    },
    forget: (signal, ticket) => {
      waiting.get(signal)?.remove(ticket)
    },
  }
}
