import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request, settings, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { testDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { serviceUrl } from '../../support/services.ts'
import { startWorker } from './postgres-processes.ts'

const HOUR_MS = 3600 * 1000
const HOSTS = ['fast.test', 'quick.test', 'slow.test']
const PAGES = 100
const DELAY_MS = 5
const PLACES = 3

const server = serviceUrl('POSTGRES')

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server !== undefined) database = await testDatabase(server)
})
afterAll(() => database?.drop())

function given(): TestDatabase {
  if (database === undefined) throw new Error('Expected a database')
  return database
}

describe.skipIf(server === undefined)('several processes on one PostgreSQL server', () => {
  it('lease nothing twice and keep every host’s limits, with clocks an hour apart', { timeout: 300_000 }, async () => {
    const { url, open } = given()
    const { store } = await open()
    const places = { delayMs: DELAY_MS, loopbackDelayMs: DELAY_MS, maxInFlightPerHost: PLACES }
    await store.frontier.openTask(settings(places))
    await store.frontier.add(HOSTS.map((host) => request(`${host}/0`)))
    const workers = [-1, 0, 1].map((hours) => startWorker('work', url, String(PAGES), String(hours * HOUR_MS)))
    const codes = await Promise.all(workers.map(({ ended }) => ended))

    expect(codes).toEqual([0, 0, 0])
    const lines = workers.flatMap(({ told }) => told)
    const leased = lines.filter(({ kind }) => kind === 'leased')
    expect(lines.filter(({ kind }) => kind === 'lost')).toEqual([])
    expect(leased.every(({ attempt }) => attempt === 1)).toBe(true)
    expect(new Set(leased.map(({ id }) => id)).size).toBe(leased.length)
    expect(workers.filter(({ told }) => told.length > 0).length).toBeGreaterThan(1)
    for (const host of HOSTS) {
      const starts = leased.filter(({ hostKey }) => hostKey === host).map(({ leasedAtMs = 0 }) => leasedAtMs)
      starts.sort((a, b) => a - b)
      const gaps = starts.slice(1).map((at, n) => at - (starts[n] ?? 0))
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS)
    }
    const { known, done, items, pending, leased: left, counters } = await store.frontier.stats(TASK)
    const all = HOSTS.length * PAGES
    expect({ known, done, items, pending, left, bytes: counters.bytes }).toEqual({
      known: all,
      done: all,
      items: all,
      pending: 0,
      left: 0,
      bytes: all,
    })
    expect(leased.length).toBe(all)
    expect(await store.verify()).toEqual([])
    expect((await store.frontier.workers()).length).toBe(1)
    await store.close()
  })

  it('a worker that was stopped and comes back too late has lost its lease', { timeout: 300_000 }, async () => {
    const { url, open, reset } = given()
    await reset()
    const { store } = await open()
    const { frontier } = store
    await frontier.openTask(settings())
    await frontier.add([request('a')])
    const worker = startWorker('hold', url)
    await worker.next()
    worker.child.kill('SIGSTOP')
    const { signal } = new AbortController()
    expect(await frontier.waitForWork({ tasks: [TASK] }, signal)).toBe('ready')
    const [again] = await frontier.lease({ tasks: [TASK], max: 9, leaseMs: 60_000 })
    expect([again?.id, again?.attempt]).toEqual([worker.told[0]?.id, 2])
    worker.child.kill('SIGCONT')
    worker.child.stdin?.write('settle\n')
    expect(await worker.ended).toBe(0)
    expect(worker.told[1]).toEqual({ kind: 'lost', id: again?.id, renewed: false })
    expect(again === undefined ? [] : await frontier.settle([settlement(again)])).toEqual(['settled'])
    expect((await frontier.stats(TASK)).items).toBe(0)
    expect(await store.verify()).toEqual([])
    await store.close()
  })

  it('what a killed worker held comes back at once, to whoever is at work', { timeout: 300_000 }, async () => {
    const { url, open, reset } = given()
    await reset()
    const { store } = await open()
    const { frontier } = store
    await frontier.openTask(settings())
    await frontier.add([request('a')])
    const worker = startWorker('hold', url)
    await worker.next()
    worker.child.kill('SIGKILL')
    await worker.ended
    // its lease of a second may run out, but it is not what is waited for: the answer is the same
    expect(await frontier.waitForWork({ tasks: [TASK] }, new AbortController().signal)).toBe('ready')
    const [again] = await frontier.lease({ tasks: [TASK], max: 9, leaseMs: 60_000 })
    expect(again?.attempt).toBe(2)
    // whether its lease ran out or its death was noticed first, the dead one is no worker in the end
    await expect
      .poll(async () => (await frontier.workers()).filter(({ alive }) => alive).length, { timeout: 120_000 })
      .toBe(1)
    await store.close()
  })
})
