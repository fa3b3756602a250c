/** Cases of deleting and pruning. */

import { deepEqual, equal, ok } from 'node:assert/strict'
import { bodyOf, expectBody, expectMiss, HEADERS, idOf, listAll, putPage } from './subject.ts'
import type { CacheSuiteCases, CacheSuiteSubject } from './subject.ts'

const HOUR_MS = 3_600_000

export const cacheForgetting: CacheSuiteCases = {
  '6. deletes one entry, and says whether it was there': async (subject) => {
    const { store } = subject
    await putPage(subject, 'https://a.test/1')
    await putPage(subject, 'https://a.test/2')
    equal(await store.delete(idOf(subject, 'https://a.test/1')), true)
    equal(await store.delete(idOf(subject, 'https://a.test/1')), false)
    await expectMiss(store, idOf(subject, 'https://a.test/1'))
    await expectBody(store, idOf(subject, 'https://a.test/2'), bodyOf('https://a.test/2'))
  },

  '6. keeps a body that another entry has': async (subject) => {
    const { store } = subject
    const body = bodyOf('same')
    for (const n of [1, 2, 3]) await putPage(subject, `https://a.test/${n}`, body)
    await store.delete(idOf(subject, 'https://a.test/1'))
    await putPage(subject, 'https://a.test/2', bodyOf('other'))
    await store.prune({})
    await expectBody(store, idOf(subject, 'https://a.test/3'), body)
    await expectBody(store, idOf(subject, 'https://a.test/2'), bodyOf('other'))
  },

  '6. prunes what was last checked before an instant, and nothing else': async (subject) => {
    const { store } = subject
    for (const n of [1, 2, 3]) await putPage(subject, `https://a.test/${n}`)
    await subject.advance(1000)
    const sinceMs = subject.nowMs()
    await putPage(subject, 'https://b.test/4')
    await store.refresh(idOf(subject, 'https://a.test/2'), { checkedAtMs: sinceMs, headers: HEADERS })
    const result = await store.prune({ checkedBeforeMs: sinceMs })
    equal(result.entries, 2)
    equal(result.finished, true)
    deepEqual(urls(await listAll(store)), ['https://a.test/2', 'https://b.test/4'])
    deepEqual((await store.prune({ checkedBeforeMs: sinceMs })).entries, 0)
  },

  '6. prunes by size: the least recently used go': async (subject) => {
    const { store } = subject
    await putMany(subject, 'old', 40)
    await subject.advance(3 * HOUR_MS)
    await putMany(subject, 'new', 40)
    await subject.advance(3 * HOUR_MS)
    for (let n = 0; n < 10; n += 1) await store.get(idOf(subject, urlOf('old', n)))
    const before = await store.stats()
    const result = await store.prune({ maxBytes: before.diskBytes * 0.6 })
    ok(result.entries > 0 && result.entries < 70)
    ok(result.bytes > 0)
    const after = await store.stats()
    ok(after.diskBytes <= before.diskBytes * 0.7, `${before.diskBytes} bytes became ${after.diskBytes}`)
    const left = urls(await listAll(store))
    for (let n = 0; n < 10; n += 1) ok(left.includes(urlOf('old', n)), 'what was used last stays')
    ok(!left.includes(urlOf('old', 20)), 'what was used first is gone')
  },

  '6. gives space back when everything goes': async (subject) => {
    const { store } = subject
    await putMany(subject, 'page', 60)
    const before = await store.stats()
    await subject.advance(1)
    const result = await store.prune({ checkedBeforeMs: subject.nowMs() })
    equal(result.entries, 60)
    const after = await store.stats()
    equal(after.entries, 0)
    equal(after.bodies, 0)
    ok(after.diskBytes < before.diskBytes / 2, `${before.diskBytes} bytes became ${after.diskBytes}`)
    deepEqual(await listAll(store), [])
  },

  '6. stops pruning when its time is over or its signal aborts, and can go on': async (subject) => {
    const { store } = subject
    await putMany(subject, 'page', 20)
    await subject.advance(1)
    const checkedBeforeMs = subject.nowMs()
    const stopped = await store.prune({ checkedBeforeMs, signal: AbortSignal.abort() })
    deepEqual([stopped.finished, stopped.entries], [false, 0])
    equal((await listAll(store)).length, 20)
    const done = await store.prune({ checkedBeforeMs, budgetMs: 60_000 })
    deepEqual([done.finished, done.entries], [true, 20])
  },
}

function urlOf(name: string, n: number): string {
  return `https://a.test/${name}/${n}`
}

/** Pages that do not pack to nothing. */
async function putMany(subject: CacheSuiteSubject, name: string, count: number): Promise<void> {
  const pages = Array.from({ length: count }, (_, n) => urlOf(name, n))
  await Promise.all(pages.map((url) => putPage(subject, url, noise(url, 12_000))))
}

function noise(name: string, bytes: number): Uint8Array {
  let state = 0x811c9dc5
  for (const character of name) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return Uint8Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}

function urls(entries: readonly { readonly url: string }[]): string[] {
  return entries.map(({ url }) => url).toSorted()
}
