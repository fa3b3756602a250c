/** Forgetting while a crawl runs: cached pages that are far beyond their age are deleted, a little at a time. */

import type { CacheStore } from '../cache/contract.ts'
import type { Clock } from '../core/clock.ts'

export interface CacheCareOptions {
  readonly store: Pick<CacheStore, 'prune'>
  readonly clock: Clock
  readonly ttlMs: number
  readonly onFault: (error: unknown) => void
}

export interface CacheCare {
  /** Ends the forgetting; `last`: after one more pass, a longer one. Idempotent. */
  finish(last: boolean): Promise<void>
}

const EVERY_MS = 60_000
const BUDGET_MS = 50
const LAST_BUDGET_MS = 1_000
/** A short TTL says how fresh the pages of this crawl must be, not that those of others are worth nothing. */
const KEPT_AT_LEAST_MS = 30 * 86_400_000

export function startCacheCare({ store, clock, ttlMs, onFault }: CacheCareOptions): CacheCare {
  const stopper = new AbortController()
  const forget = async (budgetMs: number, signal?: AbortSignal): Promise<void> => {
    const checkedBeforeMs = clock.nowMs() - keptMs(ttlMs)
    try {
      await store.prune({ checkedBeforeMs, budgetMs, ...(signal === undefined ? {} : { signal }) })
    } catch (error) {
      onFault(error)
    }
  }
  const running = (async () => {
    for (;;) {
      await clock.sleep(EVERY_MS, stopper.signal)
      if (stopper.signal.aborted) return
      await forget(BUDGET_MS, stopper.signal)
    }
  })()
  let finished: Promise<void> | undefined
  const finish = async (last: boolean): Promise<void> => {
    stopper.abort()
    await running
    if (last) await forget(LAST_BUDGET_MS)
  }
  return { finish: (last) => (finished ??= finish(last)) }
}

/** Expired pages can still be confirmed by their server, which saves the download: they stay as long again. */
function keptMs(ttlMs: number): number {
  return Math.max(2 * ttlMs, KEPT_AT_LEAST_MS)
}
