/** A fetcher that asks the cache first, for callers that have nothing to do between looking up and fetching. */

import type { Fetcher } from '../fetch/contract.ts'
import type { CacheGate } from './contract.ts'

/** Closing it closes the fetcher inside, not the cache. */
export function withCache(fetcher: Fetcher, gate: CacheGate): Fetcher {
  return {
    fetch: async (request) => gate.fetchThrough(fetcher, request, await gate.lookup(request)),
    close: () => fetcher.close(),
  }
}
