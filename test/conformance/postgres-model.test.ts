import { afterAll, beforeAll, it } from 'vitest'
import type { OpenedStore } from '../../src/stores/postgres/open.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { compareWithMemory } from '../support/frontier-model.ts'
import type { ModelSubject } from '../support/frontier-model.ts'
import { testDatabase } from '../support/postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('POSTGRES')

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server === undefined) return
  database = await testDatabase(server)
  // the tables
  await (await database.open()).store.close()
})
afterAll(() => database?.drop())

async function create(): Promise<ModelSubject> {
  if (database === undefined) throw new Error('Expected a database')
  const { kill, open, reset, setClock } = database
  await reset()
  await setClock('still', 0)
  // The server has one clock: there the wall clock and the other are the same.
  const clock = createFakeClock({ nowMs: 0 })
  let last: OpenedStore | undefined
  return {
    clock: {
      ...clock,
      advance: async (ms) => {
        await clock.advance(ms)
        await setClock('still', clock.monotonicMs())
      },
    },
    open: async (random) => {
      last = await open(random)
      return last.store
    },
    crash: async (random) => {
      if (last !== undefined) await kill(last)
      last = await open(random)
      return last.store
    },
    dispose: reset,
  }
}

it.skipIf(server === undefined)(
  'the PostgreSQL store answers random sequences of commands as the memory store does',
  { timeout: 300_000 },
  () => compareWithMemory(create, 30),
)
