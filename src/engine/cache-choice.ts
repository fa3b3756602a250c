/** What the cache is asked for one lease: as its request says, as its task says, or anew. */

import type { CacheOverride } from '../core/request.ts'
import type { ProcessOptions } from './settlement.ts'

/** Undefined: as the crawl has it. */
export function cacheChoiceOf({ deps, task, lease }: ProcessOptions): CacheOverride | undefined {
  const { cache = task.cache } = lease.request
  // a redirect that came back here wants a new answer (it set a cookie), not the one that sent us round
  const isRound = lease.hops.some((hop) => hop.endsWith(` ${lease.url}`))
  if (isRound && cache?.mode !== 'off') return { mode: 'refresh' }
  if (task.reloadSinceMs === undefined) return cache
  // downloaded or confirmed since then is new enough: what a crash repeats is not downloaded twice
  return { ttlMs: Math.max(0, deps.clock.nowMs() - task.reloadSinceMs), ...cache }
}
