/** The frontier over MongoDB's protocol: operations a second with 1, 4 and 16 worker processes, and what 100,000 hosts cost. Run: node --import jiti/register bench/frontier-mongodb.ts [pages] [url] */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { start } from '../scripts/services/mongodb.mjs'
import { systemClock } from '../src/core/clock.ts'
import type { StoredRequest } from '../src/core/request.ts'
import type { Lease, Settlement } from '../src/frontier/contract.ts'
import type { Store } from '../src/stores/contract.ts'
import { openMongodbStore } from '../src/stores/mongodb/store.ts'
import { systemRandom } from '../src/util/random.ts'

const TASK = 'bench'
const BATCH = 64
/** Links of a page that are new, and that are known already. */
const NEW_LINKS = 1
const KNOWN_LINKS = 4

function requestOf(n: number, hosts: number): StoredRequest {
  const hostKey = `h${n % hosts}.test`
  const url = `http://${hostKey}/some/section/page-${n}.html`
  const fingerprint = createHash('sha256').update(url).digest('base64url').slice(0, 16)
  return { task: TASK, url, fingerprint, hostKey, depth: Math.min(9, Math.floor(Math.log10(n + 1))), priority: 0 }
}

async function open(url: string, delayMs = 0): Promise<Store> {
  const store = await openMongodbStore({ url, clock: systemClock, random: systemRandom })
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

/** The steady state of a crawl: each page that is settled brings new and known URLs and an item; leases follow at once. */
async function crawl(
  store: Store,
  { pages, hosts, first }: { pages: number; hosts: number; first: number },
): Promise<void> {
  let made = first + 2 * BATCH
  const last = first + pages
  await store.frontier.add(Array.from({ length: 2 * BATCH }, (_, n) => requestOf(first + n, hosts)))
  let settled = 0
  let leases: readonly Lease[] = []
  while (settled < pages - 2 * BATCH) {
    const done = leases.map((lease) => {
      const found = Array.from({ length: NEW_LINKS }, () => (made < last ? [requestOf(made++, hosts)] : [])).flat()
      const known = Array.from({ length: KNOWN_LINKS }, (_, n) => requestOf(first + ((settled + n) % pages), hosts))
      return settlementOf(lease, [...found, ...known])
    })
    const [, next] = await Promise.all([
      store.frontier.settle(done),
      store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 }),
    ])
    settled += done.length
    leases = next
    if (
      leases.length === 0 &&
      (await store.frontier.waitForWork({ tasks: [TASK] }, AbortSignal.timeout(5000))) !== 'ready'
    )
      return
  }
}

async function runWorkers(url: string, workers: number, pages: number): Promise<void> {
  const each = Math.floor(pages / workers)
  const sinceMs = performance.now()
  const script = fileURLToPath(import.meta.url)
  const ends = await Promise.all(
    Array.from({ length: workers }, (_, n) =>
      promisify(execFile)(process.execPath, [
        '--import',
        'jiti/register',
        script,
        'worker',
        url,
        String(each),
        String(n),
      ]),
    ),
  )
  const seconds = Math.max(...ends.map(({ stdout }) => Number(stdout.split(' ')[0])))
  const perPage = (used: number): string => ((used / (workers * each)) * 1e6).toFixed(0)
  const perSecond = ((workers * each) / seconds) * 3
  console.log(
    `${workers} workers, 200 hosts, batches of ${BATCH}: ${workers * each} pages, ${perSecond.toFixed(0)} operations/s ` +
      `(add, lease, settle), ${(perSecond / 3).toFixed(0)} pages/s; with starting up ${((performance.now() - sinceMs) / 1000).toFixed(1)} s; ` +
      `CPU of a page: ${perPage(sum(ends, 1))} us in the workers`,
  )
}

function sum(ends: readonly { stdout: string }[], field: number): number {
  return ends.reduce((all, { stdout }) => all + Number(stdout.split(' ')[field]), 0)
}

async function work(url: string, pages: number, n: number): Promise<void> {
  const store = await open(url)
  const sinceMs = performance.now()
  const cpu = process.cpuUsage()
  await crawl(store, { pages, hosts: 200, first: n * 10_000_000 })
  const { user, system } = process.cpuUsage(cpu)
  console.log(`${(performance.now() - sinceMs) / 1000} ${(user + system) / 1e6}`)
  await store.close()
}

/** Lease cost with many hosts, each with its delay. */
async function manyHosts(url: string, hosts: number): Promise<void> {
  const store = await open(url, 1000)
  for (let from = 0; from < hosts; from += 5000) {
    await store.frontier.add(Array.from({ length: Math.min(5000, hosts - from) }, (_, n) => requestOf(from + n, hosts)))
    await store.frontier.add(
      Array.from({ length: Math.min(5000, hosts - from) }, (_, n) => requestOf(hosts + from + n, hosts)),
    )
  }
  const sinceMs = performance.now()
  let count = 0
  for (let call = 0; call < 200; call++) {
    const leases = await store.frontier.lease({ tasks: [TASK], max: BATCH, leaseMs: 60_000 })
    await store.frontier.settle(leases.map((lease) => settlementOf(lease, [])))
    count += leases.length
  }
  const ms = performance.now() - sinceMs
  console.log(
    `${hosts} hosts with a delay of 1 s: ${count} leases in 200 calls, ` +
      `${((ms * 1000) / Math.max(1, count)).toFixed(0)} us for lease and settle of one`,
  )
  await store.close()
}

/** A database of its own for each part. */
function placeOn(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/bench_${name}_${Date.now()}`
  return url.href
}

async function measure(server: string, pages: number): Promise<void> {
  for (const workers of [1, 4, 16]) await runWorkers(placeOn(server, `w${workers}`), workers, pages)
  for (const hosts of [1000, 10_000]) await manyHosts(placeOn(server, `h${hosts}`), hosts)
}

async function main(): Promise<void> {
  const pages = Number(process.argv[2] ?? 10_000)
  const given = process.argv[3]
  if (given !== undefined) {
    await measure(given, pages)
    return
  }
  const server = await start()
  try {
    await measure(server.url, pages)
  } finally {
    await server.stop()
  }
}

if (process.argv[2] === 'worker') await work(process.argv[3] ?? '', Number(process.argv[4]), Number(process.argv[5]))
else await main()
