/** One of several processes that work on one store until nothing is left; tells what it did, a line of JSON each. */

import { once } from 'node:events'
import { systemClock } from '../../../src/core/clock.ts'
import { openSqliteStore } from '../../../src/stores/sqlite/store.ts'
import { request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { UP } from './race-start.ts'

const [dir = '', most = '0'] = process.argv.slice(2)
const store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom })
const { frontier } = store
const lines: string[] = []
// all at once, when the test says so: else the first one has done it all before the last one is up
process.stdout.write(`${UP}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
const signal = AbortSignal.timeout(60_000)
for (;;) {
  if ((await frontier.waitForWork({ tasks: [TASK] }, signal)) !== 'ready') break
  const leases = await frontier.lease({ tasks: [TASK], max: 8, leaseMs: 30_000 })
  const atMs = systemClock.monotonicMs()
  for (const { id, hostKey, leasedAtMs } of leases)
    lines.push(JSON.stringify({ kind: 'leased', id, hostKey, leasedAtMs, atMs }))
  await Promise.all(
    leases.map(async (lease, n) => {
      const name = lease.url.slice('http://'.length)
      const [, path = '0'] = name.split('/')
      const children = [2 * Number(path) + 1, 2 * Number(path) + 2].filter((child) => child < Number(most))
      const discovered = children.map((child) =>
        request(`${lease.hostKey}/${child}`, { depth: lease.request.depth + 1 }),
      )
      await systemClock.sleep(8 + (n % 3) * 6)
      const endsAtMs = systemClock.monotonicMs()
      const [answer] = await frontier.settle([settlement(lease, { discovered, items: [{ data: { name } }] })])
      lines.push(JSON.stringify({ kind: answer, id: lease.id, hostKey: lease.hostKey, atMs: endsAtMs }))
    }),
  )
}
await store.close()
process.stdout.write(`${lines.join('\n')}\n`)
