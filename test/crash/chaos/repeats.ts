/** Which requests were made again, and whether each of them was in flight when its worker was hit. */

import type { SiteLogEntry } from '../../../src/testing/site.ts'
import type { Blow } from './workers.ts'
import { CONCURRENCY, LEASE_MS, PROCESSES } from './setting.ts'

/** An answer that has come keeps its place until it is settled: a kill repeats no more than `CONCURRENCY` of them, however long ago they came. */
const SETTLED_WITHIN_MS = LEASE_MS
/** What a worker had sent before it was hit is read by the site within this: the request lies in its socket until then. */
const READ_WITHIN_MS = 2000

interface Repeats {
  readonly repeats: number
  /** One sentence each. */
  readonly unexplained: readonly string[]
}

export function explainRepeats(log: readonly SiteLogEntry[], blows: readonly Blow[]): Repeats {
  const unexplained: string[] = []
  const charged = new Map<Blow, number>()
  const before = new Map<string, SiteLogEntry>()
  let repeats = 0
  for (const entry of log) {
    const url = `${entry.host}${entry.path}`
    const earlier = before.get(url)
    before.set(url, entry)
    if (earlier === undefined) continue
    repeats++
    const blow = blows.find((one) => explains(one, earlier, entry))
    if (blow === undefined) unexplained.push(`${tell(url, earlier, entry)}; ${tellBlows(blows, earlier)}`)
    else charged.set(blow, (charged.get(blow) ?? 0) + 1)
  }
  for (const [blow, count] of charged) {
    if (blow.worker !== '*' && count > CONCURRENCY * PROCESSES) unexplained.push(`${count} repeats by one ${blow.kind}`)
  }
  return { repeats, unexplained }
}

function explains(blow: Blow, earlier: SiteLogEntry, later: SiteLogEntry): boolean {
  if (blow.worker !== '*' && blow.worker !== workerOf(earlier)) return false
  // an outage that is shorter than a lease costs nothing
  if (blow.kind === 'outage' && blow.untilMs - blow.fromMs < LEASE_MS / 2) return false
  const settledBy = (earlier.endedAtMs ?? later.atMs) + SETTLED_WITHIN_MS
  return blow.fromMs <= settledBy && blow.untilMs + READ_WITHIN_MS >= earlier.atMs && blow.fromMs <= later.atMs
}

function workerOf({ headers }: SiteLogEntry): string {
  return headers['user-agent'] ?? ''
}

/** What happened around that time, to whomever. */
function tellBlows(blows: readonly Blow[], { atMs }: SiteLogEntry): string {
  const near = blows.filter(({ fromMs, untilMs }) => fromMs < atMs + LEASE_MS && untilMs > atMs - LEASE_MS)
  return near.map(({ worker, kind, fromMs, untilMs }) => `${kind} ${worker} ${ms(fromMs)}-${ms(untilMs)}`).join(', ')
}

function ms(at: number | undefined): string {
  return at === undefined ? '?' : at.toFixed(0)
}

function tell(url: string, earlier: SiteLogEntry, later: SiteLogEntry): string {
  return `${url}: ${workerOf(earlier)} at ${ms(earlier.atMs)} (${earlier.ended} ${ms(earlier.endedAtMs)}), again ${workerOf(later)} at ${ms(later.atMs)}`
}
