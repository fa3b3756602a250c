/** Cases of putting, getting, changing and listing. */

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { isCrawlError } from '../../core/errors.ts'
import { seededRandom } from '../../util/random.ts'
import { bodyOf, entryFor, expectBody, expectMiss, HEADERS, idOf, listAll, putPage } from './subject.ts'
import type { CacheSuiteCases, CacheSuiteSubject } from './subject.ts'

const A = 'https://a.test/page'
const MB = 1024 * 1024

export const cacheBasics: CacheSuiteCases = {
  '1. gives back what was put, byte for byte': async (subject) => {
    const entry = entryFor(subject, A, {
      status: 301,
      fetchedAtMs: 1_700_000_000_123,
      checkedAtMs: 1_700_000_000_456,
      varied: { cookie: 'x' },
      wireUrl: 'https://a.test/%70age',
    })
    await subject.store.put(entry, bodyOf('a'))
    const answer = await subject.store.get(idOf(subject, A))
    deepEqual(answer?.entry, { ...entry, bodyBytes: 3000 })
    deepEqual(await subject.store.head(idOf(subject, A)), { ...entry, bodyBytes: 3000 })
    await expectBody(subject.store, idOf(subject, A), bodyOf('a'))
  },

  '1. keeps bodies of every kind and size': async (subject) => {
    const random = seededRandom(7)
    const noise = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, () => Math.floor(random() * 256))
    const bodies = [
      new Uint8Array(0),
      Uint8Array.of(0),
      noise(127),
      noise(70_000),
      noise(2 * MB + 1),
      bodyOf('x', 3 * MB),
    ]
    for (const [index, body] of bodies.entries()) await putPage(subject, `${A}/${index}`, body)
    for (const [index, body] of bodies.entries()) await expectBody(subject.store, idOf(subject, `${A}/${index}`), body)
  },

  '1. never answers with the page of another URL': async (subject) => {
    await putPage(subject, A)
    await expectMiss(subject.store, { key: subject.keyOf(A), url: `${A}2` })
    equal(await subject.store.head({ key: subject.keyOf(A), url: `${A}2` }), undefined)
    await expectMiss(subject.store, idOf(subject, `${A}2`))
  },

  '1. keeps apart URLs that look alike': async (subject) => {
    for (const url of ALIKE) await putPage(subject, url)
    for (const url of ALIKE) await expectBody(subject.store, idOf(subject, url), bodyOf(url))
    deepEqual(urlsOf(await listAll(subject.store)), ALIKE.toSorted())
  },

  '1. replaces a page by a later one, also by a shorter or empty one': async (subject) => {
    for (const bytes of [5000, 100, 0, MB, 1]) {
      const body = bodyOf(`v${bytes}`, bytes)
      await putPage(subject, A, body)
      await expectBody(subject.store, idOf(subject, A), body)
    }
    equal((await listAll(subject.store)).length, 1)
  },

  '1. ends with one whole page when several are put at once': async (subject) => {
    const bodies = Array.from({ length: 20 }, (_, n) => bodyOf(`v${n}`, 1000 + n))
    await Promise.all(bodies.map((body) => putPage(subject, A, body)))
    const answer = await subject.store.get(idOf(subject, A))
    ok(bodies.some((body) => Buffer.from(answer?.body ?? []).equals(body)))
    equal(answer?.entry.bodyBytes, answer?.body.length)
  },

  '1. agrees with a plain map over hundreds of mixed calls': async (subject) => {
    for (const seed of [1, 2]) await compareWithMap(subject, seed)
  },

  '5. changes headers and date by refresh, never the body': async (subject) => {
    await putPage(subject, A)
    await subject.advance(5000)
    const headers = [['etag', '"v2"']] as const
    equal(await subject.store.refresh(idOf(subject, A), { checkedAtMs: subject.nowMs(), headers }), true)
    const answer = await subject.store.get(idOf(subject, A))
    deepEqual(answer?.entry.headers, headers)
    equal(answer?.entry.checkedAtMs, subject.nowMs())
    equal(answer?.entry.fetchedAtMs, subject.nowMs() - 5000)
    await expectBody(subject.store, idOf(subject, A), bodyOf(A))
  },

  '5. makes nothing by refreshing what is not there': async (subject) => {
    equal(await subject.store.refresh(idOf(subject, A), { checkedAtMs: 1, headers: HEADERS }), false)
    await expectMiss(subject.store, idOf(subject, A))
    deepEqual(await listAll(subject.store), [])
  },

  '7. lists every entry once, by pages, of all hosts or one, or below a prefix': async (subject) => {
    const urls = ['a.test', 'b.test', 'b.test:8080', 'c.test'].flatMap((host) =>
      Array.from({ length: 15 }, (_, n) => `https://${host}/${n % 3}/${n}`),
    )
    for (const url of urls) await putPage(subject, url)
    deepEqual(urlsOf(await listAll(subject.store)), urls.toSorted())
    const ofB = urls.filter((url) => url.startsWith('https://b.test/'))
    deepEqual(urlsOf(await listAll(subject.store, { host: 'b.test' })), ofB.toSorted())
    deepEqual((await listAll(subject.store, { host: 'b.test:8080' })).length, 15)
    deepEqual((await listAll(subject.store, { urlPrefix: 'https://c.test/2/' })).length, 5)
    deepEqual(await listAll(subject.store, { host: 'd.test' }), [])
  },

  '7. goes on with a list although entries come and go': async (subject) => {
    const urls = Array.from({ length: 30 }, (_, n) => `https://h${n % 4}.test/${n}`)
    for (const url of urls) await putPage(subject, url)
    const first = await subject.store.list({}, { max: 10 })
    const [gone] = first.entries
    ok(gone && first.cursor !== undefined)
    await subject.store.delete(gone)
    await subject.store.delete(first.entries.at(-1) ?? gone)
    const rest = await subject.store.list({}, { cursor: first.cursor })
    deepEqual(urlsOf([...first.entries, ...rest.entries]), urls.toSorted())
  },

  'counts what is there, what it takes and what it saved': async (subject) => {
    await putPage(subject, 'https://a.test/1', bodyOf('same'))
    await putPage(subject, 'https://a.test/2', bodyOf('same'))
    await putPage(subject, 'https://b.test/1')
    subject.store.note({ hits: 2, savedBytes: 10 })
    subject.store.note({ misses: 1, revalidated: 1, savedBytes: 5 })
    const stats = await subject.store.stats()
    equal(stats.entries, 3)
    equal(stats.bodyBytes, 9000)
    ok(stats.bodies === 2 || stats.bodies === 3)
    ok(stats.packedBytes > 0 && stats.diskBytes > 0)
    deepEqual(stats.counts, { hits: 2, misses: 1, revalidated: 1, savedBytes: 15 })
    equal(stats.oldestMs, subject.nowMs())
    deepEqual(stats.hosts, [
      { host: 'a.test', entries: 2, bodyBytes: 6000 },
      { host: 'b.test', entries: 1, bodyBytes: 3000 },
    ])
  },

  'refuses every call once it is closed': async (subject) => {
    const { store } = subject
    await putPage(subject, A)
    await store.close()
    await store.close()
    const id = idOf(subject, A)
    await rejects(store.get(id), closed)
    await rejects(putPage(subject, A), closed)
    await rejects(store.prune({}), closed)
  },
}

function closed(error: unknown): boolean {
  return isCrawlError(error, 'STORE_CLOSED')
}

/** Pairs that a careless name of a file, or a careless key, would make one. */
const ALIKE = [
  'http://a.test/p',
  'https://a.test/p',
  'https://a.test:8443/p',
  'https://a.test/',
  'https://a.test/index.html',
  'https://a.test/p/',
  'https://a.test/P',
  'https://a.test/p/b',
  'https://a.test/p/index.html',
  'https://a.test/p.html',
  'https://a.test/p.html/b',
  'https://a.test/p~.html',
  'https://a.test/p?',
  'https://a.test/p?a+b',
  'https://a.test/p?a*b',
  'https://a.test/p?a b',
  'https://a.test/p?a%20b',
  'https://a.test/p?A+b',
  'https://a.test/p_a+b',
  'https://a.test/p%3fa+b',
  'https://a.test/p%3Fa+b',
  'https://a.test/p.',
  'https://a.test/p_',
  'https://a.test//p',
  'https://a.test/~e/p',
  'https://a.test/con',
  'https://a.test/con.html',
  'https://a.test/_con.html',
  'https://a.test/%2e%2e%2f%2e%2e%2fetc/passwd',
  'https://a.test/..%5c..%5cetc',
  `https://a.test/${'s'.repeat(300)}`,
  `https://a.test/${'s'.repeat(301)}`,
  `https://a.test/${'d/'.repeat(900)}`,
  `https://a.test/${'d/'.repeat(901)}`,
]

function urlsOf(entries: readonly { readonly url: string }[]): string[] {
  return entries.map(({ url }) => url).toSorted()
}

/** Random calls on few names, so that they meet. */
async function compareWithMap(subject: CacheSuiteSubject, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const pick = (n: number): number => Math.floor(random() * n)
  const model = new Map<string, Uint8Array>()
  const { store } = subject
  for (const { url } of await listAll(store)) await store.delete(idOf(subject, url))
  for (let step = 0; step < 150; step += 1) {
    const url = `https://h${pick(3)}.test/${pick(4)}`
    const kind = pick(10)
    if (kind < 5) {
      const body = bodyOf(`${pick(5)}`, 50 + pick(3) * 400)
      await putPage(subject, url, body)
      model.set(url, body)
    } else if (kind < 7) {
      equal(await store.delete(idOf(subject, url)), model.delete(url))
    } else {
      const expected = model.get(url)
      if (expected === undefined) await expectMiss(store, idOf(subject, url))
      else await expectBody(store, idOf(subject, url), expected)
    }
  }
  deepEqual(urlsOf(await listAll(store)), [...model.keys()].toSorted())
}
