/** One of several processes that work on one server's store until nothing is left; tells what it does, a line of JSON each. */

import type { Clock } from '../../../src/core/clock.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Lease, Settlement } from '../../../src/frontier/contract.ts'
import { request, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { openServerStore } from '../../support/server-store.ts'

const [url = '', most = '0', skewMs = '0', leaseMs = '30000'] = process.argv.slice(2)

/** This machine's clocks are wrong by so much; time passes as it does elsewhere. */
const clock: Clock = {
  ...systemClock,
  nowMs: () => systemClock.nowMs() + Number(skewMs),
  monotonicMs: () => systemClock.monotonicMs() + Number(skewMs),
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function settlementOf(lease: Lease): Settlement {
  const name = lease.url.slice('http://'.length)
  const path = Number(name.split('/')[1] ?? 0)
  const children = [2 * path + 1, 2 * path + 2].filter((child) => child < Number(most))
  const discovered = children.map((child) => request(`${lease.hostKey}/${child}`, { depth: lease.request.depth + 1 }))
  return settlement(lease, { discovered, items: [{ data: { name } }] })
}

const store = await openServerStore(url, clock)
const { frontier } = store
const signal = AbortSignal.timeout(100_000)
let end = 'ready'
while (end === 'ready') {
  end = await frontier.waitForWork({ tasks: [TASK] }, signal)
  if (end !== 'ready') break
  const leases = await frontier.lease({ tasks: [TASK], max: 8, leaseMs: Number(leaseMs) })
  for (const { id, hostKey, leasedAtMs } of leases) tell({ kind: 'leased', id, hostKey, leasedAtMs })
  // holds what it has, and asks for no more
  if (most === 'hold') await new Promise(() => undefined)
  await Promise.all(
    leases.map(async (lease, n) => {
      if (n % 3 === 0) await systemClock.sleep(2)
      const [answer] = await frontier.settle([settlementOf(lease)])
      tell({ kind: answer, id: lease.id, hostKey: lease.hostKey, leasedAtMs: lease.leasedAtMs })
    }),
  )
}
await store.close()
tell({ kind: 'end', id: end, hostKey: '', leasedAtMs: 0 })
