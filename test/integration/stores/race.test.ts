import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openSqliteStore } from '../../../src/stores/sqlite/store.ts'
import { request, settings, TASK } from '../../../src/testing/suite/subject.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { runTogether } from './race-start.ts'

const WORKERS = 4
const HOSTS = ['fast.test', 'quick.test', 'slow.test']
const PAGES = 150
const DELAY_MS = 5
const PLACES = 3

interface Line {
  readonly kind: 'leased' | 'settled' | 'lost'
  readonly id: string
  readonly hostKey: string
  /** Store clock. */
  readonly leasedAtMs: number
  /** The clock that all processes of the machine share: when a lease had come, when its settlement was handed in. */
  readonly atMs: number
}

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'spoor-race-'))
})
afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
})

async function workTogether(): Promise<Line[][]> {
  const worker = fileURLToPath(new URL('race-worker.ts', import.meta.url))
  const args = ['--import', 'jiti/register', worker, dir, String(PAGES)]
  const told = await runTogether(Array.from({ length: WORKERS }, () => args))
  return told.map((lines) => lines.map((line) => JSON.parse(line) as Line))
}

/** A place is taken from before its worker has the lease until after the worker has handed the settlement in. */
function mostInFlight(lines: readonly Line[]): number {
  const steps = lines.map(({ kind, atMs }) => ({ atMs, by: kind === 'leased' ? 1 : -1 }))
  let now = 0
  let most = 0
  for (const { by } of steps.toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    now += by
    most = Math.max(most, now)
  }
  return most
}

it('four processes on one file lease nothing twice and keep every host’s limits', { timeout: 300_000 }, async () => {
  const places = { delayMs: DELAY_MS, loopbackDelayMs: DELAY_MS, maxInFlightPerHost: PLACES }
  const store = await openSqliteStore({ dir, clock: systemClock, random: systemRandom })
  await store.frontier.openTask(settings(places))
  await store.frontier.add(HOSTS.map((host) => request(`${host}/0`)))
  const logs = await workTogether()
  const lines = logs.flat()
  const leased = lines.filter(({ kind }) => kind === 'leased')

  expect(lines.filter(({ kind }) => kind === 'lost')).toEqual([])
  expect(leased.length).toBe(HOSTS.length * PAGES)
  expect(new Set(leased.map(({ id }) => id)).size).toBe(leased.length)
  expect(logs.filter((log) => log.length > 0).length).toBeGreaterThan(1)
  // else none of the limits below was ever put to the test
  expect(mostInFlight(lines)).toBeGreaterThan(PLACES)

  for (const host of HOSTS) {
    const starts = leased.filter(({ hostKey }) => hostKey === host).map(({ leasedAtMs }) => leasedAtMs)
    starts.sort((a, b) => a - b)
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS)
    const inFlight = mostInFlight(lines.filter(({ hostKey }) => hostKey === host))
    expect(inFlight).toBeLessThanOrEqual(PLACES)
  }

  const { known, done, items, pending, leased: left } = await store.frontier.stats(TASK)
  expect({ known, done, items, pending, left }).toEqual({
    known: leased.length,
    done: leased.length,
    items: leased.length,
    pending: 0,
    left: 0,
  })
  expect(await store.verify()).toEqual([])
  expect((await store.frontier.workers()).length).toBe(1)
  await store.close()
})
