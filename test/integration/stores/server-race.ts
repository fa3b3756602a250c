/** What several processes on one database server must keep to, whichever server it is. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { request, settings, TASK } from '../../../src/testing/suite/subject.ts'
import { openServerStore } from '../../support/server-store.ts'

export interface ServerRace {
  readonly name: string
  /** Undefined: there is none, which has been said aloud. */
  readonly server: string | undefined
  /** A place of its own for one test. */
  readonly fresh: (server: string) => Promise<Place>
  /** Starts a private server, to be killed and started again. */
  readonly start: () => Promise<{ readonly url: string; restart(): Promise<void>; stop(): Promise<void> }>
  /** Of each host, for the test that restarts it: enough that it is at work when it goes. */
  readonly restartPages: number
}

export interface Place {
  readonly url: string
  drop(): Promise<void>
}

const HOSTS = ['fast.test', 'quick.test', 'slow.test']
const DELAY_MS = 5
const HOUR_MS = 3_600_000

interface Line {
  readonly kind: 'leased' | 'settled' | 'lost' | 'end'
  readonly id: string
  readonly hostKey: string
  readonly leasedAtMs: number
}

interface Worker {
  readonly child: ChildProcess
  readonly lines: Line[]
  readonly over: Promise<Line[]>
  /** Resolves when it has told so many lines of this kind. */
  until(kind: Line['kind'], count: number): Promise<void>
}

const workers: Worker[] = []
const stores: { readonly store: Store; readonly place: Place }[] = []

interface WorkOptions {
  readonly url: string
  readonly pages: number | 'hold'
  readonly skewMs?: number
  readonly leaseMs?: number
}

function work({ url, pages, skewMs = 0, leaseMs = 30_000 }: WorkOptions): Worker {
  const script = fileURLToPath(new URL('server-worker.ts', import.meta.url))
  const args = ['--import', 'jiti/register', script, url, String(pages), String(skewMs), String(leaseMs)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: Line[] = []
  const watchers = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    for (const look of watchers) look()
  })
  const worker: Worker = {
    child,
    lines,
    over: new Promise((resolve) => child.once('close', () => resolve(lines))),
    until: (kind, count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (lines.filter((line) => line.kind === kind).length < count) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
  }
  workers.push(worker)
  return worker
}

interface Seeding {
  readonly place: Place
  readonly delayMs: number
}

async function seed({ place, delayMs }: Seeding): Promise<{ store: Store; url: string }> {
  const store = await openServerStore(place.url, systemClock)
  stores.push({ store, place })
  await store.frontier.openTask(settings({ delayMs, loopbackDelayMs: delayMs, maxInFlightPerHost: 3 }))
  await store.frontier.add(HOSTS.map((host) => request(`${host}/0`)))
  return { store, url: place.url }
}

async function expectWhole(store: Store, pages: number): Promise<void> {
  const { known, done, items, pending, leased } = await store.frontier.stats(TASK)
  expect({ known, done, items, pending, leased }).toEqual({
    known: pages,
    done: pages,
    items: pages,
    pending: 0,
    leased: 0,
  })
  expect(await store.verify()).toEqual([])
}

export function serverRace({ name, server, fresh, start, restartPages }: ServerRace): void {
  describe.skipIf(server === undefined)(`several processes on one ${name} server`, () => {
    afterEach(async () => {
      for (const { child } of workers.splice(0)) child.kill('SIGKILL')
      for (const { store, place } of stores.splice(0)) {
        await store.close().catch(() => undefined)
        await place.drop().catch(() => undefined)
      }
    })

    it('lease nothing twice, keep every host’s limits, and end by themselves, their clocks hours apart', async () => {
      const pages = 100
      const { store, url } = await seed({ place: await fresh(server ?? ''), delayMs: DELAY_MS })
      const logs = await Promise.all([0, HOUR_MS, -HOUR_MS].map((skewMs) => work({ url, pages, skewMs }).over))
      const leased = logs.flat().filter(({ kind }) => kind === 'leased')
      expect(logs.flat().filter(({ kind }) => kind === 'lost')).toEqual([])
      expect(leased.length).toBe(HOSTS.length * pages)
      expect(new Set(leased.map(({ id }) => id)).size).toBe(leased.length)
      expect(logs.map((log) => log.at(-1)?.id)).toEqual(['finished', 'finished', 'finished'])
      for (const host of HOSTS) {
        const starts = leased.filter(({ hostKey }) => hostKey === host).map(({ leasedAtMs }) => leasedAtMs)
        starts.sort((a, b) => a - b)
        expect(Math.min(...starts.slice(1).map((at, n) => at - (starts[n] ?? 0)))).toBeGreaterThanOrEqual(DELAY_MS)
      }
      await expectWhole(store, leased.length)
      expect((await store.frontier.workers()).length).toBe(1)
    }, 120_000)

    it('take over what a stopped one held; what it settles late is lost', async () => {
      const pages = 200
      const { store, url } = await seed({ place: await fresh(server ?? ''), delayMs: 0 })
      const stopped = work({ url, pages, leaseMs: 1500 })
      await stopped.until('leased', 20)
      stopped.child.kill('SIGSTOP')
      const others = [work({ url, pages, leaseMs: 1500 }), work({ url, pages, leaseMs: 1500 })]
      const logs = await Promise.all(others.map(({ over }) => over))
      expect(logs.map((log) => log.at(-1)?.id)).toEqual(['finished', 'finished'])
      await expectWhole(store, HOSTS.length * pages)
      stopped.child.kill('SIGCONT')
      const log = await stopped.over
      expect(log.at(-1)?.id).toBe('finished')
      const lines = [...logs.flat(), ...log]
      const settled = lines.filter(({ kind }) => kind === 'settled').map(({ id }) => id)
      expect(new Set(settled).size).toBe(settled.length)
      await expectWhole(store, HOSTS.length * pages)
    }, 120_000)

    it('give back at once what a killed one of this machine held', async () => {
      const { store, url } = await seed({ place: await fresh(server ?? ''), delayMs: 0 })
      const killed = work({ url, pages: 'hold', leaseMs: 600_000 })
      await killed.until('leased', HOSTS.length)
      const { frontier } = store
      expect(await frontier.lease({ tasks: [TASK], max: 10, leaseMs: 60_000 })).toEqual([])
      killed.child.kill('SIGKILL')
      await killed.over
      expect(await frontier.waitForWork({ tasks: [TASK] }, new AbortController().signal)).toBe('ready')
      const leases = await frontier.lease({ tasks: [TASK], max: 10, leaseMs: 60_000 })
      expect(leases.map(({ attempt }) => attempt)).toEqual([2, 2, 2])
      expect((await frontier.workers()).length).toBe(1)
      expect(await store.verify()).toEqual([])
    }, 60_000)

    it('ride out a server that is killed and started again, and lose and double nothing', async () => {
      const own = await start()
      try {
        const pages = restartPages
        const { store, url } = await seed({ place: await fresh(own.url), delayMs: 0 })
        // these workers do not renew: their leases outlast all that a busy machine may take to be back
        const three = [0, 1, 2].map(() => work({ url, pages, leaseMs: 150_000 }))
        await Promise.all(three.map((worker) => worker.until('settled', 40)))
        await own.restart()
        await Promise.all(three.map((worker) => worker.until('settled', 120)))
        await own.restart()
        const logs = await Promise.all(three.map(({ over }) => over))
        expect(logs.map((log) => log.at(-1)?.id)).toEqual(['finished', 'finished', 'finished'])
        const lines = logs.flat()
        expect(lines.filter(({ kind }) => kind === 'lost')).toEqual([])
        const leased = lines.filter(({ kind }) => kind === 'leased').map(({ id }) => id)
        expect(new Set(leased).size).toBe(leased.length)
        expect(leased.length).toBe(HOSTS.length * pages)
        await expectWhole(store, leased.length)
      } finally {
        for (const { child } of workers) child.kill('SIGKILL')
        for (const { store } of stores.splice(0)) await store.close().catch(() => undefined)
        await own.stop()
      }
    }, 180_000)
  })
}
