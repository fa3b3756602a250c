import { describe, it } from 'vitest'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { frontierSuite, itemSuite, linkSuite, stateSuite } from '../../src/testing/frontier-suite.ts'
import type { SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { seededRandom } from '../../src/util/random.ts'

async function open(): Promise<SuiteSubject> {
  const clock = createFakeClock()
  const store = openMemoryStore({ clock, random: seededRandom(1) })
  return { store, advance: (ms) => clock.advance(ms), dispose: () => store.close() }
}

describe('the memory store', () => {
  const options = { runner: { describe, it }, open }
  const capabilities = { durable: false, shared: false, transactional: true, unpaced: true, visits: true } as const
  frontierSuite({ ...options, capabilities })
  linkSuite({ ...options, capabilities })
  itemSuite(options)
  stateSuite(options)
})
