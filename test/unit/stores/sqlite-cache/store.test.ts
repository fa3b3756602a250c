/** The packed cache passes the suite, and does what only it does. */

import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheStore } from '../../../../src/cache/contract.ts'
import { cacheKeyOf } from '../../../../src/cache/key.ts'
import { openDatabase } from '../../../../src/stores/sqlite-cache/driver.ts'
import { openSqliteCache, type SqliteCacheOptions } from '../../../../src/stores/sqlite-cache/store.ts'
import { cacheStoreSuite, type CacheSuiteSubject } from '../../../../src/testing/cache-suite.ts'
import { bodyOf, entryFor, expectBody, idOf, listAll, putPage } from '../../../../src/testing/cache/subject.ts'
import { createFakeClock } from '../../../../src/testing/fake-clock.ts'

async function openSubject(options: Partial<SqliteCacheOptions> = {}): Promise<CacheSuiteSubject & { dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'spoor-cache-'))
  const clock = createFakeClock()
  const opened: CacheStore[] = []
  const openOne = async (): Promise<CacheStore> => {
    const store = await openSqliteCache({ dir, clock, ...options })
    opened.push(store)
    return store
  }
  /** By a connection of its own, as another program would. */
  const change = async (id: { key: string }, how: (data: Uint8Array) => Uint8Array): Promise<void> => {
    const database = await openDatabase(join(dir, 'cache.sqlite'))
    const key = Buffer.from(id.key, 'hex')
    const row = database
      .prepare('SELECT p.id, p.data FROM entry e JOIN part p ON p.id / 1024 = e.body WHERE e.key = ? LIMIT 1')
      .get(key) as { id: number; data: Uint8Array }
    database.prepare('UPDATE part SET data = ? WHERE id = ?').run(how(row.data), row.id)
    database.close()
  }
  const store = await openOne()
  return {
    dir,
    store,
    keyOf: (url) => cacheKeyOf({ url }),
    nowMs: () => clock.nowMs(),
    advance: (ms) => clock.advance(ms),
    join: openOne,
    reopen: async () => {
      await store.close()
      return openOne()
    },
    damageBody: (id) =>
      change(id, (data) => {
        const copy = Uint8Array.from(data)
        const middle = Math.floor(copy.length / 2)
        copy[middle] = (copy[middle] ?? 0) ^ 0xff
        return copy
      }),
    cutBody: (id) => change(id, (data) => data.slice(0, Math.floor(data.length / 2))),
    dispose: async () => {
      for (const one of opened) await one.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

cacheStoreSuite({ runner: { describe, it }, open: openSubject })

const sizeOf = (n: number): number => (n % 10 === 0 ? 900_000 : 300)

describe('a packed cache', () => {
  let subject: CacheSuiteSubject & { dir: string }
  beforeEach(async () => {
    subject = await openSubject()
  })
  afterEach(async () => {
    await subject.dispose()
  })
  const file = (): string => join(subject.dir, 'cache.sqlite')

  it('answers many look-ups at once, amid writes, missing pages and a damaged one', async () => {
    const urls = Array.from({ length: 100 }, (_, n) => `https://a.test/${n}`)
    await Promise.all(urls.map((url, n) => putPage(subject, url, bodyOf(url, sizeOf(n)))))
    await subject.damageBody?.(idOf(subject, urls[7] ?? ''))
    const writing = urls.map((url) => putPage(subject, `${url}/more`, bodyOf(url, 50)))
    const missing = urls.map((url) => subject.store.get(idOf(subject, `${url}/missing`)))
    const found = await Promise.all(urls.map((url) => subject.store.get(idOf(subject, url))))
    expect((await Promise.all(missing)).every((answer) => answer === undefined)).toBe(true)
    await Promise.all(writing)
    for (const [n, answer] of found.entries()) {
      const wanted = n === 7 ? undefined : Buffer.from(bodyOf(urls[n] ?? '', sizeOf(n)))
      expect(answer === undefined ? undefined : Buffer.compare(answer.body, wanted ?? Buffer.alloc(0))).toBe(
        wanted === undefined ? undefined : 0,
      )
    }
    expect(await listAll(subject.store)).toHaveLength(199)
  })

  it('keeps one copy of a body that many pages share', async () => {
    const body = bodyOf('same', 200_000)
    await Promise.all(Array.from({ length: 30 }, (_, n) => putPage(subject, `https://a.test/${n}`, body)))
    const stats = await subject.store.stats()
    expect([stats.entries, stats.bodies, stats.bodyBytes]).toEqual([30, 1, 6_000_000])
    expect(stats.packedBytes).toBeLessThan(10_000)
  })

  it('leaves pictures as they are', async () => {
    const body = bodyOf('not really a picture', 10_000)
    const headers = [['content-type', 'image/png']] as const
    await subject.store.put(entryFor(subject, 'https://a.test/p.png', { headers }), body)
    expect((await subject.store.stats()).packedBytes).toBe(10_000)
    await expectBody(subject.store, idOf(subject, 'https://a.test/p.png'), body)
  })

  it('reads what other codecs have packed', async () => {
    await putPage(subject, 'https://a.test/brotli')
    await subject.store.close()
    const { dir } = subject
    const zlib = await openSqliteCache({ dir, codec: 'zlib' })
    await zlib.put(entryFor(subject, 'https://a.test/zlib'), bodyOf('z'))
    await zlib.close()
    const none = await openSqliteCache({ dir, codec: 'none' })
    await expectBody(none, idOf(subject, 'https://a.test/zlib'), bodyOf('z'))
    await expectBody(none, idOf(subject, 'https://a.test/brotli'), bodyOf('https://a.test/brotli'))
    await none.close()
  })

  it('says which page this Node cannot unpack, and keeps it anew from then on', async () => {
    const url = 'https://a.test/packed'
    await putPage(subject, url)
    const database = openDatabase(join(subject.dir, 'cache.sqlite'))
    database.exec('UPDATE body SET codec = 99')
    await expect(subject.store.get(idOf(subject, url))).rejects.toMatchObject({
      code: 'CACHE_CODEC_MISSING',
      context: { url, codec: 'codec 99' },
    })
    database.exec("UPDATE body SET codec = 3, hash = x'00'")
    database.close()
    await putPage(subject, url)
    await expectBody(subject.store, idOf(subject, url), bodyOf(url))
    expect((await subject.store.stats()).bodies).toBe(1)
  })

  it('refuses a file that is no database, and leaves it as it is', async () => {
    await subject.store.close()
    await writeFile(file(), 'these are my notes, not a cache\n'.repeat(100))
    await expect(openSqliteCache({ dir: subject.dir })).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect(await readFile(file(), 'utf8')).toContain('my notes')
  })

  it("refuses somebody else's database, and leaves it as it is", async () => {
    await subject.store.close()
    await rm(file())
    const database = await openDatabase(file())
    database.exec('CREATE TABLE mine(x); INSERT INTO mine VALUES (1)')
    database.close()
    const before = await readFile(file())
    await expect(openSqliteCache({ dir: subject.dir })).rejects.toMatchObject({ code: 'STORE_FORMAT_MISMATCH' })
    expect((await readFile(file())).equals(before)).toBe(true)
  })

  it('refuses a file that lost its end, and leaves it as it is', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => putPage(subject, `https://a.test/${n}`)))
    await subject.store.close()
    const { size } = await stat(file())
    const handle = await open(file(), 'r+')
    await handle.truncate(Math.floor(size / 2 / 8192) * 8192)
    await handle.close()
    await expect(openSqliteCache({ dir: subject.dir })).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect((await stat(file())).size).toBe(Math.floor(size / 2 / 8192) * 8192)
  })

  it('begins anew with a file that was cut to nothing', async () => {
    const dir = join(subject.dir, 'cut')
    await mkdir(dir)
    await writeFile(join(dir, 'cache.sqlite'), '')
    const store = await openSqliteCache({ dir })
    expect(await listAll(store)).toEqual([])
    await store.close()
  })

  it('tells within the minute which page was used last', async () => {
    await subject.dispose()
    subject = await openSubject({ codec: 'none' })
    for (let n = 0; n < 60; n += 1) await putPage(subject, `https://a.test/${n}`, bodyOf(String(n), 12_000))
    await subject.advance(60_000)
    for (let n = 0; n < 20; n += 1) await subject.store.get(idOf(subject, `https://a.test/${n}`))
    await subject.store.prune({ maxBytes: 450_000 })
    const left = (await listAll(subject.store, {}, 50)).map(({ url }) => Number(url.split('/').at(-1)))
    expect(left.filter((n) => n < 20)).toHaveLength(20)
    expect(left).not.toContain(20)
  })

  it('stays under its cap while pages come in, and lets the least used go', async () => {
    await subject.dispose()
    const maxBytes = 1024 * 1024
    subject = await openSubject({ maxBytes, codec: 'none' })
    for (let n = 0; n < 300; n += 1) {
      await putPage(subject, `https://a.test/${n}`, bodyOf(String(n), 12_000))
      if (n % 20 === 0) await subject.advance(3_600_000)
    }
    await subject.store.close()
    const { size } = await stat(file())
    expect(size).toBeLessThan(maxBytes * 1.25)
    const store = await openSqliteCache({ dir: subject.dir })
    const urls = (await listAll(store, {}, 50)).map(({ url }) => url)
    expect(urls.length).toBeGreaterThan(30)
    expect(urls).toContain('https://a.test/299')
    expect(urls).not.toContain('https://a.test/0')
    await store.close()
  })
})
