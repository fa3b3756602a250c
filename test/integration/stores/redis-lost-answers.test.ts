import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openRedisStore } from '../../../src/stores/redis/store.ts'
import {
  begin,
  fingerprintOf,
  leaseMany,
  leaseOne,
  request,
  settlement,
  TASK,
} from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { forgetStore, withRedis } from '../../support/redis.ts'
import { serviceUrl } from '../../support/services.ts'

const server = serviceUrl('REDIS')

/** Stands between store and server. Cuts the connection when the next answer has come, and keeps the answer. */
interface Cutter extends AsyncDisposable {
  readonly port: number
  readonly cuts: number
  cutNext(): void
}

async function openCutter(target: URL): Promise<Cutter> {
  let armed = false
  let cuts = 0
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    return socket.on('close', () => sockets.delete(socket))
  }
  const listener = createServer((near) => {
    keep(near)
    const far = keep(connect(Number(target.port), target.hostname))
    near.on('close', () => far.destroy()).on('data', (chunk) => far.write(chunk))
    far.on('close', () => near.destroy())
    far.on('data', (chunk) => {
      // Only the answer to a script is worth losing, not the messages that tell of changes.
      if (armed && !chunk.includes('message')) {
        armed = false
        cuts++
        near.destroy()
      } else near.write(chunk)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    get cuts() {
      return cuts
    },
    cutNext: () => {
      armed = true
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

describe.skipIf(server === undefined)('an answer of the server that is lost on the way', () => {
  let cutter: Cutter | undefined
  let store: Store | undefined
  let direct = ''
  const cut = (): void => cutter?.cutNext()
  const opened = (): Store => {
    if (store === undefined) throw new Error('Expected a store')
    return store
  }
  beforeEach(async () => {
    const prefix = `cut-${randomUUID()}:`
    direct = `${server ?? ''}?prefix=${prefix}`
    cutter = await openCutter(new URL(server ?? ''))
    const url = `redis://127.0.0.1:${cutter.port}?prefix=${prefix}`
    store = await openRedisStore({ url, clock: systemClock, random: systemRandom })
  })
  afterEach(async () => {
    await store?.close()
    await cutter?.[Symbol.asyncDispose]()
    await forgetStore(direct)
  })

  it('to a settlement: it is settled once, and not reported lost', async () => {
    await begin({ store: opened() }, [request('a')], { maxDepth: 3 })
    const held = await leaseOne(opened())
    cut()
    const discovered = [request('b', { depth: 1 })]
    const full = settlement(held, { discovered, items: [{ data: { n: 1 } }], counts: { bytes: 7 } })
    expect(await opened().frontier.settle([full])).toEqual(['settled'])
    expect(cutter?.cuts).toBe(1)
    const { done, known, items, counters } = await opened().frontier.stats(TASK)
    expect({ done, known, items, bytes: counters.bytes }).toEqual({ done: 1, known: 2, items: 1, bytes: 7 })
    expect(await opened().frontier.settle([full])).toEqual(['lost'])
    expect(await opened().verify()).toEqual([])
  })

  it('to a lease: the same leases are given, and no others', async () => {
    await begin({ store: opened() }, [request('a'), request('b'), request('c'), request('d')])
    cut()
    const leases = await leaseMany(opened(), { max: 2 })
    expect(leases.map(({ url, attempt }) => [url, attempt])).toEqual([
      ['http://h.test/a', 1],
      ['http://h.test/b', 1],
    ])
    expect(cutter?.cuts).toBe(1)
    expect((await opened().frontier.stats(TASK)).leased).toBe(2)
    expect(await opened().frontier.settle(leases.map((lease) => settlement(lease)))).toEqual(['settled', 'settled'])
  })

  it('to an addition: what was added is said to be added', async () => {
    await begin({ store: opened() }, [request('a')])
    cut()
    expect(await opened().frontier.add([request('a'), request('b')])).toEqual(['known', 'added'])
    expect(cutter?.cuts).toBe(1)
  })

  it('to a requeue: the count is right', async () => {
    await begin({ store: opened() }, [request('a'), request('b')])
    const leases = await leaseMany(opened())
    await opened().frontier.settle(leases.map((lease) => settlement(lease)))
    cut()
    expect(await opened().frontier.requeue({ task: TASK, state: 'done' })).toBe(2)
    expect(cutter?.cuts).toBe(1)
  })

  it('to many calls at once, again and again: everything is done exactly once', async () => {
    const pages = Array.from({ length: 200 }, (_, n) => request(`${n % 5}.test/${n}`))
    await begin({ store: opened() }, pages, { maxInFlightPerHost: 10 })
    for (let n = 0; ; n++) {
      if ((await opened().frontier.waitForWork({ tasks: [TASK] }, new AbortController().signal)) === 'finished') break
      if (n % 3 === 0) cut()
      const leases = await leaseMany(opened(), { max: 7 })
      const answers = await Promise.all(
        leases.map((lease, each) => {
          if (each === 3) cut()
          return opened().frontier.settle([settlement(lease, { items: [{ data: { url: lease.url } }] })])
        }),
      )
      expect(answers.flat().filter((answer) => answer !== 'settled')).toEqual([])
    }
    const { done, items } = await opened().frontier.stats(TASK)
    expect({ done, items }).toEqual({ done: 200, items: 200 })
    expect(cutter?.cuts).toBeGreaterThan(5)
    expect(await opened().verify()).toEqual([])
  })

  it('an owner that was taken for dead goes on: its leases are lost, itself is not', async () => {
    await begin({ store: opened() }, [request('a')])
    const held = await leaseOne(opened())
    await using other = await openRedisStore({ url: direct, clock: systemClock, random: systemRandom })
    await withRedis(direct, async (client, prefix) => {
      for (const owner of await client.smembers(`${prefix}owners`)) {
        const info = JSON.parse((await client.hget(`${prefix}w:${owner}`, 'info')) ?? '{}') as { name: string }
        await client.hset(`${prefix}w:${owner}`, 'info', JSON.stringify({ ...info, began: 'another time' }))
      }
    })
    expect((await leaseOne(other)).attempt).toBe(2)
    expect(await opened().frontier.settle([settlement(held)])).toEqual(['lost'])
    expect(await opened().frontier.add([request('b')])).toEqual(['added'])
    expect((await leaseOne(opened())).request.fingerprint).toBe(fingerprintOf('b'))
    expect(await opened().verify()).toEqual([])
  })
})
