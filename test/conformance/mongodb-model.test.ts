import { it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openMongodbStore } from '../../src/stores/mongodb/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import type { Random } from '../../src/util/random.ts'
import { compareWithMemory } from '../support/frontier-model.ts'
import type { ModelSubject } from '../support/frontier-model.ts'
import { freshUrl } from '../support/mongodb.ts'
import { serviceUrl } from '../support/services.ts'

const server = serviceUrl('MONGODB')

async function create(): Promise<ModelSubject> {
  const fresh = await freshUrl(server ?? '')
  const fake = createFakeClock()
  // The store's instants are the fake clock's; what it waits for between two commands to the server passes really.
  const testTime = (): { nowMs: number; wallMs: number } => ({ nowMs: fake.monotonicMs(), wallMs: fake.nowMs() })
  const dead = new Set<string>()
  const isGone = (owner: string): boolean => dead.has(owner)
  let last: Store | undefined
  const open = async (random: Random): Promise<Store> => {
    last = await openMongodbStore({ url: fresh.url, clock: systemClock, random, testTime, isGone })
    return last
  }
  return {
    clock: fake,
    open,
    crash: async (random) => {
      for (const { owner } of (await last?.frontier.workers()) ?? []) dead.add(owner)
      return open(random)
    },
    dispose: () => fresh.drop(),
  }
}

it.skipIf(server === undefined)(
  'the MongoDB store answers random sequences of commands as the memory store does',
  { timeout: 600_000 },
  () => compareWithMemory(create, 25),
)
