/** What a page costs the frontier while the number of known URLs grows. */

import type { Lease } from '../../src/frontier/contract.ts'
import type { Store } from '../../src/stores/contract.ts'
import { seededRandom } from '../../src/util/random.ts'
import { BENCH_SETTINGS, BENCH_TASK, costOf, doneWith, requestOf } from './frontier-load.ts'
import type { Cost } from './frontier-load.ts'

export interface KnownPoint {
  readonly known: number
  /** Of one page: leased, settled with an item, one new link and one that is known, chosen at random. */
  readonly page: Cost
  /** Of one URL that was added in a large batch on the way to this point. */
  readonly added: Cost
}

const BATCH = 64
const ADD_BATCH = 1000
const SAMPLE_PAGES = 20_000

export async function measureKnown(
  store: Store,
  points: readonly number[],
  { hosts, onPoint }: { readonly hosts: number; readonly onPoint: (point: KnownPoint) => void },
): Promise<readonly KnownPoint[]> {
  const { frontier } = store
  await frontier.openTask(BENCH_SETTINGS)
  const random = seededRandom(1)
  const measured: KnownPoint[] = []
  let made = 0

  async function growTo(known: number): Promise<Cost> {
    const from = made
    const cost = await costOf(async () => {
      for (; made < known; made += ADD_BATCH) {
        await frontier.add(Array.from({ length: ADD_BATCH }, (_, n) => requestOf(made + n, hosts)))
      }
    })
    return perUnit(cost, made - from)
  }

  /** Settling and leasing go together, as the engine does it. */
  async function crawl(pages: number): Promise<void> {
    let leases: readonly Lease[] = []
    for (let settled = 0; settled < pages;) {
      const done = leases.map((lease) =>
        doneWith(lease, [requestOf(made++, hosts), requestOf(Math.floor(random() * made), hosts)]),
      )
      const leasing = { tasks: [BENCH_TASK], max: BATCH, leaseMs: 60_000 }
      const [, next] = await Promise.all([done.length > 0 ? frontier.settle(done) : [], frontier.lease(leasing)])
      settled += done.length
      leases = next
    }
    await frontier.settle(leases.map((lease) => doneWith(lease, [])))
  }

  for (const known of points) {
    const added = await growTo(known)
    await crawl(SAMPLE_PAGES / 10)
    const page = perUnit(await costOf(() => crawl(SAMPLE_PAGES)), SAMPLE_PAGES)
    const point = { known, page, added }
    onPoint(point)
    measured.push(point)
  }
  return measured
}

function perUnit({ wallUs, cpuUs }: Cost, units: number): Cost {
  return { wallUs: wallUs / units, cpuUs: cpuUs / units }
}
