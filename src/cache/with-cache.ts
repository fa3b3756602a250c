/** Fetchers that ask the cache first, for callers that have nothing to do between looking up and fetching. */

import type { Fetcher } from '../fetch/contract.ts'
import type { CacheOverride } from '../core/request.ts'
import type { CacheGate } from './contract.ts'

/** Closing it closes the fetcher inside, not the cache. */
export function withCache(fetcher: Fetcher, gate: CacheGate): Fetcher {
  return {
    fetch: async (request) => gate.fetchThrough(fetcher, request, await gate.lookup(request)),
    close: () => fetcher.close(),
  }
}

/**
 * For one chain of redirects: a URL that comes up again is asked for anew, since what sent the chain round (a cookie that
 * was set) may have changed the answer.
 */
export function withCacheForChain(fetcher: Fetcher, gate: CacheGate, override: CacheOverride = {}): Fetcher {
  const asked = new Set<string>()
  return {
    fetch: async (request) => {
      const isRound = asked.has(request.url)
      asked.add(request.url)
      return gate.fetchThrough(fetcher, request, await gate.lookup(request, isRound ? { mode: 'refresh' } : override))
    },
    close: () => fetcher.close(),
  }
}
