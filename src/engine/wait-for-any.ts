/** Waits until one of several groups of tasks has work, or none of them has any left. */

import { setMaxListeners } from 'node:events'
import type { Frontier, LeaseOptions } from '../frontier/contract.ts'

type WorkAnswer = 'ready' | 'finished' | 'aborted'

export async function waitForAny(
  frontier: Pick<Frontier, 'waitForWork'>,
  groups: readonly Omit<LeaseOptions, 'max' | 'leaseMs'>[],
  signal: AbortSignal,
): Promise<WorkAnswer> {
  const [only] = groups
  if (only === undefined) return signal.aborted ? 'aborted' : 'finished'
  if (groups.length === 1) return frontier.waitForWork(only, signal)
  const decided = new AbortController()
  const either = AbortSignal.any([signal, decided.signal])
  setMaxListeners(0, either) // each group listens
  const waits = groups.map((group) => frontier.waitForWork(group, either))
  try {
    return await firstWord(waits)
  } finally {
    decided.abort()
    // each ends now, and none may be left behind that rejects
    await Promise.allSettled(waits)
  }
}

/** `ready` and `aborted` count at once, `finished` when all say so. */
function firstWord(waits: readonly Promise<WorkAnswer>[]): Promise<WorkAnswer> {
  const all = Promise.all(waits).then((answers) => answers.find((answer) => answer !== 'finished') ?? 'finished')
  const words = waits.map(async (wait) => {
    const answer = await wait
    return answer === 'finished' ? all : answer
  })
  return Promise.race(words)
}
