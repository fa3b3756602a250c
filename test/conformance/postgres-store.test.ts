import { afterAll, beforeAll, describe, it } from 'vitest'
import { frontierSuite, itemSuite, stateSuite } from '../../src/testing/frontier-suite.ts'
import type { SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { testDatabase } from '../support/postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('POSTGRES')

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server !== undefined) database = await testDatabase(server)
})
afterAll(() => database?.drop())

async function open(): Promise<SuiteSubject> {
  if (database === undefined) throw new Error('Expected a database')
  const { kill, reset, setClock, open: openStore } = database
  const first = await openStore()
  let aheadMs = 0
  await setClock('ahead', aheadMs)
  return {
    store: first.store,
    advance: async (ms) => {
      aheadMs += ms
      await setClock('ahead', aheadMs)
    },
    join: async () => (await openStore()).store,
    crash: async () => {
      await kill(first)
      return (await openStore()).store
    },
    dispose: reset,
  }
}

describe.skipIf(server === undefined)('the PostgreSQL store', () => {
  const options = { runner: { describe, it }, open }
  frontierSuite({ ...options, capabilities: { durable: true, shared: true, transactional: true, unpaced: true } })
  itemSuite(options)
  stateSuite(options)
})
