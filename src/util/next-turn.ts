/** Gives way, so that long work holds nobody up. */

import { setImmediate } from 'node:timers/promises'

/** Resolves after everything that is waiting by now had its turn. */
export async function nextTurn(): Promise<void> {
  await setImmediate()
}
