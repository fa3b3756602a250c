/** How many places in flight silent hosts get: each may hold one until a deadline, and those that answer must not wait for that. */

import type { Clock } from '../core/clock.ts'
import type { Lease, Settlement } from '../frontier/contract.ts'

export interface SilentShare {
  /** How many more requests of silent hosts may be leased now. Never 0 while none is in flight. */
  left(): number
  began(lease: Lease): void
  ended(settlement: Settlement): void
}

/** What hosts that answer have used is kept for them; half of it is given up after this long. */
const HALF_LIFE_MS = 10_000
/** One place in so many is theirs beyond what they use, so that they can use more, */
const SPARE_SHARE = 8
/** and one in so many goes to silent hosts whatever the others could use: they are to be tried, too. */
const LEAST_SHARE = 16

/** As long as no host is known to answer and to have more to give, silent ones may take all places, or all but one. */
export function createSilentShare(places: number, clock: Clock): SilentShare {
  const spare = Math.ceil(places / SPARE_SHARE)
  const most = places - Math.max(1, Math.floor(places / LEAST_SHARE))
  /** So that hosts that answered before this run began can show themselves. */
  const least = places < LEAST_SHARE ? 0 : 1
  const inFlight = { silent: 0, answering: 0 }
  /** The most that were in flight of hosts that answer, fading. */
  let peak = 0
  let notedMs = clock.monotonicMs()

  function fade(): void {
    const nowMs = clock.monotonicMs()
    peak = Math.max(inFlight.answering, peak * 0.5 ** ((nowMs - notedMs) / HALF_LIFE_MS))
    notedMs = nowMs
  }

  /** Places that silent hosts may not take. One stays for a host that answers and has long delays. */
  function reserve(): number {
    if (peak === 0) return least
    return Math.min(most, peak < 0.5 ? 1 : Math.ceil(peak) + spare)
  }

  function count({ silent, unpaced }: Lease, by: 1 | -1): void {
    if (unpaced === true) return
    inFlight[silent === true ? 'silent' : 'answering'] += by
  }

  return {
    left: () => {
      fade()
      return Math.max(0, places - reserve() - inFlight.silent)
    },
    began: (lease) => {
      count(lease, 1)
      fade()
    },
    ended: ({ lease, host, discovered }) => {
      fade()
      count(lease, -1)
      // it will come again, and must not find all places taken
      if (host.kind === 'answered' && discovered.length > 0) peak = Math.max(peak, 1)
    },
  }
}
