/** A store that is slow to settle: what has been fetched is not lost to another worker meanwhile. */

import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Frontier, Lease } from '../../../src/frontier/contract.ts'
import { Crawler } from '../../../src/index.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { seededRandom } from '../../../src/util/random.ts'
import { openTemporaryFolder } from '../../support/command.ts'

/** Settles nothing before its lease was renewed, as a store does whose rows another worker holds. */
function settlesAfterRenewal(store: Store): Store {
  const { frontier } = store
  const renewed = new Set<string>()
  let wake: (() => void) | undefined
  const settle: Frontier['settle'] = async (settlements) => {
    while (!settlements.every(({ lease }) => renewed.has(lease.id))) {
      await new Promise<void>((resolve) => void (wake = resolve))
    }
    return frontier.settle(settlements)
  }
  const renew = async (leases: readonly Lease[], leaseMs: number): Promise<readonly boolean[]> => {
    const answers = await frontier.renew(leases, leaseMs)
    for (const { id } of leases) renewed.add(id)
    wake?.()
    return answers
  }
  return { ...store, frontier: { ...frontier, settle, renew } }
}

it('leases of requests that have ended are renewed until the store has settled them', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(() => ({ body: '<a href="/next">next</a>' }))
  await using store = openMemoryStore({ clock: systemClock, random: seededRandom(1) })
  const crawler = new Crawler({ store: settlesAfterRenewal(store), leaseMs: 3000, dir: folder.path })
  expect(await crawler.run([site.url('/')])).toMatchObject({ pages: 2, finishReason: 'finished' })
}, 60_000)
