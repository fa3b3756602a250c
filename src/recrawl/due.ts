/** Whether a page that is known is to be looked at again. Pure. */

import type { IntervalBounds, RecrawlMode, Visit } from './contract.ts'

const DAY_MS = 86_400_000

export interface DueQuestion {
  readonly mode: RecrawlMode
  readonly visit: Visit | undefined
  readonly nowMs: number
  readonly bounds: IntervalBounds
}

/** Of a page that never came, or failed for another reason than that it is gone: always. */
export function isDue({ mode, visit, nowMs, bounds }: DueQuestion): boolean {
  if (mode.kind === 'all' || visit === undefined) return true
  // a wall clock that was set back must not put pages off for ever
  const ageMs = Math.abs(nowMs - visit.checkedAtMs)
  if (mode.kind === 'age') return ageMs >= mode.ms
  if (mode.kind === 'sitemap') return false
  return ageMs >= Math.min(Math.max(visit.intervalMs, bounds.minMs), bounds.maxMs)
}

/** `lastmod`: a day, which ends at midnight in UTC, or an instant of ISO 8601. */
export function isModifiedSince(lastmod: string, visit: Visit | undefined): boolean {
  if (visit === undefined) return true
  const atMs = Date.parse(lastmod)
  if (Number.isNaN(atMs)) return false
  // the day may have had changes after the look; a visit is kept in whole seconds
  const lastMs = lastmod.includes('T') ? atMs : atMs + DAY_MS - 1
  return lastMs > visit.checkedAtMs
}
