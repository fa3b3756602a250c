/** The hosts of a task, for those who look. */

import type { Frontier } from '../../frontier/contract.ts'
import { hostReport } from '../../politeness/host-state.ts'
import type { Ledger } from './ledger.ts'
import { hostState, limitsOf, taskOf } from './rows.ts'
import type { Server } from './server.ts'

interface Parts {
  readonly ledger: Ledger
  readonly server: Server
}

/** In the order of their keys: an id is what every server finds its place by, also beside an index that it does not take. */
export async function listHosts(
  { ledger, server }: Parts,
  name: string,
  { after, max }: { readonly after?: string; readonly max: number },
): ReturnType<Frontier['hosts']> {
  const taskId = await ledger.read((tx) => taskOf(tx, name).id)
  await ledger.applyAll()
  const from = after ?? `${taskId}:`
  const found = await server.find(
    'queues',
    { _id: { $gt: from, $lt: `${taskId};` }, 'd.opened': true },
    { sort: { _id: 1 }, limit: max },
  )
  const queues = found.flatMap(({ doc }) => doc ?? [])
  const hosts = await ledger.read((tx) => {
    const task = taskOf(tx, name)
    tx.need(
      'hosts',
      queues.map(({ host }) => host),
    )
    const nowMs = ledger.nowMs()
    return queues.map(({ host, ready }) => ({
      hostKey: host,
      ready,
      ...hostReport(hostState(tx, host), limitsOf(task, host), nowMs),
    }))
  })
  const last = found.at(-1)
  return found.length === max && last !== undefined ? { hosts, next: last.id } : { hosts }
}
