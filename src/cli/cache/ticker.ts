/** Progress of work whose end is not known: a live line on a terminal, otherwise a plain one every few seconds. */

import type { CommandContext } from '../command.ts'

const LIVE_EVERY_MS = 125
const PLAIN_EVERY_MS = 5_000

export interface Ticker {
  /** Idempotent. Takes the live line away. */
  stop(): void
}

export function everySoOften({ output, host }: CommandContext, line: () => string): Ticker {
  if (output.quiet) return { stop: () => undefined }
  let cancel: (() => void) | undefined
  const next = (): void => {
    cancel = host.clock.timer(output.live ? LIVE_EVERY_MS : PLAIN_EVERY_MS, tick, true)
  }
  const tick = (): void => {
    if (output.live) output.status(line())
    else output.hint(line())
    next()
  }
  next()
  return {
    stop: () => {
      cancel?.()
      output.clearStatus()
    },
  }
}
