/** A store that another thread or process keeps, used as if it were here. */

import { CrawlError } from '../../../core/errors.ts'
import type { StoredRequest } from '../../../core/request.ts'
import type { Frontier, FrontierCapabilities, Lease, LeaseOptions, Settlement } from '../../../frontier/contract.ts'
import type { LinkStore } from '../../../graph/contract.ts'
import type { ItemStore } from '../../../items/contract.ts'
import type { StateStore } from '../../../core/state-store.ts'
import type { Store, StorePort } from '../../contract.ts'
import type { Answer, Call, LeasePart, RequestPart } from './wire.ts'
import { nameOf, packRequest, packSettlement, unpackFault, unpackLease, unpackRequest } from './wire.ts'

/** Rejects as the opening of the store at the other end does. Closing it closes the port's end only at the other side. */
export async function connectStore(port: StorePort, onKnown?: OnKnown): Promise<Store> {
  const line = new Line(port, onKnown)
  const { location, owner, capabilities } = await line.ask<Greeting>('hello')
  line.location = location
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closing ??= line.ask<void>('close').finally(() => {
      line.end()
    }))
  return {
    location,
    owner,
    frontier: createFrontier(line, capabilities),
    items: createItems(line),
    state: createState(line),
    links: createLinks(line),
    tasks: () => line.ask('tasks'),
    verify: () => line.ask('verify'),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Told of requests that others have added. */
export type OnKnown = (requests: readonly StoredRequest[]) => void

export interface Greeting {
  readonly location: string
  readonly owner: string | undefined
  readonly capabilities: FrontierCapabilities
}

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Calls made in one turn go out together, so that a store can make them one transaction. */
class Line {
  location = 'the store'
  readonly #port: StorePort
  readonly #onKnown: OnKnown | undefined
  readonly #waiting = new Map<number, Waiting>()
  #out: Call[] = []
  #lastId = 0
  #over = false

  constructor(port: StorePort, onKnown: OnKnown | undefined) {
    this.#port = port
    this.#onKnown = onKnown
    port.onMessage((message) => {
      for (const answer of message as readonly Answer[]) this.#hear(answer)
    })
    port.onClose(() => {
      this.end()
    })
  }

  ask<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    return this.#send<T>(++this.#lastId, method, args)
  }

  /** `cancel` is told to the other end when the signal aborts; the answer comes all the same. */
  askUntil<T>(signal: AbortSignal, method: string, ...args: readonly unknown[]): Promise<T> {
    const id = ++this.#lastId
    const onAbort = (): void => {
      this.#post([0, 'cancel', id])
    }
    signal.addEventListener('abort', onAbort, { once: true })
    return this.#send<T>(id, method, args).finally(() => {
      signal.removeEventListener('abort', onAbort)
    })
  }

  /** Nothing will be answered any more. */
  end(): void {
    if (this.#over) return
    this.#over = true
    for (const { reject } of this.#waiting.values()) reject(this.#closed())
    this.#waiting.clear()
    this.#port.keepAlive(false)
  }

  #send<T>(id: number, method: string, args: readonly unknown[]): Promise<T> {
    if (this.#over) return Promise.reject(this.#closed())
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.size === 0) this.#port.keepAlive(true)
      this.#waiting.set(id, { resolve, reject })
      this.#post([id, method, ...args])
    })
  }

  #post(call: Call): void {
    if (this.#out.push(call) > 1) return
    queueMicrotask(() => {
      const calls = this.#out
      this.#out = []
      if (!this.#over) this.#port.post(calls)
    })
  }

  #hear([id, value, fault]: Answer): void {
    if (id === 0) {
      this.#onKnown?.((value as readonly RequestPart[]).map(unpackRequest))
      return
    }
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#port.keepAlive(false)
    if (fault === undefined) waiting.resolve(value as never)
    else waiting.reject(unpackFault(fault))
  }

  #closed(): CrawlError {
    return new CrawlError('STORE_CLOSED', { context: { location: this.location } })
  }
}

function createFrontier(line: Line, capabilities: FrontierCapabilities): Frontier {
  return {
    capabilities,
    openTask: (settings) => line.ask('openTask', settings),
    add: (requests: readonly StoredRequest[]) => line.ask('add', requests.map(packRequest)),
    lease: async (options: LeaseOptions) => (await line.ask<readonly LeasePart[]>('lease', options)).map(unpackLease),
    renew: (leases: readonly Lease[], leaseMs) => line.ask('renew', leases.map(nameOf), leaseMs),
    started: (leases: readonly Lease[]) => line.ask('started', leases.map(nameOf)),
    settle: (settlements: readonly Settlement[]) => line.ask('settle', settlements.map(packSettlement)),
    waitForWork: (options, signal) =>
      signal.aborted ? Promise.resolve('aborted') : line.askUntil(signal, 'waitForWork', options),
    stats: (task) => line.ask('stats', task),
    levels: (task) => line.ask('levels', task),
    hosts: (task, page) => line.ask('hosts', task, page),
    workers: () => line.ask('workers'),
    get: (task, fingerprint) => line.ask('get', task, fingerprint),
    list: (filter, page) => line.ask('list', filter, page),
    requeue: (filter) => line.ask('requeue', filter),
    clear: (task) => line.ask('clear', task),
  }
}

function createItems(line: Line): ItemStore {
  return {
    read: (task, after, max) => line.ask('items', task, after, max),
    revision: (task) => line.ask('revision', task),
  }
}

function createLinks(line: Line): LinkStore {
  return {
    pages: (task, page) => line.ask('linkPages', task, page),
    urls: (task, page) => line.ask('linkUrls', task, page),
  }
}

function createState(line: Line): StateStore {
  return {
    get: (key) => line.ask('state', key),
    set: (entries) => line.ask('setState', entries),
    keys: (prefix) => line.ask('stateKeys', prefix),
  }
}
