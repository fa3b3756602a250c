import { randomUUID } from 'node:crypto'
import { describe, it } from 'vitest'
import type { Store } from '../../src/stores/contract.ts'
import { openRedisStore } from '../../src/stores/redis/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { frontierSuite, itemSuite, stateSuite } from '../../src/testing/frontier-suite.ts'
import type { SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { seededRandom } from '../../src/util/random.ts'
import { forgetStore, markAsGone } from '../support/redis.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('REDIS')
const STEPS = 8

async function open(): Promise<SuiteSubject> {
  const url = `${server ?? ''}?prefix=suite-${randomUUID()}:`
  const clock = createFakeClock()
  const opened: Store[] = []
  const time = (): { nowMs: number; wallMs: number } => ({ nowMs: clock.monotonicMs(), wallMs: clock.nowMs() })
  const openStore = async (): Promise<Store> => {
    const store = await openRedisStore({ url, clock, random: seededRandom(1), time })
    opened.push(store)
    return store
  }
  const store = await openStore()
  return {
    store,
    // in steps, and what is asked of the server answered before each: waits that are on their way must see the time pass
    advance: async (ms) => {
      for (let step = 0; step < STEPS; step++) {
        for (let turn = 0; turn < 4; turn++) await Promise.allSettled(opened.map((each) => each.tasks()))
        await clock.advance(ms / STEPS)
      }
    },
    join: openStore,
    // what a kill leaves: owners whose process is gone
    crash: async () => {
      await markAsGone(url)
      return openStore()
    },
    dispose: async () => {
      for (const each of opened) await each.close().catch(() => undefined)
      await forgetStore(url)
    },
  }
}

describe.skipIf(server === undefined)('the Redis store', () => {
  const options = { runner: { describe, it }, open }
  frontierSuite({ ...options, capabilities: { durable: true, shared: true, transactional: true, unpaced: true } })
  itemSuite(options)
  stateSuite(options)
})
