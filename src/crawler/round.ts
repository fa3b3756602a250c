/** What a run of a crawl that is at its end begins with: nothing, its failures, or all its pages once more. */

import type { FrontierStats } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import type { TaskLaunch } from './launch-options.ts'
import { reloadKeyOf } from './task-keys.ts'

/**
 * Answers since when pages must have been asked for to be new enough; undefined: the cache alone decides. A run that was
 * interrupted goes on with its round. Processes that join a run find the round begun.
 */
export async function beginRound(
  { frontier, state }: Store,
  launch: Pick<TaskLaunch, 'options' | 'reload' | 'joins' | 'clock'>,
  before: FrontierStats,
): Promise<number | undefined> {
  const { options, reload, joins = false, clock } = launch
  const { task, recrawl } = options
  const key = reloadKeyOf(task)
  const isAtItsEnd = before.known > 0 && before.pending + before.leased === 0
  if (!joins && isAtItsEnd) {
    await state.set({ [key]: reload === true ? String(clock.nowMs()) : undefined })
    if (recrawl || reload === true) await frontier.requeue({ task })
    else if (reload === false) await frontier.requeue({ task, state: 'failed' })
  }
  const since = await state.get(key)
  return since === undefined ? undefined : Number(since)
}
