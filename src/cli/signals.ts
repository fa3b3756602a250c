/** Ctrl-C: the first one drains, the second one stops at once. */

import type { CliHost } from './host.ts'

/**
 * Signals that come this soon after the first are echoes of it: a terminal signals the whole group, and npm and npx
 * pass theirs on to their children as well.
 */
const ECHO_MS = 300

export interface Interruptible {
  /** Called once. */
  stop(): void
  /** Called once, at the second signal. */
  abort(): void
}

/** Answers how to stop watching. */
export function watchInterrupts(host: CliHost, target: Interruptible): () => void {
  let firstAtMs: number | undefined
  let aborted = false
  return host.onInterrupt(() => {
    const nowMs = host.clock.monotonicMs()
    if (firstAtMs === undefined) {
      firstAtMs = nowMs
      target.stop()
    } else if (nowMs - firstAtMs > ECHO_MS && !aborted) {
      aborted = true
      target.abort()
    }
  })
}
