/** Waiting for work without polling: look, then sleep until something changes or falls due. */

import type { Clock } from '../core/clock.ts'

/** What a look at the frontier says. `inMs`: when something falls due by itself, if anything does. */
export type Outlook = { readonly kind: 'ready' | 'finished' } | { readonly kind: 'wait'; readonly inMs?: number }

/** Rung whenever the frontier changes; everyone who waits looks again. */
export interface Bell {
  readonly waiting: number
  ring(): void
  /** Resolves at the next ring, after `withinMs`, or when the signal aborts. Leaves no timer or listener behind. */
  next(withinMs: number, signal: AbortSignal): Promise<void>
}

/** Nobody waits longer than this without looking: a lost wake-up costs a second, not the crawl. */
const LONGEST_WAIT_MS = 1000

export function createBell(clock: Clock): Bell {
  const waiters = new Set<() => void>()
  return {
    get waiting() {
      return waiters.size
    },
    ring() {
      for (const wake of waiters) wake()
    },
    next: (withinMs, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiters.delete(wake)
          cancel()
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiters.add(wake)
        const cancel = clock.timer(withinMs, wake)
        signal.addEventListener('abort', wake, { once: true })
      }),
  }
}

/** `look` must be synchronous, so that nothing can change between it and the wait. It may throw: so does the wait. */
export async function waitForWork(
  { look, bell }: { readonly look: () => Outlook; readonly bell: Bell },
  signal: AbortSignal,
): Promise<'ready' | 'finished' | 'aborted'> {
  for (;;) {
    if (signal.aborted) return 'aborted'
    const outlook = look()
    if (outlook.kind !== 'wait') return outlook.kind
    await bell.next(Math.max(1, Math.ceil(Math.min(outlook.inMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS))), signal)
  }
}
