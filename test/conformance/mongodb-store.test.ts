import { describe, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openMongodbStore } from '../../src/stores/mongodb/store.ts'
import { frontierSuite, itemSuite, stateSuite } from '../../src/testing/frontier-suite.ts'
import type { SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { seededRandom } from '../../src/util/random.ts'
import { freshUrl } from '../support/mongodb.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('MONGODB')

async function open(): Promise<SuiteSubject> {
  const fresh = await freshUrl(server ?? '')
  const opened: Store[] = []
  const dead = new Set<string>()
  let nowMs = 1_700_000_000_000
  const openStore = async (): Promise<Store> => {
    const store = await openMongodbStore({
      url: fresh.url,
      clock: systemClock,
      random: seededRandom(1 + opened.length),
      testTime: () => ({ nowMs, wallMs: nowMs }),
      isGone: (owner) => dead.has(owner),
    })
    opened.push(store)
    return store
  }
  const store = await openStore()
  return {
    store,
    advance: async (ms) => {
      nowMs += ms
    },
    join: openStore,
    // what a kill leaves: nobody says good-bye, and the system knows that the process is gone
    crash: async () => {
      for (const { owner } of await store.frontier.workers().catch(() => [])) dead.add(owner)
      return openStore()
    },
    dispose: async () => {
      for (const each of opened) await each.close().catch(() => undefined)
      await fresh.drop()
    },
  }
}

describe.skipIf(server === undefined)('the MongoDB store', () => {
  const options = { runner: { describe, it }, open }
  frontierSuite({ ...options, capabilities: { durable: true, shared: true, transactional: true, unpaced: true } })
  itemSuite(options)
  stateSuite(options)
})
