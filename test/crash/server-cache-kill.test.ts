/** The download cache on servers after kill -9 of its writers: pages are whole or not there, and what they left goes. */

import { describe, expect, it } from 'vitest'
import { cacheKeyOf } from '../../src/cache/key.ts'
import { PART_BYTES, UPLOAD_MS } from '../../src/cache/tables/tables.ts'
import type { CacheSuiteSubject } from '../../src/testing/cache-suite.ts'
import { listAll } from '../../src/testing/cache/subject.ts'
import { type Random, seededRandom } from '../../src/util/random.ts'
import { startCacheWriter } from '../support/cache-writer.ts'
import { type ServerCache, serverCacheSubject } from '../support/server-cache.ts'
import { cachePage, LARGE_BYTES, WRITES_AT_ONCE } from '../support/server-cache-pages.ts'
import { CACHE_SERVERS } from '../support/server-caches.ts'

const MB = 1024 * 1024
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)

interface Scene {
  readonly cache: ServerCache
  readonly subject: CacheSuiteSubject
  readonly random: Random
}

describe.each(CACHE_SERVERS)('a writer of the download cache on $kind that is killed', ({ server, make }) => {
  const test = it.skipIf(server === undefined)
  const inScene = async (work: (scene: Scene) => Promise<void>, maxBytes?: number): Promise<void> => {
    const cache = await make(maxBytes)
    const subject = await serverCacheSubject(cache)
    try {
      await work({ cache, subject, random: seededRandom(seed) })
    } finally {
      await subject.dispose()
    }
  }

  test(
    `leaves pages whole or not at all, and nothing else once its time is up (seed ${seed})`,
    () =>
      inScene(async (scene) => {
        const numbers: number[] = []
        for (let round = 0, cut = 0; cut < 3; round += 1) {
          expect(round, 'rounds without a page that was cut off').toBeLessThan(15)
          const before = (await scene.cache.uploads()).length
          numbers.push(...(await fillAndKill(scene, round * 1000)))
          if ((await scene.cache.uploads()).length > before) cut += 1
        }
        await expectTrueStats(scene)
        await expectSwept(scene)
        for (const number of numbers) expect(await stateOf(scene, number), `page ${number}`).toBe('whole')
        await expectTrueStats(scene)
        for (const entry of await listAll(scene.subject.store, {}, 100)) await scene.subject.store.delete(entry)
        const nothing = { pages: 0, blobs: 0, bodyBytes: 0, packedBytes: 0, looseParts: 0, uploads: 0 }
        expect(await scene.cache.contents()).toEqual(nothing)
        await expectTrueStats(scene)
      }),
    180_000,
  )

  test('is held by the cap like any other, and so are those that come after it', () => {
    const cap = 8 * MB
    return inScene(async ({ cache, subject, random }) => {
      const { store } = subject
      const writer = startCacheWriter({ url: cache.url, nowMs: subject.nowMs(), from: 0, maxBytes: cap })
      await writer.waitFor(44 + Math.floor(random() * 12))
      await writer.kill()
      // those that were under way when it was seen to be too large
      const slack = WRITES_AT_ONCE * LARGE_BYTES + 2 * MB
      expect((await cache.contents()).packedBytes).toBeLessThan(1.1 * cap + slack)
      await subject.advance(UPLOAD_MS + 60_000)
      await store.prune({ maxBytes: cap })
      const pruned = await cache.contents()
      expect(pruned).toMatchObject({ looseParts: 0, uploads: 0 })
      expect(pruned.packedBytes).toBeLessThanOrEqual(cap)
      expect((await store.stats()).diskBytes).toBeLessThanOrEqual(cap)
      for (let number = 1000; number < 1016; number += 1) await put(subject, number)
      expect(await stateOf({ subject }, 1015)).toBe('whole')
      expect((await cache.contents()).packedBytes).toBeLessThan(1.1 * cap + LARGE_BYTES + 2 * MB)
      await expectTrueStats({ cache, subject })
    }, cap)
  }, 300_000)
})

/** Kills a writer while a page is on its way; what it acknowledged is there, and what it did not is put anew. */
async function fillAndKill(scene: Scene, from: number): Promise<readonly number[]> {
  const { cache, subject, random } = scene
  const before = (await cache.uploads()).length
  const writer = startCacheWriter({ url: cache.url, nowMs: subject.nowMs(), from })
  await writer.waitFor(3 + Math.floor(random() * 12))
  await expect
    .poll(async () => (await cache.uploads()).length, { interval: 1, timeout: 120_000 })
    .toBeGreaterThan(before)
  const acknowledged = await writer.kill()
  for (const number of acknowledged) expect(await stateOf(scene, number), `page ${number}`).toBe('whole')
  const begun = acknowledged.length + WRITES_AT_ONCE
  const numbers = Array.from({ length: begun }, (_, n) => from + n)
  for (const number of numbers) {
    if ((await stateOf(scene, number)) === 'whole') continue
    await put(subject, number)
    expect(await stateOf(scene, number), `page ${number}, put anew`).toBe('whole')
  }
  return numbers
}

/** Only a page that was put is there, and all of it. */
async function stateOf({ subject }: Pick<Scene, 'subject'>, number: number): Promise<'whole' | 'missing' | 'torn'> {
  const { entry, body } = cachePage(number, 0)
  const answer = await subject.store.get({ key: cacheKeyOf(entry), url: entry.url })
  if (answer === undefined) return 'missing'
  return Buffer.from(answer.body).equals(body) && answer.entry.bodyBytes === body.length ? 'whole' : 'torn'
}

async function put({ store, nowMs }: CacheSuiteSubject, number: number): Promise<void> {
  const { entry, body } = cachePage(number, nowMs())
  await store.put({ ...entry, key: cacheKeyOf(entry) }, body)
}

/** The server may still be at the last step that it was asked for. */
async function expectTrueStats({ cache, subject }: Pick<Scene, 'cache' | 'subject'>): Promise<void> {
  await expect
    .poll(async () => {
      const { pages, blobs, bodyBytes, packedBytes } = await cache.contents()
      const found = { entries: pages, bodies: blobs, bodyBytes, packedBytes }
      const told = await subject.store.stats()
      return Object.entries(found).filter(([name, n]) => told[name as keyof typeof found] !== n)
    })
    .toEqual([])
}

/** Parts of pages that are perhaps still on their way stay; those that are too old for it go. */
async function expectSwept({ cache, subject }: Scene): Promise<void> {
  const { looseParts } = await cache.contents()
  expect(looseParts).toBeGreaterThan(1)
  expect(LARGE_BYTES).toBeGreaterThan(2 * PART_BYTES)
  await subject.store.prune({})
  await subject.advance(UPLOAD_MS - 60_000)
  await subject.store.prune({})
  expect((await cache.contents()).looseParts).toBe(looseParts)
  await subject.advance(120_000)
  await subject.store.prune({})
  expect(await cache.contents()).toMatchObject({ looseParts: 0, uploads: 0 })
}
