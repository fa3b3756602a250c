/** What one call of `lease` may still give: of silent hosts, and of hosts beside politeness. */

import type { Lease, LeaseOptions } from './contract.ts'

/** How a request is given. `silent`: it counts among those of silent hosts. */
type Giving = 'paced' | 'silent' | 'unpaced'

export interface Allowance {
  /** Counts one more request of this host. Undefined: none may be given now. */
  take(hostKey: string, host: { readonly mayStart: boolean; readonly isSilent: boolean }): Giving | undefined
}

export function createAllowance({
  unpaced,
  maxSilent = Infinity,
}: Pick<LeaseOptions, 'unpaced' | 'maxSilent'>): Allowance {
  const left = new Map(unpaced)
  let silentLeft = maxSilent
  return {
    take: (hostKey, { mayStart, isSilent }) => {
      if (!mayStart) {
        const count = left.get(hostKey) ?? 0
        if (count <= 0) return undefined
        left.set(hostKey, count - 1)
        return 'unpaced'
      }
      if (!isSilent) return 'paced'
      return silentLeft-- > 0 ? 'silent' : undefined
    },
  }
}

/** What a lease says of how it was given. */
export function marksOf(giving: Giving): Pick<Lease, 'unpaced' | 'silent'> {
  if (giving === 'unpaced') return { unpaced: true }
  return giving === 'silent' ? { silent: true } : {}
}
