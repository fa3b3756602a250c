/** Progress of a crawl on stderr: a few live lines on a terminal, otherwise a plain one every few seconds. */

import type { ProgressSnapshot } from '../crawler/contract.ts'
import type { Clock } from '../core/clock.ts'
import { formatBytes, formatCount, formatDuration } from '../util/format.ts'
import type { Output } from './output.ts'
import { tally, total } from './text.ts'

const LIVE_EVERY_MS = 125
const PLAIN_EVERY_MS = 5_000
const SHOWN_LEVELS = 8

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
      if (output.live) output.screen(liveLines(snapshot()))
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

/** The figures first; then what is behind them, as far as there is something. */
export function liveLines(now: ProgressSnapshot): string[] {
  const { errors = {}, lastUrl } = now
  return [
    [...pace(now), ...outlook(now)].join('  '),
    `  queue             ${queue(now).join('  ')}`,
    ...levelLine(now),
    ...(now.hosts > 1 ? hostLines(now) : []),
    ...(total(errors) > 0 ? [`  failed attempts   ${tally(errors)}`] : []),
    ...(lastUrl === undefined ? [] : [`  ${lastUrl}`]),
  ]
}

function levelLine({ levels = [] }: ProgressSnapshot): string[] {
  if (levels.length < 2) return []
  const shown = levels.slice(0, SHOWN_LEVELS).map(({ depth, waiting }) => `${depth}: ${formatCount(waiting)}`)
  return [`  waiting by level  ${shown.join('  ')}${levels.length > SHOWN_LEVELS ? '  …' : ''}`]
}

function hostLines({ busiestHosts = [], slowestHosts = [] }: ProgressSnapshot): string[] {
  const busy = busiestHosts.map(({ host, requests }) => `${host} ${formatCount(requests)}`)
  const slow = slowestHosts.map(({ host, ms }) => `${host} ${formatDuration(ms)}`)
  return [
    ...(busy.length > 0 ? [`  busiest hosts     ${busy.join('  ')}`] : []),
    ...(slow.length > 0 ? [`  slowest hosts     ${slow.join('  ')}`] : []),
  ]
}

export function plainLine(now: ProgressSnapshot): string {
  const [elapsed = '', ...rest] = figures(now)
  return `${elapsed}: ${rest.join(', ')}`
}

function figures(now: ProgressSnapshot): string[] {
  return [...pace(now), ...queue(now), ...outlook(now)]
}

function pace(now: ProgressSnapshot): string[] {
  const rate = now.pagesPerSecond ?? (now.elapsedMs > 0 ? (now.pages * 1000) / now.elapsedMs : 0)
  return [
    formatDuration(now.elapsedMs),
    `${formatCount(now.pages)} pages`,
    `${rate < 10 ? rate.toFixed(1) : formatCount(rate)}/s`,
    formatBytes(now.bytes),
  ]
}

function queue(now: ProgressSnapshot): string[] {
  return [
    `${formatCount(now.pending)} waiting`,
    `${formatCount(now.inFlight)} in flight`,
    ...(now.hosts > 1 ? [`${formatCount(now.hosts)} hosts`] : []),
    ...(now.fromCache > 0 ? [`${formatCount(now.fromCache)} from cache`] : []),
    ...(now.skipped > 0 ? [`${formatCount(now.skipped)} skipped`] : []),
    ...(now.failed > 0 ? [`${formatCount(now.failed)} failed`] : []),
  ]
}

function outlook({ processes = 1, etaMs }: ProgressSnapshot): string[] {
  return [
    ...(processes > 1 ? [`${processes} processes`] : []),
    ...(etaMs === undefined ? [] : [`${formatDuration(etaMs)} left`]),
  ]
}
