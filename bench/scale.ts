/** How the embedded frontier bears growth: known URLs, hosts, dead hosts. Run: node --import jiti/register bench/scale.ts */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/core/clock.ts'
import type { Clock } from '../src/core/clock.ts'
import type { Store } from '../src/stores/contract.ts'
import { openSqliteStore } from '../src/stores/sqlite/store.ts'
import { createFakeClock } from '../src/testing/fake-clock.ts'
import { systemRandom } from '../src/util/random.ts'
import { measureAmongDead } from './lib/scale-dead.ts'
import { measureHosts } from './lib/scale-hosts.ts'
import { measureKnown } from './lib/scale-known.ts'

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'known,hosts,dead' },
    /** Known URLs at which a page's cost is measured. */
    known: { type: 'string', default: '10000,100000,1000000,5000000' },
    /** Over how many hosts the known URLs are spread. */
    spread: { type: 'string', default: '1000' },
    hosts: { type: 'string', default: '1000,10000,100000' },
    /** Hosts that live; 99 times as many are dead. */
    living: { type: 'string', default: '10' },
  },
})

async function withStore(clock: Clock, work: (store: Store, dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'spoor-scale-'))
  const store = await openSqliteStore({ dir, clock, random: systemRandom })
  try {
    await work(store, dir)
  } finally {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

function numbersOf(text: string): readonly number[] {
  return text.split(',').map(Number)
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

async function measureKnownUrls(): Promise<void> {
  const hosts = Number(values.spread)
  console.log(
    `known URLs on ${hosts} hosts: cost of a page (one lease, one settlement, an item, a new and a known link)`,
  )
  await withStore(systemClock, async (store, dir) => {
    const points = await measureKnown(store, numbersOf(values.known), {
      hosts,
      onPoint: ({ known: count, page, added }) => {
        const { size } = statSync(join(dir, 'spoor.db'))
        console.log(
          `${String(count).padStart(9)}: ${page.cpuUs.toFixed(0)} us CPU, ${page.wallUs.toFixed(0)} us wall a page; ` +
            `${added.cpuUs.toFixed(1)} us CPU a URL added; ${(size / count).toFixed(0)} bytes a URL, RSS ${megabytes(process.memoryUsage().rss)} MB`,
        )
      },
    })
    const at = (count: number): number => points.find((point) => point.known === count)?.page.cpuUs ?? Number.NaN
    console.log(`5,000,000 : 100,000 = ${(at(5_000_000) / at(100_000)).toFixed(2)} (CPU; at most 2)`)
  })
}

async function measureManyHosts(): Promise<void> {
  console.log('hosts with a delay of 1 s each: cost of a page (one lease, one settlement)')
  for (const count of numbersOf(values.hosts)) {
    const clock = createFakeClock()
    await withStore(clock, async (store) => {
      const { page, most, least, closestMs } = await measureHosts(store, {
        hosts: count,
        delayMs: 1000,
        turns: 2,
        clock,
      })
      console.log(
        `${String(count).padStart(9)}: ${page.cpuUs.toFixed(0)} us CPU, ${page.wallUs.toFixed(0)} us wall a page; ` +
          `each host served ${least} to ${most} times, never within ${closestMs.toFixed(0)} ms`,
      )
    })
  }
}

async function measureDeadHosts(): Promise<void> {
  const living = Number(values.living)
  const base = { living, pagesPerHost: 100, limitMs: 90_000 }
  const alone = await measureAmongDead(base)
  console.log(`${living} living hosts alone: ${alone.pace.toFixed(2)} pages/s of each`)
  for (const death of ['refused', 'silent'] as const) {
    const { pace, met, whole } = await measureAmongDead({ ...base, dead: { hosts: living * 99, death } })
    const share = ((pace / alone.pace) * 100).toFixed(0)
    console.log(
      `among 99 times as many that are ${death}: ${share} % of that (at least 90); ${met} met, ${whole} fetched whole`,
    )
  }
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  known: measureKnownUrls,
  hosts: measureManyHosts,
  dead: measureDeadHosts,
}
for (const name of values.parts.split(',')) {
  const part = parts[name]
  if (part === undefined)
    throw new Error(`--parts: expected names out of ${Object.keys(parts).join(', ')}, found ${name}`)
  await part()
}
