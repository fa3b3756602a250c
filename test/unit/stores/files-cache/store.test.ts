/** The readable cache passes the suite, and its files are what a person expects. */

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheId, CacheStore } from '../../../../src/cache/contract.ts'
import { cacheKeyOf } from '../../../../src/cache/key.ts'
import { placeOf } from '../../../../src/stores/files-cache/file-name.ts'
import { openFilesCache, type FilesCacheOptions } from '../../../../src/stores/files-cache/store.ts'
import { cacheStoreSuite, type CacheSuiteSubject } from '../../../../src/testing/cache-suite.ts'
import {
  bodyOf,
  entryFor,
  expectBody,
  expectMiss,
  idOf,
  listAll,
  putPage,
} from '../../../../src/testing/cache/subject.ts'
import { createFakeClock } from '../../../../src/testing/fake-clock.ts'

async function openSubject(options: Partial<FilesCacheOptions> = {}): Promise<CacheSuiteSubject & { dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'spoor-cache-'))
  const clock = createFakeClock()
  const opened: CacheStore[] = []
  const openOne = async (): Promise<CacheStore> => {
    const store = await openFilesCache({ dir, clock, ...options })
    opened.push(store)
    return store
  }
  const change = async (id: CacheId, how: (data: Buffer) => Uint8Array): Promise<void> => {
    const { folders, name } = placeOf(id)
    const file = join(dir, ...folders, name)
    await writeFile(file, how(await readFile(file)))
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
        const middle = Math.floor(data.length / 2)
        data[middle] = (data[middle] ?? 0) ^ 0xff
        return data
      }),
    cutBody: (id) => change(id, (data) => data.subarray(0, Math.floor(data.length / 2))),
    dispose: async () => {
      for (const one of opened) await one.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

cacheStoreSuite({ runner: { describe, it }, open: openSubject })

describe('a readable cache', () => {
  let subject: CacheSuiteSubject & { dir: string }
  beforeEach(async () => {
    subject = await openSubject()
  })
  afterEach(async () => {
    await subject.dispose()
  })

  it('keeps a page under its host and path, with its metadata beside it', async () => {
    await putPage(subject, 'https://a.test/docs/')
    const body = await readFile(join(subject.dir, 'a.test/docs/index.html'))
    expect(body.equals(bodyOf('https://a.test/docs/'))).toBe(true)
    const meta = JSON.parse(await readFile(join(subject.dir, 'a.test/docs/index.html~meta.json'), 'utf8')) as object
    expect(meta).toMatchObject({ url: 'https://a.test/docs/', status: 200, bodyBytes: 3000 })
  })

  it('spreads the pages of a full folder over folders of two digits', async () => {
    await subject.dispose()
    subject = await openSubject({ maxPagesPerFolder: 5 })
    const urls = Array.from({ length: 40 }, (_, n) => `https://a.test/list/${n}`)
    for (const url of urls) await putPage(subject, url)
    for (const url of urls) await putPage(subject, url, bodyOf(`${url} again`))
    for (const url of urls) await expectBody(subject.store, idOf(subject, url), bodyOf(`${url} again`))
    const names = await readdir(join(subject.dir, 'a.test/list'))
    expect(names.filter((name) => name.endsWith('~meta.json')).length).toBe(5)
    expect(names.filter((name) => /^~[0-9a-f]{2}$/.test(name)).length).toBeGreaterThan(10)
    expect((await listAll(subject.store)).length).toBe(40)
  })

  it('finds a body whose writer died before it had its name, and keeps the old page until the new one counts', async () => {
    const id = idOf(subject, 'https://a.test/x')
    await putPage(subject, id.url)
    const { folders, name } = placeOf(id)
    const file = join(subject.dir, ...folders, name)
    const { bodyHash } = JSON.parse(await readFile(`${file}~meta.json`, 'utf8')) as { bodyHash: string }
    // the new page's metadata count, its body has not got its name
    await rename(file, `${file}~new-${bodyHash}`)
    await writeFile(file, 'the page before')
    await expectBody(subject.store, id, bodyOf(id.url))
    // a writer died before its metadata counted
    await writeFile(`${file}~new-${'0'.repeat(32)}`, 'a page to come')
    await expectBody(subject.store, id, bodyOf(id.url))
  })

  it('treats torn metadata as a miss and writes them anew', async () => {
    const id = idOf(subject, 'https://a.test/x')
    await putPage(subject, id.url)
    const { folders, name } = placeOf(id)
    await writeFile(join(subject.dir, ...folders, `${name}~meta.json`), '{"format":1,"url":"https://a')
    await expectMiss(subject.store, id)
    await putPage(subject, id.url)
    await expectBody(subject.store, id, bodyOf(id.url))
  })

  it('refuses a folder with other files, and leaves them alone', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'spoor-cache-'))
    await writeFile(join(dir, 'notes.txt'), 'mine')
    await expect(openFilesCache({ dir })).rejects.toMatchObject({ code: 'STORE_FORMAT_MISMATCH' })
    expect(await readdir(dir)).toEqual(['notes.txt'])
    await rm(dir, { recursive: true })
  })

  it('comes to the end of a large cache by many short passes', async () => {
    let calls = 0
    // every look at the clock takes a millisecond
    const clock = { ...createFakeClock(), monotonicMs: () => (calls += 1) }
    await subject.dispose()
    subject = await openSubject({ clock })
    for (let n = 0; n < 30; n += 1) await putPage(subject, `https://a.test/fresh/${n}`)
    const oldMs = clock.nowMs() - 1000
    for (let n = 0; n < 10; n += 1) {
      const entry = entryFor(subject, `https://z.test/old/${n}`, { checkedAtMs: oldMs })
      await subject.store.put(entry, bodyOf(entry.url))
    }
    let removed = 0
    for (let pass = 0; pass < 10; pass += 1) {
      const { entries, finished } = await subject.store.prune({ checkedBeforeMs: clock.nowMs(), budgetMs: 8 })
      expect(finished).toBe(false)
      removed += entries
    }
    expect(removed).toBe(10)
    expect((await listAll(subject.store)).length).toBe(30)
  })

  it('leaves no empty folder and no temporary file behind', async () => {
    await putPage(subject, 'https://a.test/a/b/c')
    await subject.store.delete(idOf(subject, 'https://a.test/a/b/c'))
    expect(await readdir(subject.dir)).toEqual(['~spoor-cache.json'])
  })

  it('never takes more of the disk than its cap, also with small pages, each of which takes whole blocks', async () => {
    await subject.dispose()
    const maxBytes = 600_000
    subject = await openSubject({ maxBytes })
    let most = 0
    for (let n = 0; n < 150; n += 1) {
      await putPage(subject, `https://a.test/${n}`, bodyOf(String(n), 50))
      if (n % 5 === 0) most = Math.max(most, await diskBytesBelow(subject.dir))
    }
    expect(most).toBeGreaterThan(maxBytes / 2)
    expect(most).toBeLessThanOrEqual(maxBytes)
    expect((await subject.store.stats()).diskBytes).toBeGreaterThan(maxBytes / 2)
  })

  it('deletes first what was used least recently, also within an hour', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].toReversed()) {
      await putPage(subject, `https://a.test/${name}`)
      await subject.advance(60_000)
    }
    const { diskBytes } = await subject.store.stats()
    await subject.store.prune({ maxBytes: diskBytes / 2 })
    const left = await listAll(subject.store)
    expect(left.map(({ url }) => url.at(-1)).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('counts what a dead writer left, and removes it with its folder when it is an hour old', async () => {
    const folder = join(subject.dir, 'a.test', 'dead')
    await mkdir(folder, { recursive: true })
    const left = join(folder, 'page~.html~tmp-0')
    await writeFile(left, Buffer.alloc(20_000))
    expect((await subject.store.stats()).diskBytes).toBeGreaterThanOrEqual(20_000)
    const beforeS = (subject.nowMs() - 2 * 3_600_000) / 1000
    await utimes(left, beforeS, beforeS)
    await subject.store.prune({})
    expect(await readdir(subject.dir)).toEqual(['~spoor-cache.json'])
  })
})

async function diskBytesBelow(dir: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('~spoor-cache')) continue
    // what goes in the background may be gone by now
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    bytes += found === undefined ? 0 : found.blocks * 512
  }
  return bytes
}
