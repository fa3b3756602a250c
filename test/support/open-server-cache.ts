/** Opens the download cache on the server that an address names, as tests of several processes need it. */

import type { CacheStore } from '../../src/cache/contract.ts'
import type { Clock } from '../../src/core/clock.ts'
import { openMongodbCache } from '../../src/stores/mongodb/cache/open.ts'
import { openPostgresCache } from '../../src/stores/postgres/cache/open.ts'
import { openRedisCache } from '../../src/stores/redis/cache/open.ts'
import { systemRandom } from '../../src/util/random.ts'

interface Opening {
  readonly clock: Clock
  readonly maxBytes?: number
}

export function openServerCache(url: string, opening: Opening): Promise<CacheStore> {
  if (url.startsWith('redis:')) return openRedisCache({ url, ...opening })
  const open = url.startsWith('mongodb:') ? openMongodbCache : openPostgresCache
  return open({ url, random: systemRandom, ...opening })
}
