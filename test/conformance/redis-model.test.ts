import { randomUUID } from 'node:crypto'
import { it } from 'vitest'
import { openRedisStore } from '../../src/stores/redis/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import type { Store } from '../../src/stores/contract.ts'
import type { Random } from '../../src/util/random.ts'
import { compareWithMemory } from '../support/frontier-model.ts'
import type { ModelSubject } from '../support/frontier-model.ts'
import { forgetStore, markAsGone } from '../support/redis.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('REDIS')

async function create(): Promise<ModelSubject> {
  const url = `${server ?? ''}?prefix=model-${randomUUID()}:`
  const clock = createFakeClock()
  const time = (): { nowMs: number; wallMs: number } => ({ nowMs: clock.monotonicMs(), wallMs: clock.nowMs() })
  const open = (random: Random): Promise<Store> => openRedisStore({ url, clock, random, time })
  return {
    clock,
    open,
    crash: async (random) => {
      await markAsGone(url)
      return open(random)
    },
    dispose: () => forgetStore(url),
  }
}

it.skipIf(server === undefined)(
  'the Redis store answers random sequences of commands as the memory store does',
  { timeout: 300_000 },
  () => compareWithMemory(create, 40),
)
