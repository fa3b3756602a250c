/** Works on a store and dies at a named step of `settle`, as a kill there would have it. */

import { systemClock } from '../../../src/core/clock.ts'
import { openSqliteStore } from '../../../src/stores/sqlite/store.ts'
import { begin, leaseOne, request, settlement } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'

const [dir = '', point = '', rounds = '1'] = process.argv.slice(2)
let left = Number(rounds)
const failpoint = (name: string): void => {
  if (name === point && --left < 0) process.kill(process.pid, 'SIGKILL')
}
const store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom, failpoint })
if ((await store.tasks()).length === 0) await begin({ store }, [request('a'), request('b')])
for (let n = 0; ; n++) {
  const lease = await leaseOne(store)
  const discovered = [0, 1, 2].map((child) => request(`${lease.id}-${child}`, { depth: lease.request.depth + 1 }))
  const items = [{ data: { url: lease.url, depth: lease.request.depth }, isPage: true }]
  await store.frontier.settle([settlement(lease, { discovered, items, counts: { bytes: 1 } })])
  process.stdout.write(`${lease.request.fingerprint}\n`)
  if (point === 'acknowledged' && n === left) process.kill(process.pid, 'SIGKILL')
}
