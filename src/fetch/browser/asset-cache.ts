/** Scripts and styles that many pages share, kept in memory for a while: each is fetched once for all of them. */

import type { Clock } from '../../core/clock.ts'
import { createWeightedLru } from '../../util/weighted-lru.ts'
import type { FetchResponse, HeaderList, ResourceKind } from '../contract.ts'
import { headersAll } from '../headers.ts'

const MAX_BYTES = 64 * 1024 * 1024
const MAX_ENTRY_BYTES = 8 * 1024 * 1024
const KEPT_MS = 10 * 60_000

export interface AssetCache {
  get(key: string): FetchResponse | undefined
  put(key: string, response: FetchResponse): void
}

/** Only what a server does not want kept is not: a crawl looks at one state of a site. */
export function createAssetCache(clock: Clock): AssetCache {
  const kept = createWeightedLru<{ readonly response: FetchResponse; readonly untilMs: number }>(MAX_BYTES)
  return {
    get: (key) => {
      const entry = kept.get(key)
      if (entry === undefined) return undefined
      if (entry.untilMs > clock.monotonicMs()) return entry.response
      kept.delete(key)
      return undefined
    },
    put: (key, response) => {
      const { body, status, headers } = response
      if (status !== 200 || body.length > MAX_ENTRY_BYTES || !mayBeKept(headers)) return
      kept.set(key, { response, untilMs: clock.monotonicMs() + KEPT_MS }, body.length + 1000)
    },
  }
}

export function isAsset(kind: ResourceKind, method: string): boolean {
  return kind !== 'data' && method === 'GET'
}

function mayBeKept(headers: HeaderList): boolean {
  if (headersAll(headers, 'set-cookie').length > 0) return false
  if (headersAll(headers, 'vary').some((value) => value.includes('*'))) return false
  return !headersAll(headers, 'cache-control').some((value) =>
    /\bno-store\b|\bno-cache\b|\bmax-age\s*=\s*0\b/i.test(value),
  )
}
