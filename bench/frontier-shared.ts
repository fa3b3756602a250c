/**
 * The frontier alone over a shared store: rate and processor time with 1, 4 and 16 worker processes, and a lease among many hosts.
 * Run: node --import jiti/register bench/frontier-shared.ts postgres|redis|mongodb|URL [pages] [hosts]. A name starts a private server.
 */

import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { start as startMongodb } from '../scripts/services/mongodb.mjs'
import { start as startPostgres } from '../scripts/services/postgres.mjs'
import { start as startRedis } from '../scripts/services/redis.mjs'
import { systemClock } from '../src/core/clock.ts'
import type { StoredRequest } from '../src/core/request.ts'
import type { Lease, Settlement } from '../src/frontier/contract.ts'
import type { Store } from '../src/stores/contract.ts'
import { openMongodbStore } from '../src/stores/mongodb/store.ts'
import { openPostgresStore } from '../src/stores/postgres/store.ts'
import { openRedisStore } from '../src/stores/redis/store.ts'
import { systemRandom } from '../src/util/random.ts'

const TASK = 'bench'
const BATCH = 64
const HOSTS = 200
/** Links of a page that are new, and that are known already. */
const NEW_LINKS = 1
const KNOWN_LINKS = 5
const WORKERS = [1, 4, 16]
/** A second of the kernel's. */
const CLOCK_TICKS = 100
const SERVER_COMMAND = /postgres\0-D|redis-server|ferretdb/

const SERVERS = { postgres: startPostgres, redis: startRedis, mongodb: startMongodb } as const
const OPENERS = { 'postgres:': openPostgresStore, 'redis:': openRedisStore, 'mongodb:': openMongodbStore } as const

function requestOf(name: string, n: number, hosts: number): StoredRequest {
  const hostKey = `h${n % hosts}.test`
  const url = `http://${hostKey}/some/section/page-${name}-${n}.html`
  const fingerprint = createHash('sha256').update(url).digest('base64url').slice(0, 16)
  return { task: TASK, url, fingerprint, hostKey, depth: Math.min(9, Math.floor(Math.log10(n + 1))), priority: 0 }
}

async function open(url: string, delayMs = 0): Promise<Store> {
  const { protocol } = new URL(url)
  const openStore = OPENERS[(protocol === 'postgresql:' ? 'postgres:' : protocol) as keyof typeof OPENERS]
  if (openStore === undefined) throw new Error(`Expected a postgres, redis or mongodb URL, found ${protocol}`)
  const store = await openStore({ url, clock: systemClock, random: systemRandom })
  const places = { delayMs, loopbackDelayMs: 0, maxInFlightPerHost: 64 }
  await store.frontier.openTask({ name: TASK, order: 'bfs', ...places, identity: 'bench' })
  return store
}

function settlementOf(lease: Lease, discovered: readonly StoredRequest[]): Settlement {
  const data = { url: lease.url, status: 200, depth: lease.request.depth, title: 'A page', links: 40, bytes: 10_000 }
  return {
    lease,
    outcome: { kind: 'done', status: 200, fromCache: false },
    discovered,
    items: [{ data, isPage: true }],
    host: { kind: 'answered' },
    counts: { bytes: 10_000, requests: 1 },
  }
}

/** Of one worker. */
interface Done {
  readonly settled: number
  /** Wall clock of the machine, so that starting up is left out of the rate of all together. */
  readonly fromMs: number
  readonly toMs: number
  readonly cpuUs: number
}

/** The steady state of a crawl: each page that is settled brings new and known URLs and an item; leases follow at once. */
async function work(url: string, pages: number): Promise<Done> {
  const store = await open(url)
  const name = randomUUID().slice(0, 8)
  let made = 0
  const next = (): StoredRequest => requestOf(name, made++, HOSTS)
  await store.frontier.add(Array.from({ length: HOSTS }, next))
  const fromMs = Date.now()
  const since = process.cpuUsage()
  let settled = 0
  let leases: readonly Lease[] = []
  while (settled < pages) {
    const done = leases.map((lease) => {
      const found = Array.from({ length: NEW_LINKS }, next)
      const known = Array.from({ length: KNOWN_LINKS }, (_, n) => requestOf(name, (made * 7 + n) % made, HOSTS))
      return settlementOf(lease, [...found, ...known])
    })
    const [, more] = await Promise.all([
      done.length > 0 ? store.frontier.settle(done) : undefined,
      store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 }),
    ])
    settled += done.length
    leases = more
    // others may hold all there is: as in a crawl, whoever gets nothing waits
    if (leases.length === 0) await store.frontier.waitForWork({ tasks: [TASK] }, AbortSignal.timeout(5000))
  }
  const { user, system } = process.cpuUsage(since)
  const toMs = Date.now()
  await store.close()
  return { settled, fromMs, toMs, cpuUs: user + system }
}

interface Server {
  readonly url: string
  /** Its first process on this machine; undefined: it is elsewhere. */
  readonly root: string | undefined
}

/** The same server under a prefix of its own: nothing of the last part is in the way. */
function placeOn({ url }: Server): string {
  return `${url}${url.includes('?') ? '&' : '?'}prefix=b${randomUUID().slice(0, 8)}_`
}

async function workTogether(server: Server, workers: number, pages: number): Promise<void> {
  const url = placeOn(server)
  const store = await open(url)
  const each = Math.ceil(pages / workers)
  const cpuBefore = cpuSecondsOf(server)
  const runs = await Promise.all(
    Array.from({ length: workers }, async () => {
      const args = ['--import', 'jiti/register', fileURLToPath(import.meta.url), 'work', url, String(each)]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      return JSON.parse(stdout) as Done
    }),
  )
  const cpuSeconds = cpuSecondsOf(server) - cpuBefore
  const settled = runs.reduce((sum, run) => sum + run.settled, 0)
  const seconds = (Math.max(...runs.map(({ toMs }) => toMs)) - Math.min(...runs.map(({ fromMs }) => fromMs))) / 1000
  const cpuUs = runs.reduce((sum, run) => sum + run.cpuUs, 0) / settled
  const problems = await store.verify()
  await store.close()
  const ofServer = server.root === undefined ? '' : `, ${((cpuSeconds * 1e6) / settled).toFixed(0)} us of the server`
  console.log(
    `${workers} workers, ${HOSTS} hosts, batches of ${BATCH}: ${settled} pages, ${(settled / seconds).toFixed(0)} pages/s ` +
      `(${((settled * 3) / seconds).toFixed(0)} operations/s); CPU of a page: ${cpuUs.toFixed(0)} us of the workers${ofServer}; ` +
      `${problems.length} problems`,
  )
}

/** Every host has work and a delay of a second: the next batch of hosts must be found among all of them. */
async function leaseAmong(server: Server, hosts: number): Promise<void> {
  const store = await open(placeOn(server), 1000)
  const addedMs = performance.now()
  for (let n = 0; n < 2 * hosts; n += 2000) {
    const count = Math.min(2000, 2 * hosts - n)
    await store.frontier.add(Array.from({ length: count }, (_, i) => requestOf('x', n + i, hosts)))
  }
  const addSeconds = (performance.now() - addedMs) / 1000
  const sinceMs = performance.now()
  let count = 0
  for (let call = 0; call < 100; call++) {
    const leases = await store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 })
    await store.frontier.settle(leases.map((lease) => settlementOf(lease, [])))
    count += leases.length
  }
  const us = ((performance.now() - sinceMs) * 1000) / Math.max(1, count)
  console.log(
    `${hosts} hosts with a delay of 1 s: ${((2 * hosts) / addSeconds).toFixed(0)} URLs/s added; ` +
      `${count} leases in 100 calls, ${us.toFixed(0)} us for lease and settle of one`,
  )
  await store.close()
}

interface ProcessLine {
  readonly parent: string
  readonly cpuSeconds: number
  readonly command: string
}

/** All processes of this machine. Linux only: elsewhere none. */
function processTable(): ReadonlyMap<string, ProcessLine> {
  if (process.platform !== 'linux') return new Map()
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return new Map(pids.flatMap((pid) => processLine(pid)))
}

function processLine(pid: string): [string, ProcessLine][] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // own time, and that of children that have ended: a server process of PostgreSQL ends with its connection
    const cpuSeconds = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) / CLOCK_TICKS
    return [[pid, { parent: fields[1] ?? '', cpuSeconds, command }]]
  } catch {
    return [] // it has just ended
  }
}

/** Processor time of the server and of what it has started. */
function cpuSecondsOf({ root }: Server): number {
  const table = processTable()
  const isOurs = (pid: string): boolean => pid === root || (table.has(pid) && isOurs(table.get(pid)?.parent ?? ''))
  return [...table].reduce(
    (sum, [pid, { cpuSeconds }]) => sum + (root !== undefined && isOurs(pid) ? cpuSeconds : 0),
    0,
  )
}

async function measure(server: Server, [pages = '20000', hosts = '100000']: readonly string[]): Promise<void> {
  for (const workers of WORKERS) await workTogether(server, workers, Number(pages))
  for (const count of [1000, Number(hosts)]) await leaseAmong(server, count)
}

async function main(): Promise<void> {
  const [what = '', ...rest] = process.argv.slice(2)
  if (what === 'work') {
    const [url = '', pages = '0'] = rest
    console.log(JSON.stringify(await work(url, Number(pages))))
    return
  }
  const begin = SERVERS[what as keyof typeof SERVERS]
  if (begin === undefined) {
    await measure({ url: what, root: undefined }, rest)
    return
  }
  const before = processTable()
  const server = await begin()
  const root = [...processTable()].find(([pid, { command }]) => !before.has(pid) && SERVER_COMMAND.test(command))?.[0]
  try {
    await measure({ url: server.url, root }, rest)
  } finally {
    await server.stop()
  }
}

await main()
