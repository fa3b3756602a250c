/** A task's counters before anything was counted. */

import type { CounterName } from './contract.ts'

export const COUNTERS_AT_ZERO: Readonly<Record<CounterName, number>> = {
  bytes: 0,
  duplicates: 0,
  fromCache: 0,
  requests: 0,
  invalidUrls: 0,
  invalidItems: 0,
  newPages: 0,
  changedPages: 0,
  unchangedPages: 0,
  gonePages: 0,
}
