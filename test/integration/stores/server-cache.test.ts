/** Download caches on real servers, where it is hard: large bodies, many who write and delete at once, caps, writers that died. */

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { CacheStore } from '../../../src/cache/contract.ts'
import type { CacheSuiteSubject } from '../../../src/testing/cache-suite.ts'
import { expectBody, expectMiss, idOf, listAll, putPage } from '../../../src/testing/cache/subject.ts'
import { seededRandom } from '../../../src/util/random.ts'
import { OLD_BEFORE_MS, scuffle, sharedBody } from '../../support/cache-scuffle.ts'
import { startCacheWriter } from '../../support/cache-writer.ts'
import { type ServerCache, serverCacheSubject } from '../../support/server-cache.ts'
import { noise } from '../../support/server-cache-pages.ts'
import { CACHE_SERVERS, type CacheServer } from '../../support/server-caches.ts'
import { runTogether } from './race-start.ts'

const SCUFFLE = fileURLToPath(new URL('../../support/cache-scuffle-child.ts', import.meta.url))
const MB = 1024 * 1024
const HOUR_MS = 3_600_000

function pageUrl(n: number): string {
  return `https://a.test/${n}`
}

interface Opened extends AsyncDisposable {
  readonly cache: ServerCache
  readonly subject: CacheSuiteSubject
  join(): Promise<CacheStore>
}

async function open({ make }: CacheServer, maxBytes?: number): Promise<Opened> {
  const cache = await make(maxBytes)
  const subject = await serverCacheSubject(cache)
  const { join } = subject
  if (join === undefined) throw new Error('expected a store that others can join')
  return { cache, subject, join, [Symbol.asyncDispose]: () => subject.dispose() }
}

describe.each(CACHE_SERVERS)('a download cache on $kind', (server) => {
  const test = it.skipIf(server.server === undefined)

  test('keeps a body of 40 MB, and nothing of it once it is deleted', async () => {
    await using opened = await open(server)
    const { subject } = opened
    const other = await opened.join()
    const large = 'https://a.test/large'
    const body = noise(40 * MB + 7, 1)
    await putPage(subject, large, body)
    await expectBody(other, idOf(subject, large), body)
    expect((await other.stats()).diskBytes).toBeGreaterThan(40 * MB)
    // the same body again is not sent again
    await putPage({ ...subject, store: other }, `${large}2`, body)
    expect(await subject.store.stats()).toMatchObject({ entries: 2, bodies: 1 })
    await other.delete(idOf(subject, large))
    await expectBody(subject.store, idOf(subject, `${large}2`), body)
    await subject.store.delete(idOf(subject, `${large}2`))
    const { entries, bodies, diskBytes } = await subject.store.stats()
    expect({ entries, bodies }).toEqual({ entries: 0, bodies: 0 })
    expect(diskBytes).toBeLessThan(2 * MB)
  }, 300_000)

  test('does not keep a body of more than 256 MB', async () => {
    await using opened = await open(server)
    const { subject } = opened
    await putPage(subject, 'https://a.test/huge', new Uint8Array(256 * MB + 1))
    await expectMiss(subject.store, idOf(subject, 'https://a.test/huge'))
  }, 300_000)

  test('loses no body that some delete while others begin to use it', async () => {
    await using opened = await open(server)
    const { subject } = opened
    const stores = [subject.store, await opened.join(), await opened.join(), await opened.join()]
    const last = new Map<string, string | undefined>()
    await Promise.all(
      stores.map((store, index) => scuffle({ ...subject, store }, { index, random: seededRandom(index + 1), last })),
    )
    await expectLeft(subject, last)
  }, 300_000)

  test('loses no body over which two processes scuffle, and keeps none that is left over', async () => {
    await using opened = await open(server)
    const { cache, subject } = opened
    const seed = Date.now() % 1_000_000
    const commands = [
      [cache.url, `${seed}`, '0', '1'],
      [cache.url, `${seed}`, '2', '3'],
    ].map((args) => ['--import', 'jiti/register', SCUFFLE, ...args])
    const lines = (await runTogether(commands)).flat().map((line) => line.split(' '))
    expect(lines.length, `seed ${seed}`).toBeGreaterThanOrEqual(4)
    await expectLeft(subject, new Map(lines.map(([url = '', name]) => [url, name])))
    const { pages, blobs, bodyBytes, packedBytes, looseParts } = await cache.contents()
    expect(await subject.store.stats()).toMatchObject({ entries: pages, bodies: blobs, bodyBytes, packedBytes })
    expect(looseParts).toBe(0)
  }, 300_000)

  test('stays below its cap while pages come in, and forgets the least recently used', async () => {
    const cap = 2 * MB
    await using opened = await open(server, cap)
    const { subject } = opened

    for (let n = 0; n < 60; n += 1) {
      await putPage(subject, pageUrl(n), noise(100_000, n + 1))
      if (n % 10 !== 9) continue
      await subject.advance(2 * HOUR_MS)
      expect((await subject.store.stats()).diskBytes).toBeLessThan(1.6 * cap)
    }
    await expectMiss(subject.store, idOf(subject, pageUrl(0)))
    await expectBody(subject.store, idOf(subject, pageUrl(59)), noise(100_000, 60))
  }, 300_000)

  test('takes away what a writer that died had sent of a large body', async () => {
    await using opened = await open(server)
    const { cache, subject } = opened
    for (let round = 0; (await cache.uploads()).length === 0; round += 1) {
      expect(round, 'writers that had finished all they began').toBeLessThan(15)
      const writer = startCacheWriter({ url: cache.url, nowMs: subject.nowMs(), from: round * 1000 })
      await expect
        .poll(async () => (await cache.uploads()).length, { interval: 1, timeout: 120_000 })
        .toBeGreaterThan(0)
      await writer.kill()
    }
    expect((await cache.contents()).looseParts).toBeGreaterThan(0)
    await subject.advance(2 * HOUR_MS)
    await subject.store.prune({})
    expect(await cache.contents()).toMatchObject({ looseParts: 0, uploads: 0 })
  }, 300_000)
})

/** Exactly these pages, each with its body. */
async function expectLeft(subject: CacheSuiteSubject, last: ReadonlyMap<string, string | undefined>): Promise<void> {
  const expected = [...last].filter(([, name]) => name !== undefined)
  for (const [url, name = ''] of expected) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
  await subject.store.prune({ checkedBeforeMs: OLD_BEFORE_MS })
  expect(await listAll(subject.store, {}, 50)).toHaveLength(expected.length)
  const { bodies, bodyBytes } = await subject.store.stats()
  expect(bodies).toBe(new Set(expected.map(([, name]) => name)).size)
  expect(bodyBytes).toBe(expected.reduce((sum, [, name = '']) => sum + sharedBody(name).length, 0))
  for (const [url, name = ''] of expected) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
}
