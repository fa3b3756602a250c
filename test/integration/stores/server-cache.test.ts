/** Download caches on real servers, where it is hard: large bodies, many who write and delete at once, caps, writers that died. */

import { describe, expect, it } from 'vitest'
import type { CacheStore } from '../../../src/cache/contract.ts'
import type { CacheSuiteSubject } from '../../../src/testing/cache-suite.ts'
import { bodyOf, expectBody, expectMiss, idOf, listAll, putPage } from '../../../src/testing/cache/subject.ts'
import { type Random, seededRandom } from '../../../src/util/random.ts'
import { startCacheWriter } from '../../support/cache-writer.ts'
import { type ServerCache, serverCacheSubject } from '../../support/server-cache.ts'
import { noise } from '../../support/server-cache-pages.ts'
import { CACHE_SERVERS, type CacheServer } from '../../support/server-caches.ts'

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
  }, 120_000)

  test('does not keep a body of more than 256 MB', async () => {
    await using opened = await open(server)
    const { subject } = opened
    await putPage(subject, 'https://a.test/huge', new Uint8Array(256 * MB + 1))
    await expectMiss(subject.store, idOf(subject, 'https://a.test/huge'))
  }, 60_000)

  test('loses no body that some delete while others begin to use it', async () => {
    await using opened = await open(server)
    const { subject } = opened
    const stores = [subject.store, await opened.join(), await opened.join(), await opened.join()]
    const last = new Map<string, string | undefined>()
    await Promise.all(
      stores.map((store, index) => scuffle({ ...subject, store }, { index, random: seededRandom(index + 1), last })),
    )
    const expected = [...last].filter(([, name]) => name !== undefined)
    for (const [url, name = ''] of expected) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
    expect(await listAll(subject.store, {}, 50)).toHaveLength(expected.length)
    await subject.store.prune({})
    const { bodies, bodyBytes } = await subject.store.stats()
    expect(bodies).toBe(new Set(expected.map(([, name]) => name)).size)
    expect(bodyBytes).toBe(expected.reduce((sum, [, name = '']) => sum + sharedBody(name).length, 0))
    for (const [url, name = ''] of expected) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
  }, 120_000)

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
  }, 120_000)

  test('takes away what a writer that died had sent of a large body', async () => {
    await using opened = await open(server)
    const { cache, subject } = opened
    for (let round = 0; (await cache.uploads()).length === 0; round += 1) {
      expect(round, 'writers that had finished all they began').toBeLessThan(15)
      const writer = startCacheWriter({ url: cache.url, nowMs: subject.nowMs(), from: round * 1000 })
      await expect.poll(async () => (await cache.uploads()).length, { interval: 1, timeout: 30_000 }).toBeGreaterThan(0)
      await writer.kill()
    }
    expect((await cache.contents()).looseParts).toBeGreaterThan(0)
    await subject.advance(2 * HOUR_MS)
    await subject.store.prune({})
    expect(await cache.contents()).toMatchObject({ looseParts: 0, uploads: 0 })
  }, 120_000)
})

/** Few names for few bodies, so that one process deletes what another is about to use. A page has one owner, who knows its last state. */
async function scuffle(
  subject: CacheSuiteSubject,
  {
    index,
    random,
    last,
  }: { readonly index: number; readonly random: Random; readonly last: Map<string, string | undefined> },
): Promise<void> {
  const pick = (n: number): number => Math.floor(random() * n)
  for (let step = 0; step < 30; step += 1) {
    const url = `https://h${index}.test/${pick(3)}`
    if (pick(5) < 3) {
      const name = `${pick(3)}`
      await putPage(subject, url, sharedBody(name))
      last.set(url, name)
    } else if (pick(4) === 0) {
      await subject.store.prune({})
    } else {
      await subject.store.delete(idOf(subject, url))
      last.set(url, undefined)
    }
    const name = last.get(url)
    if (name !== undefined) await expectBody(subject.store, idOf(subject, url), sharedBody(name))
  }
}

/** The third is kept in parts. */
const SHARED_BODIES: Readonly<Record<string, Uint8Array>> = {
  0: bodyOf('0', 4000),
  1: bodyOf('1', 4000),
  2: noise(700_000, 9),
}

function sharedBody(name: string): Uint8Array {
  return SHARED_BODIES[name] ?? new Uint8Array(0)
}
