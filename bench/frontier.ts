/** The frontier alone, on disk: operations a second, and what two million known URLs cost. Run: node --import jiti/register bench/frontier.ts [pages] [known] */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { systemClock } from '../src/core/clock.ts'
import type { StoredRequest } from '../src/core/request.ts'
import type { Lease, Settlement } from '../src/frontier/contract.ts'
import type { Store } from '../src/stores/contract.ts'
import { openSqliteStore } from '../src/stores/sqlite/store.ts'
import { systemRandom } from '../src/util/random.ts'

const TASK = 'bench'
const TARGET_PER_SECOND = 40_000
const TARGET_RSS_MB = 250
const TARGET_OPEN_MS = 2000

const pagesToCrawl = Number(process.argv[2] ?? 200_000)
const urlsToKnow = Number(process.argv[3] ?? 2_000_000)
const dir = mkdtempSync(join(tmpdir(), 'spoor-bench-'))

function requestOf(n: number, hosts: number): StoredRequest {
  const hostKey = `h${n % hosts}.test`
  const url = `http://${hostKey}/some/section/page-${n}.html`
  const fingerprint = createHash('sha256').update(url).digest('base64url').slice(0, 16)
  return { task: TASK, url, fingerprint, hostKey, depth: Math.min(9, Math.floor(Math.log10(n + 1))), priority: 0 }
}

function open(): Promise<Store> {
  return openSqliteStore({ dir, clock: systemClock, random: systemRandom })
}

async function begin(store: Store): Promise<void> {
  await store.frontier.openTask({
    name: TASK,
    order: 'bfs',
    delayMs: 0,
    loopbackDelayMs: 0,
    maxInFlightPerHost: 64,
    identity: 'bench',
  })
}

interface Measured {
  readonly seconds: number
  readonly cpuUs: number
}

async function measure(run: () => Promise<void>): Promise<Measured> {
  const sinceMs = performance.now()
  const since = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(since)
  return { seconds: (performance.now() - sinceMs) / 1000, cpuUs: user + system }
}

/** The steady state of a crawl: each page that is settled brings one new URL and one item; leases follow at once. */
async function crawl(
  store: Store,
  { pages, hosts, batch }: { pages: number; hosts: number; batch: number },
): Promise<number> {
  let made = Math.max(batch * 2, hosts * 2)
  await store.frontier.add(Array.from({ length: made }, (_, n) => requestOf(n, hosts)))
  let settled = 0
  let leases: readonly Lease[] = []
  while (settled < pages) {
    const done = leases.map((lease): Settlement => {
      const discovered = made < pages ? [requestOf(made++, hosts)] : []
      const data = {
        url: lease.url,
        status: 200,
        depth: lease.request.depth,
        title: 'A page',
        links: 40,
        bytes: 10_000,
      }
      return {
        lease,
        outcome: { kind: 'done', status: 200, fromCache: false },
        discovered,
        items: [{ data, isPage: true }],
        host: { kind: 'answered' },
        counts: { bytes: 10_000, requests: 1 },
      }
    })
    const [, next] = await Promise.all([
      store.frontier.settle(done),
      store.frontier.lease({ tasks: [TASK], max: batch, leaseMs: 60_000 }),
    ])
    settled += done.length
    leases = next
    if (leases.length === 0 && done.length === 0) break
  }
  return settled
}

async function grow(store: Store, { from, to, hosts }: { from: number; to: number; hosts: number }): Promise<void> {
  for (let at = from; at < to; at += 1000) {
    await store.frontier.add(Array.from({ length: Math.min(1000, to - at) }, (_, n) => requestOf(at + n, hosts)))
  }
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

async function main(): Promise<void> {
  for (const { hosts, batch } of [
    { hosts: 1, batch: 32 },
    { hosts: 1, batch: 64 },
    { hosts: 200, batch: 64 },
  ]) {
    rmSync(dir, { recursive: true, force: true })
    const store = await open()
    await begin(store)
    let pages = 0
    const { seconds, cpuUs } = await measure(async () => {
      pages = await crawl(store, { pages: pagesToCrawl, hosts, batch })
    })
    const perSecond = (pages * 3) / seconds
    console.log(
      `${hosts} hosts, batches of ${batch}: ${pages} pages, ${perSecond.toFixed(0)} operations/s ` +
        `(${(perSecond / TARGET_PER_SECOND).toFixed(2)} of the target), ${(cpuUs / pages).toFixed(1)} us CPU a page`,
    )
    await store.close()
  }
  rmSync(dir, { recursive: true, force: true })
  const store = await open()
  await begin(store)
  const { seconds, cpuUs } = await measure(() => grow(store, { from: 0, to: urlsToKnow, hosts: 1000 }))
  const size = statSync(join(dir, 'spoor.db')).size
  console.log(
    `${urlsToKnow} URLs added: ${(urlsToKnow / seconds).toFixed(0)} URLs/s, ${(cpuUs / urlsToKnow).toFixed(1)} us CPU each, ` +
      `${(size / urlsToKnow).toFixed(0)} bytes each, RSS ${megabytes(process.memoryUsage().rss)} MB (at most ${TARGET_RSS_MB})`,
  )
  await store.close()
  let reopened: Store | undefined
  const opening = await measure(async () => {
    reopened = await open()
    await begin(reopened)
    await reopened.frontier.lease({ tasks: [TASK], max: 64, leaseMs: 60_000 })
  })
  console.log(`opened and first leases after ${(opening.seconds * 1000).toFixed(0)} ms (at most ${TARGET_OPEN_MS})`)
  if (reopened !== undefined) {
    await crawl(reopened, { pages: 20_000, hosts: 1000, batch: 64 })
    console.log(`after 20,000 more pages: RSS ${megabytes(process.memoryUsage().rss)} MB (at most ${TARGET_RSS_MB})`)
    await reopened.close()
  }
  rmSync(dir, { recursive: true, force: true })
}

await main()
