/** Hosts whose pages are found in the cache: of these more may be looked at than politeness lets go out. */

import type { Settlement } from '../frontier/contract.ts'

export interface CachedHosts {
  /** How many requests of each may be leased beside politeness; none: undefined. */
  allowance(): ReadonlyMap<string, number> | undefined
  /** Learns from how a request ended. */
  note(settlement: Settlement): void
}

const FIRST_COUNT = 4
/** Each is looked at whenever something is leased; the least recently met is left out. */
const MAX_HOSTS = 64

/** The number grows by one with each hit, up to `most`, and is nothing after the first page that was not there. */
export function createCachedHosts(most: number): CachedHosts {
  const counts = new Map<string, number>()
  return {
    allowance: () => (counts.size === 0 ? undefined : counts),
    note: ({ lease: { hostKey, unpaced }, outcome, host, counts: counted }) => {
      const before = counts.get(hostKey)
      const isHit = host.kind === 'unused' && counted?.fromCache === 1
      if (!isHit) {
        if (unpaced === true && outcome.kind === 'released') counts.delete(hostKey)
        return
      }
      counts.delete(hostKey)
      counts.set(hostKey, before === undefined ? FIRST_COUNT : Math.min(before + 1, most))
      for (const oldest of counts.size > MAX_HOSTS ? counts.keys() : []) {
        counts.delete(oldest)
        break
      }
    },
  }
}
