/** Opens the shared store that an address names, as tests of several processes need it. */

import type { Clock } from '../../src/core/clock.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openMongodbStore } from '../../src/stores/mongodb/store.ts'
import { openRedisStore } from '../../src/stores/redis/store.ts'
import { systemRandom } from '../../src/util/random.ts'

export function openServerStore(url: string, clock: Clock): Promise<Store> {
  const open = url.startsWith('mongodb:') ? openMongodbStore : openRedisStore
  return open({ url, clock, random: systemRandom })
}
