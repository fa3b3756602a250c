/** A store whose writes wait for room. */

import type { Frontier } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import type { Room } from './room.ts'

/**
 * What is called in one turn of the event loop reaches the store in that turn, now as well as after a wait. While there is
 * no room elsewhere (for the exported file), nothing is leased.
 */
export function withRoom(store: Store, room: Room): Store {
  const { items, state, location } = store
  const patiently = <T>(work: () => Promise<T>): Promise<T> => room.patiently(location, work)
  return {
    location,
    owner: store.owner,
    frontier: patientFrontier(store.frontier, patiently, () => room.besides(location)),
    items,
    state: {
      get: (key) => state.get(key),
      set: (entries) => patiently(() => state.set(entries)),
      keys: (prefix) => state.keys(prefix),
    },
    ...(store.links === undefined ? {} : { links: store.links }),
    tasks: () => store.tasks(),
    verify: () => store.verify(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

type Patiently = <T>(work: () => Promise<T>) => Promise<T>

/** Renewals are not waited for: their keeper asks again, and gives up in time what it cannot keep. */
function patientFrontier(frontier: Frontier, patiently: Patiently, besides: () => Promise<void> | undefined): Frontier {
  return {
    capabilities: frontier.capabilities,
    openTask: (settings) => patiently(() => frontier.openTask(settings)),
    add: (requests) => patiently(() => frontier.add(requests)),
    lease: (options) => {
      const lease = (): ReturnType<Frontier['lease']> => patiently(() => frontier.lease(options))
      const held = besides()
      return held === undefined ? lease() : held.then(lease)
    },
    renew: (leases, leaseMs) => frontier.renew(leases, leaseMs),
    started: (leases) => frontier.started(leases),
    settle: (settlements) => patiently(() => frontier.settle(settlements)),
    waitForWork: (options, signal) => frontier.waitForWork(options, signal),
    stats: (task) => frontier.stats(task),
    levels: (task) => frontier.levels(task),
    hosts: (task, page) => frontier.hosts(task, page),
    workers: () => frontier.workers(),
    get: (task, fingerprint) => frontier.get(task, fingerprint),
    list: (filter, page) => frontier.list(filter, page),
    requeue: (filter) => patiently(() => frontier.requeue(filter)),
    clear: (task) => patiently(() => frontier.clear(task)),
  }
}
