/** Notices that another owner has died, without asking all the time. */

import { buryOwner, deadOwners } from './owners.ts'
import type { Session } from './session.ts'

export interface OwnerWatch {
  /** Whether some other owner that holds leases is dead. Asks the system at most every second. */
  someoneDied(): boolean
  /** Takes back what dead owners held: false when there is none. To be called inside a transaction. */
  takeBackDead(): boolean
}

const ASK_EVERY_MS = 1000

export function createOwnerWatch(session: Session, dir: string): OwnerWatch {
  let askedMs = -Infinity
  let known = false
  const someoneDied = (): boolean => {
    const nowMs = session.clock.monotonicMs()
    if (nowMs - askedMs < ASK_EVERY_MS) return known
    askedMs = nowMs
    const held = session.sql.one('SELECT 1 FROM leases WHERE owner_id <> ? LIMIT 1', session.ownerId)
    known = held !== undefined && deadOwners(session, dir).length > 0
    return known
  }
  return {
    someoneDied,
    takeBackDead: () => {
      if (!someoneDied()) return false
      known = false
      const dead = deadOwners(session, dir)
      for (const owner of dead) buryOwner(session, dir, owner)
      return dead.length > 0
    },
  }
}
