/** What the cache suite is run on, and the small words its cases are written in. */

import { deepEqual, equal, ok } from 'node:assert/strict'
import type { CacheEntry, CacheFilter, CacheId, CacheStore, NewCacheEntry } from '../../cache/contract.ts'
import type { SuiteRunner } from '../suite/subject.ts'

/** One new, empty store, and command over its time. */
export interface CacheSuiteSubject {
  readonly store: CacheStore
  /** The names of entries: `cacheKeyOf`. */
  keyOf(url: string): string
  nowMs(): number
  /** Lets `ms` pass on the store's clock. */
  advance(ms: number): Promise<void>
  /** Closes the store and opens the same data again. Only for durable stores. */
  readonly reopen?: () => Promise<CacheStore>
  /** A second process (or what stands for one) on the same data. Only for shared stores. */
  readonly join?: () => Promise<CacheStore>
  /** Changes a byte in the middle of what is kept of the body. The store is open meanwhile. */
  readonly damageBody?: (id: CacheId) => Promise<void>
  /** Removes the second half of it. */
  readonly cutBody?: (id: CacheId) => Promise<void>
  dispose(): Promise<void>
}

export interface CacheSuiteOptions {
  readonly runner: SuiteRunner
  readonly open: () => Promise<CacheSuiteSubject>
}

export type CacheSuiteCases = Readonly<Record<string, (subject: CacheSuiteSubject) => Promise<void>>>

export const HEADERS = [
  ['content-type', 'text/html; charset=utf-8'],
  ['set-cookie', 'a=1; Path=/'],
  ['set-cookie', 'b="2, 3"'],
  ['x-latin', 'caf\u00e9 \u00ff'],
  ['x-empty', ''],
] as const

export function entryFor(subject: CacheSuiteSubject, url: string, fields: Partial<NewCacheEntry> = {}): NewCacheEntry {
  const nowMs = subject.nowMs()
  return {
    key: subject.keyOf(url),
    url,
    method: 'GET',
    status: 200,
    headers: HEADERS,
    fetchedAtMs: nowMs,
    checkedAtMs: nowMs,
    wireBytes: 7,
    ...fields,
  }
}

export function idOf(subject: CacheSuiteSubject, url: string): CacheId {
  return { key: subject.keyOf(url), url }
}

/** A page that packs well, and that no other name has. */
export function bodyOf(name: string, bytes = 3000): Uint8Array {
  const line = `<p>page ${name} says the same again and again</p>\n`
  return Buffer.from(line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes))
}

export async function putPage(subject: CacheSuiteSubject, url: string, body = bodyOf(url)): Promise<void> {
  await subject.store.put(entryFor(subject, url), body)
}

export async function expectBody(store: CacheStore, id: CacheId, body: Uint8Array): Promise<void> {
  const answer = await store.get(id)
  ok(answer, `expected an answer for ${id.url}, found none`)
  equal(answer.entry.bodyBytes, body.length)
  ok(Buffer.from(answer.body).equals(body), `the body of ${id.url} is not what was put`)
}

export async function expectMiss(store: CacheStore, id: CacheId): Promise<void> {
  deepEqual((await store.get(id))?.entry, undefined, `expected no answer for ${id.url}`)
}

/** All entries, page by page. */
export async function listAll(store: CacheStore, filter: CacheFilter = {}, max = 7): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(filter, { max, ...(cursor === undefined ? {} : { cursor }) })
    ok(page.entries.length <= max)
    entries.push(...page.entries)
    cursor = page.cursor
  } while (cursor !== undefined)
  return entries
}
