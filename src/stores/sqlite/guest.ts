/** Another process that works through the store of this one: it has a name and a lock of its own, and no connection. */

import type { Frontier } from '../../frontier/contract.ts'
import { createSqliteFrontier } from './frontier.ts'
import type { FrontierParts } from './frontier.ts'
import { giveBack, lockOwner, registerOwner } from './owners.ts'

export interface Guest {
  /** Its name among the workers. */
  readonly owner: string
  /** Leases from it are the guest's. */
  readonly frontier: Frontier
  /** What the guest still holds comes back at once; charged with an attempt where it `died`. Idempotent. */
  leave(how: { readonly died: boolean }): Promise<void>
}

/** `wanted` begins the name under which it is listed. */
export async function admitGuest(parts: FrontierParts, wanted?: string): Promise<Guest> {
  const { session, queue, dir } = parts
  const lock = lockOwner(dir, wanted)
  let ownerId = 0
  try {
    ownerId = await queue.write(() => registerOwner(session.sql, lock.name, session.clock))
  } catch (error) {
    lock.release()
    throw error
  }
  const own = { ...session, ownerId, ownerName: lock.name }
  const end = async (died: boolean): Promise<void> => {
    try {
      await queue.write(() => giveBack(own, ownerId, { charged: died }))
    } finally {
      lock.release()
    }
  }
  let leaving: Promise<void> | undefined
  return {
    owner: lock.name,
    frontier: createSqliteFrontier({ ...parts, session: own }),
    leave: ({ died }) => (leaving ??= end(died)),
  }
}
