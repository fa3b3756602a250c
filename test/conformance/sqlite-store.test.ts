import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import type { Store } from '../../src/stores/contract.ts'
import { openSqliteStore } from '../../src/stores/sqlite/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { frontierSuite, itemSuite, linkSuite, stateSuite } from '../../src/testing/frontier-suite.ts'
import type { SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { seededRandom } from '../../src/util/random.ts'

async function open(): Promise<SuiteSubject> {
  const dir = mkdtempSync(join(tmpdir(), 'spoor-suite-'))
  const clock = createFakeClock()
  const opened: Store[] = []
  const openStore = async (place = dir): Promise<Store> => {
    const store = await openSqliteStore({ dir: place, clock, random: seededRandom(1) })
    opened.push(store)
    return store
  }
  const store = await openStore()
  return {
    store,
    advance: (ms) => clock.advance(ms),
    join: () => openStore(),
    // what a kill leaves: the files as they are at this instant, and locks that nobody holds
    crash: async () => {
      const left = `${dir}-crashed`
      cpSync(dir, left, { recursive: true, filter: (path) => !path.endsWith('-shm') })
      return openStore(left)
    },
    dispose: async () => {
      for (const each of opened) await each.close().catch(() => undefined)
      rmSync(dir, { recursive: true, force: true })
      rmSync(`${dir}-crashed`, { recursive: true, force: true })
    },
  }
}

describe('the SQLite store', () => {
  const options = { runner: { describe, it }, open }
  const capabilities = { durable: true, shared: true, transactional: true, unpaced: true, visits: true } as const
  frontierSuite({ ...options, capabilities })
  linkSuite({ ...options, capabilities })
  itemSuite(options)
  stateSuite(options)
})
