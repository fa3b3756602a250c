import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../../../scripts/services/postgres.mjs'
import type { PrivateServer } from '../../../scripts/services/postgres.mjs'
import { systemClock } from '../../../src/core/clock.ts'
import { openPostgresStore } from '../../../src/stores/postgres/store.ts'
import { begin, leaseOne, request, settings, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { seededRandom, systemRandom } from '../../../src/util/random.ts'
import { testDatabase } from '../../support/postgres.ts'
import { serviceUrl } from '../../support/services.ts'
import { startWorker } from './postgres-processes.ts'
import type { Worker } from './postgres-processes.ts'

const server = serviceUrl('POSTGRES')

type Cut = 'none' | 'before the commit' | 'after the commit'

interface Proxy {
  readonly url: string
  /** What happens to the connection of the next commit; it happens once. */
  cutNext(cut: Cut): void
  readonly cuts: number
  close(): void
}

/** Stands between store and server, and cuts the line around a commit. */
async function startProxy(to: string): Promise<Proxy> {
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let next: Cut = 'none'
  let cuts = 0
  const proxy: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let isDeaf = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('data', (chunk) => {
      if (isDeaf) client.destroy()
      else client.write(chunk)
    })
    client.on('data', (chunk) => {
      const cut = chunk.includes('COMMIT') ? next : 'none'
      if (cut !== 'none') {
        next = 'none'
        cuts++
        isDeaf = true
      }
      if (cut === 'before the commit') client.destroy()
      else upstream.write(chunk)
    })
  })
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(to)
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    cutNext: (cut) => {
      next = cut
    },
    get cuts() {
      return cuts
    },
    close: () => {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

describe.skipIf(server === undefined)('when the line to PostgreSQL is cut', () => {
  it.each<Cut>(['before the commit', 'after the commit'])(
    '%s, everything is done once and said to be done',
    { timeout: 300_000 },
    async (cut) => {
      const database = await testDatabase(server ?? '')
      const proxy = await startProxy(database.url)
      const { store: witness } = await database.open()
      const store = await openPostgresStore({ url: proxy.url, clock: systemClock, random: seededRandom(1) })
      await begin({ store }, [request('0')])
      for (let n = 0; n < 12; n++) {
        if (n % 3 === 0) proxy.cutNext(cut)
        const lease = await leaseOne(store)
        expect(lease.attempt).toBe(1)
        if (n % 3 === 1) proxy.cutNext(cut)
        const discovered = [request(String(n + 1), { depth: 1 })]
        const items = [{ data: { n } }]
        const answers = await store.frontier.settle([settlement(lease, { discovered, items, counts: { bytes: 1 } })])
        expect(answers).toEqual(['settled'])
        if (n % 3 === 2) proxy.cutNext(cut)
        expect(await store.frontier.add([request(`other ${n}`, { priority: -1 })])).toEqual(['added'])
      }
      expect(proxy.cuts).toBe(12)
      const { known, done, items, counters } = await witness.frontier.stats(TASK)
      expect({ known, done, items, bytes: counters.bytes }).toEqual({ known: 25, done: 12, items: 12, bytes: 12 })
      expect(await witness.verify()).toEqual([])
      await store.close()
      proxy.close()
      await database.drop()
    },
  )

  it('for every session again and again, workers go on and lose nothing', { timeout: 300_000 }, async () => {
    const database = await testDatabase(server ?? '')
    const { store } = await database.open()
    await store.frontier.openTask(settings())
    await store.frontier.add([request('fast.test/0'), request('slow.test/0')])
    const workers = [0, 1].map(() => startWorker('work', database.url, '400'))
    await disturb(workers, 5, async () => {
      await database.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'spoor%' AND pid <> pg_backend_pid()",
      )
    })
    await expectAllOnce(workers, 800)
    const { done, items, counters } = await store.frontier.stats(TASK)
    expect([done, items, counters.bytes]).toEqual([800, 800, 800])
    expect(await store.verify()).toEqual([])
    await database.drop()
  })
})

/** `disturbance` each time the workers have done some more. */
async function disturb(workers: readonly Worker[], times: number, disturbance: () => Promise<void>): Promise<void> {
  const told = (): number => workers.reduce((sum, worker) => sum + worker.told.length, 0)
  // all of them are at work
  for (const worker of workers) while (worker.told.length === 0) await worker.next()
  for (let n = 1; n <= times; n++) {
    while (told() < n * 100) await Promise.race(workers.map((worker) => worker.next()))
    await disturbance()
  }
}

async function expectAllOnce(workers: readonly Worker[], pages: number): Promise<void> {
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(workers.map(() => 0))
  const lines = workers.flatMap(({ told }) => told)
  const leased = lines.filter(({ kind }) => kind === 'leased')
  expect(lines.filter(({ kind }) => kind === 'lost')).toEqual([])
  expect(leased.length).toBe(pages)
  expect(new Set(leased.map(({ id }) => id)).size).toBe(pages)
}

describe.skipIf(server === undefined)('when the PostgreSQL server', () => {
  let own: PrivateServer | undefined
  beforeAll(async () => {
    if (server !== undefined) own = await start()
  }, 300_000)
  afterAll(() => own?.stop())

  it('crashes and comes back in mid-crawl, everything is done once', { timeout: 300_000 }, async () => {
    if (own === undefined) throw new Error('Expected a server')
    const { url, halt, resume } = own
    const store = await openPostgresStore({ url, clock: systemClock, random: systemRandom })
    await store.frontier.openTask(settings())
    await store.frontier.add([request('fast.test/0'), request('slow.test/0')])
    const workers = [0, 1].map(() => startWorker('work', url, '400'))
    await disturb(workers, 2, async () => {
      await halt()
      await systemClock.sleep(1500)
      await resume()
    })
    await expectAllOnce(workers, 800)
    const { done, items, counters } = await store.frontier.stats(TASK)
    expect([done, items, counters.bytes]).toEqual([800, 800, 800])
    expect(await store.verify()).toEqual([])
    expect((await store.frontier.workers()).filter(({ alive }) => alive).length).toBe(1)
    await store.close()
  })
})
