/**
 * The frontier over PostgreSQL: pages a second with 1, 4 and 16 processes, and the cost of a lease among many hosts.
 * Run: node --import jiti/register bench/frontier-postgres.ts [pages] [hosts]. Starts a private server, or uses SPOOR_TEST_POSTGRES_URL.
 */

import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { start } from '../scripts/services/postgres.mjs'
import { systemClock } from '../src/core/clock.ts'
import type { StoredRequest } from '../src/core/request.ts'
import type { Lease, Settlement } from '../src/frontier/contract.ts'
import type { Store } from '../src/stores/contract.ts'
import { openPostgresStore } from '../src/stores/postgres/store.ts'
import { systemRandom } from '../src/util/random.ts'

const TASK = 'bench'
const BATCH = 64
const HOSTS = 200
const LINKS_KNOWN = 5

function requestOf(name: string, hosts: number, n: number): StoredRequest {
  const hostKey = `h${n % hosts}.test`
  const url = `http://${hostKey}/some/section/page-${name}-${n}.html`
  const fingerprint = createHash('sha256').update(url).digest('base64url').slice(0, 16)
  return { task: TASK, url, fingerprint, hostKey, depth: Math.min(9, Math.floor(Math.log10(n + 1))), priority: 0 }
}

function open(url: string): Promise<Store> {
  return openPostgresStore({ url, clock: systemClock, random: systemRandom })
}

function openTask(store: Store, delayMs: number): Promise<void> {
  const task = { name: TASK, order: 'bfs', identity: 'bench', maxInFlightPerHost: 64 } as const
  return store.frontier.openTask({ ...task, delayMs, loopbackDelayMs: delayMs })
}

/** The steady state of a crawl: each page brings one new URL, a few known ones, and one item; leases follow at once. */
interface Done {
  readonly settled: number
  readonly seconds: number
  /** Of the worker alone, without the server. */
  readonly cpuUs: number
}

async function work(url: string, pages: number, hosts: number): Promise<Done> {
  const store = await open(url)
  const name = randomUUID().slice(0, 8)
  let made = 0
  const next = (): StoredRequest => requestOf(name, hosts, made++)
  await openTask(store, 0)
  await store.frontier.add(Array.from({ length: Math.max(BATCH * 2, hosts) }, next))
  const sinceMs = performance.now()
  const since = process.cpuUsage()
  let settled = 0
  let leases: readonly Lease[] = []
  while (settled < pages) {
    const done = leases.map((lease): Settlement => {
      const known = Array.from({ length: LINKS_KNOWN }, (_, n) => requestOf(name, hosts, (made * 7 + n) % made))
      const data = { url: lease.url, status: 200, depth: lease.request.depth, title: 'A page', links: 40 }
      return {
        lease,
        outcome: { kind: 'done', status: 200, fromCache: false },
        discovered: [next(), ...known],
        items: [{ data, isPage: true }],
        host: { kind: 'answered' },
        counts: { bytes: 10_000, requests: 1 },
      }
    })
    const [, more] = await Promise.all([
      store.frontier.settle(done),
      store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 }),
    ])
    settled += done.length
    leases = more
  }
  const seconds = (performance.now() - sinceMs) / 1000
  const { user, system } = process.cpuUsage(since)
  await store.close()
  return { settled, seconds, cpuUs: user + system }
}

async function workTogether(
  server: string,
  { workers, pages, hosts }: { workers: number; pages: number; hosts: number },
): Promise<void> {
  const url = `${server}?prefix=b${randomUUID().slice(0, 8)}_`
  const store = await open(url)
  const each = Math.ceil(pages / workers)
  const file = fileURLToPath(import.meta.url)
  const runs = await Promise.all(
    Array.from({ length: workers }, async () => {
      const args = ['--import', 'jiti/register', file, 'work', url, String(each), String(hosts)]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      return JSON.parse(stdout) as Done
    }),
  )
  const settled = runs.reduce((sum, run) => sum + run.settled, 0)
  const seconds = Math.max(...runs.map((run) => run.seconds))
  const perSecond = settled / seconds
  const cpuUs = runs.reduce((sum, run) => sum + run.cpuUs, 0) / settled
  const problems = await store.verify()
  console.log(
    `${workers} processes, ${hosts} hosts, batches of ${BATCH}: ${perSecond.toFixed(0)} pages/s, ` +
      `${(perSecond * 3).toFixed(0)} operations/s, ${cpuUs.toFixed(0)} us CPU of the workers a page, ${problems.length} problems`,
  )
  await store.close()
}

/** Every host has work and a delay of a second: the next batch of hosts must be found among all of them. */
async function leaseAmong(server: string, hosts: number): Promise<void> {
  const url = `${server}?prefix=b${randomUUID().slice(0, 8)}_`
  const store = await open(url)
  await openTask(store, 1000)
  const addedMs = performance.now()
  for (let n = 0; n < hosts; n += 1000) {
    await store.frontier.add(
      Array.from({ length: Math.min(1000, hosts - n) * 3 }, (_, i) =>
        requestOf('x', hosts, n + (i % 1000) + hosts * Math.floor(i / 1000)),
      ),
    )
  }
  const addSeconds = (performance.now() - addedMs) / 1000
  let leased = 0
  let leaseMs = 0
  let settleMs = 0
  for (let round = 0; round < 200; round++) {
    const beforeMs = performance.now()
    const leases = await store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 })
    const betweenMs = performance.now()
    await store.frontier.settle(
      leases.map((lease) => ({
        lease,
        outcome: { kind: 'done', status: 200, fromCache: false },
        discovered: [],
        items: [],
        host: { kind: 'answered' },
      })),
    )
    leased += leases.length
    leaseMs += betweenMs - beforeMs
    settleMs += performance.now() - betweenMs
  }
  console.log(
    `${hosts} hosts: ${((hosts * 3) / addSeconds).toFixed(0)} URLs/s added; of ${leased} leases in batches of ${BATCH}, ` +
      `${((leaseMs / leased) * 1000).toFixed(0)} us each to lease, ${((settleMs / leased) * 1000).toFixed(0)} us to settle`,
  )
  await store.close()
}

async function main(): Promise<void> {
  const [command = '', ...rest] = process.argv.slice(2)
  if (command === 'work') {
    const [url = '', pages = '0', hosts = '1'] = rest
    console.log(JSON.stringify(await work(url, Number(pages), Number(hosts))))
    return
  }
  const given = process.env['SPOOR_TEST_POSTGRES_URL']
  const server = given === undefined ? await start() : { url: given, stop: () => Promise.resolve() }
  try {
    const pages = Number(command || 20_000)
    for (const workers of [1, 4, 16]) await workTogether(server.url, { workers, pages, hosts: HOSTS })
    await workTogether(server.url, { workers: 4, pages, hosts: 1 })
    for (const hosts of [1000, Number(rest[0] ?? 100_000)]) await leaseAmong(server.url, hosts)
  } finally {
    await server.stop()
  }
}

await main()
