/** Answers the calls of a client at the other end of a port from a store that is open here. */

import type { Frontier, Lease, LeaseOptions } from '../../../frontier/contract.ts'
import type { StorePort } from '../../contract.ts'
import type { SqliteStore } from '../store.ts'
import type { Greeting } from './client.ts'
import type { Answer, Call, LeaseName, RequestPart, SettlementPart } from './wire.ts'
import { packFault, packLease, unpackRequest, unpackSettlement } from './wire.ts'

export interface Served {
  readonly store: Pick<SqliteStore, 'location' | 'items' | 'state' | 'links' | 'tasks' | 'verify'>
  /** The client's name among the workers. */
  readonly owner: string | undefined
  /** The frontier under that name. */
  readonly frontier: Frontier
  /** The client has done, or is gone (`died`): what it still holds comes back. */
  leave(how: { readonly died: boolean }): Promise<void>
}

/** Calls wait until there is something to ask. Ends with the port: `leave` has been called then, once. */
export function serveStore(served: Promise<Served>, port: StorePort): void {
  openSession(served, port, new Set())
}

function openSession(served: Promise<Served>, port: StorePort, all: Set<ClientSession>): void {
  const session = new ClientSession(served, port, all)
  all.add(session)
  port.onMessage((message) => {
    session.hear(message as readonly Call[])
  })
  port.onClose(() => {
    all.delete(session)
    session.lost()
  })
}

type Method = (...args: never[]) => Promise<unknown>

class ClientSession {
  readonly #served: Promise<Served>
  readonly #port: StorePort
  /** Those that work through the same store, this one among them. */
  readonly #all: ReadonlySet<ClientSession>
  #methods: ReadonlyMap<string, Method> | undefined
  /** Given and not settled, by id: a client names them by id and token only. */
  readonly #leases = new Map<string, Lease>()
  readonly #waits = new Map<number, AbortController>()
  #out: Answer[] = []
  #left: Promise<void> | undefined

  constructor(served: Promise<Served>, port: StorePort, all: ReadonlySet<ClientSession>) {
    this.#served = served
    this.#port = port
    this.#all = all
  }

  /** Waits for work that others may be holding. */
  get isWaiting(): boolean {
    return this.#waits.size > 0
  }

  /** Others have found these, and the store holds them. */
  tellKnown(requests: readonly RequestPart[]): void {
    this.#say([0, requests])
  }

  /** In their order and without a turn of the event loop in between. */
  hear(calls: readonly Call[]): void {
    for (const call of calls) void this.#answer(call)
  }

  lost(): void {
    this.#leave({ died: true }).catch(() => undefined) // nobody is there to be told
  }

  async #answer([id, method, ...args]: Call): Promise<void> {
    if (method === 'cancel') {
      this.#waits.get(Number(args[0]))?.abort()
      return
    }
    try {
      const served = await this.#served
      this.#methods ??= new Map(Object.entries(this.#table(served)))
      if (method === 'waitForWork') this.#say([id, await this.#wait(served, id, args)])
      else this.#say([id, await this.#methods.get(method)?.(...(args as never[]))])
    } catch (error) {
      this.#say([id, undefined, packFault(error)])
    }
  }

  async #wait({ frontier }: Served, id: number, args: readonly unknown[]): Promise<unknown> {
    const stop = new AbortController()
    this.#waits.set(id, stop)
    try {
      const [options] = args as Parameters<Frontier['waitForWork']>
      return await frontier.waitForWork(options, stop.signal)
    } finally {
      this.#waits.delete(id)
    }
  }

  /** What is answered by one transaction goes out together: after all that hangs on it. */
  #say(answer: Answer): void {
    if (this.#out.push(answer) > 1) return
    setImmediate(() => {
      const answers = this.#out
      this.#out = []
      this.#port.post(answers)
    })
  }

  #leave(how: { readonly died: boolean }): Promise<void> {
    for (const stop of this.#waits.values()) stop.abort()
    return (this.#left ??= this.#served.then((served) => served.leave(how)))
  }

  #leasesOf(names: readonly LeaseName[]): (Lease | undefined)[] {
    return names.map(([id, token]) => {
      const lease = this.#leases.get(id)
      return lease?.token === token ? lease : undefined
    })
  }

  #table({ store, owner, frontier }: Served): Record<string, Method> {
    const { items, state, links } = store
    return {
      hello: async (): Promise<Greeting> => ({ location: store.location, owner, capabilities: frontier.capabilities }),
      close: () => this.#leave({ died: false }),
      tasks: () => store.tasks(),
      verify: () => store.verify(),
      openTask: (settings) => frontier.openTask(settings),
      add: async (requests: RequestPart[]) => {
        const answers = await frontier.add(requests.map(unpackRequest))
        this.#tellOthers(requests)
        return answers
      },
      lease: async (options: LeaseOptions) => {
        const leases = await frontier.lease({ ...options, max: this.#fairShare(options.max) })
        for (const lease of leases) this.#leases.set(lease.id, lease)
        return leases.map(packLease)
      },
      renew: (names: LeaseName[], leaseMs: number) => this.#renew(frontier, names, leaseMs),
      started: (names: LeaseName[]) => frontier.started(this.#leasesOf(names).filter((lease) => lease !== undefined)),
      settle: (parts: SettlementPart[]) => this.#settle(frontier, parts),
      stats: (task) => frontier.stats(task),
      levels: (task) => frontier.levels(task),
      hosts: (task, page) => frontier.hosts(task, page),
      workers: () => frontier.workers(),
      get: (task, fingerprint) => frontier.get(task, fingerprint),
      list: (filter, page) => frontier.list(filter, page),
      requeue: (filter) => frontier.requeue(filter),
      clear: (task) => frontier.clear(task),
      items: (task, after, max) => items.read(task, after, max),
      revision: (task) => items.revision(task),
      linkPages: (task, page) => links.pages(task, page),
      linkUrls: (task, page) => links.urls(task, page),
      state: (key) => state.get(key),
      setState: (entries) => state.set(entries),
      stateKeys: (prefix) => state.keys(prefix),
    }
  }

  /** Who asks first must not take all places of a host again and again while others wait for one. */
  #fairShare(max: number): number {
    let takers = 1
    for (const other of this.#all) if (other !== this && other.isWaiting) takers++
    return Math.ceil(max / takers)
  }

  /** Otherwise each would bring to the store once more what another has found. */
  #tellOthers(requests: readonly RequestPart[]): void {
    if (requests.length === 0) return
    for (const other of this.#all) if (other !== this) other.tellKnown(requests)
  }

  /** A lease that was never given here is lost. */
  async #renew(frontier: Frontier, names: readonly LeaseName[], leaseMs: number): Promise<readonly boolean[]> {
    const leases = this.#leasesOf(names)
    const held = leases.filter((lease) => lease !== undefined)
    const renewed = await frontier.renew(held, leaseMs)
    let at = 0
    return leases.map((lease) => lease !== undefined && renewed[at++] === true)
  }

  async #settle(frontier: Frontier, parts: readonly SettlementPart[]): Promise<readonly string[]> {
    const leases = this.#leasesOf(parts.map(([id, token]) => [id, token]))
    const settlements = parts.flatMap((part, index) => {
      const lease = leases[index]
      return lease === undefined ? [] : [unpackSettlement(part, lease)]
    })
    const answers = await frontier.settle(settlements)
    this.#tellOthers(parts.flatMap((part, index) => (leases[index] === undefined ? [] : part[3])))
    let at = 0
    return leases.map((lease) => {
      if (lease === undefined) return 'lost'
      if (this.#leases.get(lease.id) === lease) this.#leases.delete(lease.id)
      return answers[at++] ?? 'lost'
    })
  }
}

/** Processes that work through this store: each is listed by a name of its own, and what it holds is its own. */
export function serveGuests(store: SqliteStore): (port: StorePort) => void {
  const all = new Set<ClientSession>()
  return (port) => {
    const admitted = store.admit().then((guest) => ({ store, ...guest }))
    openSession(admitted, port, all)
  }
}
