/** Progress of a crawl on stderr: a live line on a terminal, otherwise a plain one every few seconds. */

import type { ProgressSnapshot } from '../crawler/contract.ts'
import type { Clock } from '../core/clock.ts'
import { formatBytes, formatCount, formatDuration } from '../util/format.ts'
import type { Output } from './output.ts'

const LIVE_EVERY_MS = 125
const PLAIN_EVERY_MS = 5_000

export interface ProgressDisplay {
  close(): void
}

export interface ProgressInput {
  readonly output: Output
  readonly clock: Clock
  readonly snapshot: () => ProgressSnapshot
}

export function showProgress({ output, clock, snapshot }: ProgressInput): ProgressDisplay {
  if (output.quiet) return { close: () => undefined }
  const ended = new AbortController()
  const every = output.live ? LIVE_EVERY_MS : PLAIN_EVERY_MS
  const tick = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(every, ended.signal)
      if (ended.signal.aborted) return
      if (output.live) showLive(output, snapshot())
      else output.hint(plainLine(snapshot()))
    }
  }
  void tick()
  return {
    close: () => {
      ended.abort()
      output.clearStatus()
    },
  }
}

/** The figures first; the URL takes what room is left. */
function showLive(output: Output, now: ProgressSnapshot): void {
  output.status(figures(now).join('  '), now.lastUrl)
}

export function plainLine(now: ProgressSnapshot): string {
  const [elapsed = '', ...rest] = figures(now)
  return `${elapsed}: ${rest.join(', ')}`
}

function figures(now: ProgressSnapshot): string[] {
  const rate = now.pagesPerSecond ?? (now.elapsedMs > 0 ? (now.pages * 1000) / now.elapsedMs : 0)
  return [
    formatDuration(now.elapsedMs),
    `${formatCount(now.pages)} pages`,
    `${rate < 10 ? rate.toFixed(1) : formatCount(rate)}/s`,
    formatBytes(now.bytes),
    `${formatCount(now.pending)} waiting`,
    `${formatCount(now.inFlight)} in flight`,
    ...(now.hosts > 1 ? [`${formatCount(now.hosts)} hosts`] : []),
    ...(now.fromCache > 0 ? [`${formatCount(now.fromCache)} from cache`] : []),
    ...(now.skipped > 0 ? [`${formatCount(now.skipped)} skipped`] : []),
    ...(now.failed > 0 ? [`${formatCount(now.failed)} failed`] : []),
  ]
}
