/** Many waits on one AbortSignal with a single listener: a crawl hands the same signal to every request. */

export interface SignalHub {
  /** Calls `fn` when the signal aborts; the function returned forgets it. */
  onAbort(signal: AbortSignal, fn: () => void): () => void
}

export function createSignalHub(): SignalHub {
  const waiting = new WeakMap<AbortSignal, Set<() => void>>()
  return {
    onAbort: (signal, fn) => {
      let all = waiting.get(signal)
      if (all === undefined) {
        const fresh = new Set<() => void>()
        all = fresh
        waiting.set(signal, fresh)
        const listener = (): void => {
          for (const each of fresh) each()
          fresh.clear()
        }
        signal.addEventListener('abort', listener, { once: true })
      }
      all.add(fn)
      const set = all
      return () => {
        set.delete(fn)
      }
    },
  }
}
