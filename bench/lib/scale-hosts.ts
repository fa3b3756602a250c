/** What a lease costs while the number of hosts grows, and whether each host gets its turn. */

import type { Lease } from '../../src/frontier/contract.ts'
import type { Store } from '../../src/stores/contract.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { BENCH_SETTINGS, BENCH_TASK, costOf, doneWith } from './frontier-load.ts'
import type { Cost } from './frontier-load.ts'

export interface HostsPoint {
  readonly hosts: number
  /** Of one page: leased and settled, no links. */
  readonly page: Cost
  /** Requests that the most and the least served host got. */
  readonly most: number
  readonly least: number
  /** Least time between two starts at one host. */
  readonly closestMs: number
}

export interface HostsOptions {
  readonly hosts: number
  readonly delayMs: number
  /** Turns that each host gets, at least two. */
  readonly turns: number
  readonly clock: FakeClock
}

const BATCH = 64
/** Of a batch: as of a crawler that keeps a quarter of its places for hosts that have answered. */
const MAX_SILENT = 48
/** Hosts are served at no more than this rate, as a crawler of finite speed does. */
const PAGES_PER_SECOND = 5000
const ADD_BATCH = 1000

/** The clock is turned by hand, so that the delays of 100,000 hosts pass as fast as the machine can serve them. */
export async function measureHosts(
  { frontier }: Store,
  { hosts, delayMs, turns, clock }: HostsOptions,
): Promise<HostsPoint> {
  await frontier.openTask({ ...BENCH_SETTINGS, delayMs, loopbackDelayMs: delayMs })
  for (let from = 0; from < hosts; from += ADD_BATCH) {
    const batch = Array.from({ length: Math.min(ADD_BATCH, hosts - from) * (turns + 1) }, (_, n) => {
      const hostKey = `h${from + Math.floor(n / (turns + 1))}.test`
      const url = `http://${hostKey}/${n % (turns + 1)}`
      const fingerprint = Buffer.from(url).toString('base64url').slice(-16)
      return { task: BENCH_TASK, url, fingerprint, hostKey, depth: 0, priority: 0 }
    })
    await frontier.add(batch)
  }
  const served = new Map<string, { times: number; lastMs: number }>()
  let closestMs = Number.POSITIVE_INFINITY
  const note = ({ hostKey, leasedAtMs }: Lease): void => {
    const before = served.get(hostKey)
    if (before !== undefined) closestMs = Math.min(closestMs, leasedAtMs - before.lastMs)
    served.set(hostKey, { times: (before?.times ?? 0) + 1, lastMs: leasedAtMs })
  }
  const pages = hosts * turns
  let settled = 0
  const cost = await costOf(async () => {
    let leases: readonly Lease[] = []
    while (settled < pages) {
      const done = leases.map((lease) => doneWith(lease, []))
      const leasing = { tasks: [BENCH_TASK], max: BATCH, maxSilent: MAX_SILENT, leaseMs: 3_600_000 }
      const [, next] = await Promise.all([done.length > 0 ? frontier.settle(done) : [], frontier.lease(leasing)])
      settled += done.length
      for (const lease of next) note(lease)
      leases = next
      await clock.advance((BATCH / PAGES_PER_SECOND) * 1000)
    }
  })
  const times = [...served.values()].map((host) => host.times)
  return {
    hosts,
    page: { wallUs: cost.wallUs / settled, cpuUs: cost.cpuUs / settled },
    most: times.reduce((most, n) => Math.max(most, n), 0),
    least: served.size < hosts ? 0 : times.reduce((least, n) => Math.min(least, n), turns + 1),
    closestMs,
  }
}
