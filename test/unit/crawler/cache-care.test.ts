import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheStore } from '../../../src/cache/contract.ts'
import { cacheKeyOf } from '../../../src/cache/key.ts'
import { CrawlError } from '../../../src/core/errors.ts'
import { startCacheCare } from '../../../src/crawler/cache-care.ts'
import { openSqliteCache } from '../../../src/stores/sqlite-cache/store.ts'
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

let dir: string
let clock: FakeClock
let store: CacheStore

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'spoor-care-'))
  clock = createFakeClock()
  store = await openSqliteCache({ dir, clock })
})
afterEach(async () => {
  await store.close()
  await rm(dir, { recursive: true, force: true })
})

async function put(url: string, ageDays: number): Promise<void> {
  const atMs = clock.nowMs() - ageDays * DAY_MS
  const entry = { key: cacheKeyOf({ url }), url, method: 'GET', status: 200, headers: [], wireBytes: 4 }
  await store.put({ ...entry, fetchedAtMs: atMs, checkedAtMs: atMs }, Buffer.from('body'))
}

async function kept(): Promise<readonly string[]> {
  return (await store.list({})).entries.map(({ url }) => new URL(url).pathname.slice(1)).toSorted()
}

const failing = (error: unknown): void => {
  throw error
}

describe('forgetting while a crawl runs', () => {
  it('leaves what has expired as long again, since its server may still confirm it', async () => {
    for (const days of [1, 39, 41, 79, 81]) await put(`http://a.test/${days}`, days)
    const care = startCacheCare({ store, clock, ttlMs: 40 * DAY_MS, onFault: failing })
    await clock.advance(MINUTE_MS)
    await care.finish(true)
    expect(await kept()).toEqual(['1', '39', '41', '79'])
    expect(clock.waiting).toBe(0)
  })

  it('takes a short TTL for a wish of this crawl, not for leave to delete what others keep', async () => {
    for (const days of [1, 29, 31]) await put(`http://a.test/${days}`, days)
    await startCacheCare({ store, clock, ttlMs: 0, onFault: failing }).finish(true)
    expect(await kept()).toEqual(['1', '29'])
  })

  it('ends without another pass when the crawl was stopped', async () => {
    await put('http://a.test/old', 100)
    const care = startCacheCare({ store, clock, ttlMs: DAY_MS, onFault: failing })
    await care.finish(false)
    expect(await kept()).toEqual(['old'])
    expect(clock.waiting).toBe(0)
  })

  it('tells a fault and goes on', async () => {
    const faults: unknown[] = []
    let passes = 0
    const broken: Pick<CacheStore, 'prune'> = {
      prune: () => {
        passes += 1
        return Promise.reject(new CrawlError('STORE_BUSY'))
      },
    }
    const care = startCacheCare({ store: broken, clock, ttlMs: DAY_MS, onFault: (error) => faults.push(error) })
    await clock.advance(2 * MINUTE_MS)
    await care.finish(true)
    expect(passes).toBe(3)
    expect(faults).toHaveLength(3)
  })
})
