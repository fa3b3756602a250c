/** Renews the leases of what is in flight, and says when the store has been out of reach for too long. */

import type { Clock } from '../core/clock.ts'
import type { Frontier, Lease } from '../frontier/contract.ts'

export interface LeaseKeeper {
  stop(): void
}

/**
 * Renews every third of the lease's length. When the store cannot be reached for two thirds of it, `onCutOff` is
 * called: others may take over soon, so fetching must stop before.
 */
export function keepLeases({
  frontier,
  clock,
  leaseMs,
  active,
  onCutOff,
}: {
  readonly frontier: Frontier
  readonly clock: Clock
  readonly leaseMs: number
  readonly active: () => readonly Lease[]
  readonly onCutOff: (error: unknown) => void
}): LeaseKeeper {
  let stopped = false
  let renewedAtMs = clock.monotonicMs()
  let cancel = clock.timer(leaseMs / 3, tick, true)

  function tick(): void {
    void renew().finally(() => {
      if (!stopped) cancel = clock.timer(leaseMs / 3, tick, true)
    })
  }

  async function renew(): Promise<void> {
    const leases = active()
    if (leases.length === 0) {
      renewedAtMs = clock.monotonicMs()
      return
    }
    try {
      await frontier.renew(leases, leaseMs)
      renewedAtMs = clock.monotonicMs()
    } catch (error) {
      if (clock.monotonicMs() - renewedAtMs > (leaseMs * 2) / 3) onCutOff(error)
    }
  }

  return {
    stop() {
      stopped = true
      cancel()
    },
  }
}
