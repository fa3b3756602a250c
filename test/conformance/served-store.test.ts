/** The embedded store at the other end of a port, as worker processes and the engine's own thread use it. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import type { StoredRequest } from '../../src/core/request.ts'
import type { TaskSettings } from '../../src/frontier/contract.ts'
import type { Store, StorePort } from '../../src/stores/contract.ts'
import { connectStore } from '../../src/stores/sqlite/served/client.ts'
import { serveGuests, serveStore } from '../../src/stores/sqlite/served/server.ts'
import { portOf } from '../../src/stores/sqlite/served/thread-port.ts'
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { frontierSuite, itemSuite, linkSuite, stateSuite, type SuiteSubject } from '../../src/testing/frontier-suite.ts'
import { seededRandom } from '../../src/util/random.ts'

interface Guest {
  readonly store: Store
  /** As the end of its process does. */
  die(): void
}

const halls = new WeakMap<SqliteStore, (port: StorePort) => void>()

/** All guests of one store meet. */
function serveAll(store: SqliteStore): (port: StorePort) => void {
  const known = halls.get(store) ?? serveGuests(store)
  halls.set(store, known)
  return known
}

async function connectGuest(store: SqliteStore): Promise<Guest> {
  const { port1, port2 } = new MessageChannel()
  serveAll(store)(portOf(port1))
  return {
    store: await connectStore(portOf(port2)),
    die: () => {
      port2.close()
    },
  }
}

/** Under the store's own name, as the engine of the same process does. */
async function connectEngine(store: SqliteStore): Promise<Guest> {
  const { port1, port2 } = new MessageChannel()
  serveStore(
    Promise.resolve({ store, owner: store.owner, frontier: store.frontier, leave: () => store.close() }),
    portOf(port1),
  )
  return {
    store: await connectStore(portOf(port2)),
    die: () => {
      port2.close()
    },
  }
}

async function open(): Promise<SuiteSubject> {
  const dir = mkdtempSync(join(tmpdir(), 'spoor-suite-'))
  const clock = createFakeClock()
  const opened: SqliteStore[] = []
  const guests: Guest[] = []
  const openHost = async (place: string): Promise<SqliteStore> => {
    const host = await openSqliteStore({ dir: place, clock, random: seededRandom(1) })
    opened.push(host)
    return host
  }
  const keep = ({ store, die }: Guest): Store => {
    guests.push({ store, die })
    return store
  }
  const host = await openHost(dir)
  return {
    store: keep(await connectEngine(host)),
    advance: (ms) => clock.advance(ms),
    join: async () => keep(await connectGuest(host)),
    crash: async () => {
      const left = `${dir}-crashed`
      cpSync(dir, left, { recursive: true, filter: (path) => !path.endsWith('-shm') })
      return keep(await connectEngine(await openHost(left)))
    },
    dispose: async () => {
      for (const { store } of guests) await store.close().catch(() => undefined)
      for (const { die } of guests) die()
      for (const each of opened) await each.close().catch(() => undefined)
      rmSync(dir, { recursive: true, force: true })
      rmSync(`${dir}-crashed`, { recursive: true, force: true })
    },
  }
}

describe('the served SQLite store', () => {
  const options = { runner: { describe, it }, open }
  const capabilities = { durable: true, shared: true, transactional: true, unpaced: true, visits: true } as const
  frontierSuite({ ...options, capabilities })
  linkSuite({ ...options, capabilities })
  itemSuite(options)
  stateSuite(options)
})

const SETTINGS: TaskSettings = {
  name: 't',
  order: 'bfs',
  delayMs: 0,
  loopbackDelayMs: 0,
  maxInFlightPerHost: 8,
  identity: '',
}
const request: StoredRequest = {
  task: 't',
  url: 'http://a.test/',
  fingerprint: 'aaaaaaaaaaaaaaaa',
  hostKey: 'a.test',
  depth: 0,
  priority: 0,
}
const LEASE = { tasks: ['t'], max: 1, leaseMs: 60_000 }

describe('processes that work through one store', () => {
  const dirs: string[] = []
  const openHost = (): Promise<SqliteStore> => {
    const dir = mkdtempSync(join(tmpdir(), 'spoor-served-'))
    dirs.push(dir)
    return openSqliteStore({ dir, clock: createFakeClock(), random: seededRandom(1) })
  }
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
  })

  it('are listed each by a name of its own, with what it holds', async () => {
    await using host = await openHost()
    const [one, other] = [await connectGuest(host), await connectGuest(host)]
    await one.store.frontier.openTask(SETTINGS)
    await one.store.frontier.add([request])
    const [lease] = await one.store.frontier.lease(LEASE)
    expect(lease?.url).toBe(request.url)
    const workers = await other.store.frontier.workers()
    expect(workers.map(({ alive, leased }) => ({ alive, leased }))).toEqual([
      { alive: true, leased: 0 },
      { alive: true, leased: 1 },
      { alive: true, leased: 0 },
    ])
    expect(new Set(workers.map(({ owner }) => owner)).size).toBe(3)
    for (const { store, die } of [one, other]) {
      await store.close()
      die()
    }
  })

  it('give back what they held, charged, when they die, and wake the others', async () => {
    await using host = await openHost()
    const [one, other] = [await connectGuest(host), await connectGuest(host)]
    await one.store.frontier.openTask(SETTINGS)
    await one.store.frontier.add([request])
    await one.store.frontier.lease(LEASE)
    const waiting = other.store.frontier.waitForWork({ tasks: ['t'] }, new AbortController().signal)
    one.die()
    expect(await waiting).toBe('ready')
    const [again] = await other.store.frontier.lease(LEASE)
    expect(again?.attempt).toBe(2)
    await other.store.close()
    other.die()
  })

  it('cannot settle what another holds', async () => {
    await using host = await openHost()
    const [one, other] = [await connectGuest(host), await connectGuest(host)]
    await one.store.frontier.openTask(SETTINGS)
    await one.store.frontier.add([request])
    const [lease] = await one.store.frontier.lease(LEASE)
    if (lease === undefined) throw new Error('expected a lease')
    const settlement = {
      lease,
      outcome: { kind: 'done', status: 200, fromCache: false },
      discovered: [],
      items: [],
      host: { kind: 'answered' },
    } as const
    expect(await other.store.frontier.settle([settlement])).toEqual(['lost'])
    expect(await one.store.frontier.settle([settlement])).toEqual(['settled'])
    for (const { store, die } of [one, other]) {
      await store.close()
      die()
    }
  })

  it('hear why when the store cannot be had any more', async () => {
    const host = await openHost()
    const { store, die } = await connectGuest(host)
    await host.close()
    await expect(store.frontier.stats('t')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    die()
  })

  it('are not left waiting when the port is closed at the other end', async () => {
    const calls: unknown[] = []
    const heard: { close?: () => void; message?: (message: unknown) => void } = {}
    const port: StorePort = {
      post: (message) => calls.push(message),
      onMessage: (fn) => {
        heard.message = fn
      },
      onClose: (fn) => {
        heard.close = fn
      },
      keepAlive: () => undefined,
    }
    const connecting = connectStore(port)
    heard.message?.([[1, { location: 'here', capabilities: { durable: true, shared: true, transactional: true } }]])
    const { frontier } = await connecting
    const asked = frontier.stats('t')
    heard.close?.()
    await expect(asked).rejects.toMatchObject({ code: 'STORE_CLOSED', context: { location: 'here' } })
    await expect(frontier.stats('t')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
})
