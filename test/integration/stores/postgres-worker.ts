/**
 * One of several processes on one PostgreSQL store, with a clock of its own: tells what it does, a line of JSON each.
 * `work`: until nothing is left. `hold`: leases once, and settles when it is told to.
 */

import { once } from 'node:events'
import { systemClock } from '../../../src/core/clock.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { openPostgresStore } from '../../../src/stores/postgres/store.ts'
import { request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'

const [role = 'work', url = '', most = '0', aheadMs = '0'] = process.argv.slice(2)
const clock: Clock = {
  ...systemClock,
  nowMs: () => systemClock.nowMs() + Number(aheadMs),
  monotonicMs: () => systemClock.monotonicMs() + Number(aheadMs),
}
const store = await openPostgresStore({ url, clock, random: systemRandom })
const { frontier } = store

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function hold(): Promise<void> {
  const [lease] = await frontier.lease({ tasks: [TASK], max: 1, leaseMs: 1000 })
  if (lease === undefined) throw new Error('Expected a lease')
  tell({ kind: 'leased', id: lease.id })
  await once(process.stdin, 'data')
  const [answer] = await frontier.settle([settlement(lease, { items: [{ data: { late: true } }] })])
  const [renewed] = await frontier.renew([lease], 1000)
  tell({ kind: answer, id: lease.id, renewed })
}

async function work(): Promise<void> {
  const signal = AbortSignal.timeout(100_000)
  while ((await frontier.waitForWork({ tasks: [TASK] }, signal)) === 'ready') {
    const leases = await frontier.lease({ tasks: [TASK], max: 8, leaseMs: 30_000 })
    for (const { id, hostKey, leasedAtMs, attempt } of leases)
      tell({ kind: 'leased', id, hostKey, leasedAtMs, attempt })
    const settlements = leases.map((lease) => {
      const name = lease.url.slice('http://'.length)
      const [, path = '0'] = name.split('/')
      const children = [2 * Number(path) + 1, 2 * Number(path) + 2].filter((child) => child < Number(most))
      // each page also leads to one of the other hosts, so that everyone adds to everyone's queues
      const discovered = children.flatMap((child) =>
        ['fast.test', lease.hostKey].map((host) => request(`${host}/${child}`, { depth: lease.request.depth + 1 })),
      )
      return settlement(lease, { discovered, items: [{ data: { name } }], counts: { bytes: 1 } })
    })
    await systemClock.sleep(2)
    const answers = await frontier.settle(settlements)
    for (const [n, { id }] of leases.entries()) tell({ kind: answers[n], id })
  }
}

await (role === 'hold' ? hold() : work())
await store.close()
process.stdin.destroy()
