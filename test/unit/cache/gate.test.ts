/** The gate: when the network is asked, when it is not, and what is kept; with a scripted origin and a real store. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheGate, CacheStore } from '../../../src/cache/contract.ts'
import { createCacheGate, type CacheGateOptions } from '../../../src/cache/gate.ts'
import { withCache } from '../../../src/cache/with-cache.ts'
import type { Fetcher, FetchRequest, FetchResponse, FetchResult } from '../../../src/fetch/contract.ts'
import { openSqliteCache } from '../../../src/stores/sqlite-cache/store.ts'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'

const DAY_MS = 86_400_000
const URL_A = 'http://a.test/page'

let dir: string
let store: CacheStore
let clock: ReturnType<typeof createFakeClock>
/** What went to the network, in order. */
let asked: FetchRequest[]
/** Answers to come, the last one for ever. */
let answers: (Partial<FetchResponse> | FetchResult)[]

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'spoor-gate-'))
  clock = createFakeClock()
  store = await openSqliteCache({ dir, clock })
  asked = []
  answers = [{}]
})
afterEach(async () => {
  await store.close()
  await rm(dir, { recursive: true, force: true })
})

const origin: Fetcher = {
  fetch: async (request) => {
    asked.push(request)
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {}
    return answer.kind === 'failure' ? answer : { ...page('body'), url: request.url, ...answer }
  },
  close: async () => undefined,
}

function page(body: string, headers: FetchResponse['headers'] = [['content-type', 'text/html']]): FetchResponse {
  const timings = { headMs: 1, totalMs: 2 }
  const bytes = Buffer.from(body)
  return { kind: 'response', url: URL_A, status: 200, headers, body: bytes, wireBytes: 99, truncated: false, timings }
}

function gate(options: Partial<CacheGateOptions> = {}): CacheGate {
  return createCacheGate({ store, mode: 'on', ttlMs: 30 * DAY_MS, clock, ...options })
}

async function get(through: CacheGate, request: Partial<FetchRequest> = {}): Promise<FetchResult> {
  return withCache(origin, through).fetch({ url: URL_A, ...request })
}

function canonicalOf(url: string): string {
  return url.replaceAll('%7E', '~')
}

function bodyOf(result: FetchResult): string {
  return result.kind === 'response' ? Buffer.from(result.body).toString() : result.failure
}

describe('a cache that is on', () => {
  it('downloads once, and serves from then on with the date of the download', async () => {
    const fetchedAtMs = clock.nowMs()
    await get(gate())
    await clock.advance(29 * DAY_MS)
    const again = await get(gate())
    expect(again).toMatchObject({ status: 200, fromCache: true, fetchedAtMs, wireBytes: 0 })
    expect(bodyOf(again)).toBe('body')
    expect(asked.length).toBe(1)
    expect((await store.stats()).counts).toEqual({ hits: 1, misses: 1, revalidated: 0, savedBytes: 99 })
  })

  it('asks with the validators exactly as they came once the page is old, and keeps the body at a 304', async () => {
    answers = [
      page('kept', [
        ['etag', 'W/"odd, one'],
        ['last-modified', 'some day'],
      ]),
      { status: 304, headers: [['etag', '"v2"']], body: Buffer.alloc(0) },
    ]
    await get(gate())
    await clock.advance(30 * DAY_MS)
    const result = await get(gate())
    expect(asked[1]?.headers).toEqual({ 'if-none-match': 'W/"odd, one', 'if-modified-since': 'some day' })
    expect(result).toMatchObject({ status: 200, fromCache: true, fetchedAtMs: clock.nowMs() - 30 * DAY_MS })
    expect(bodyOf(result)).toBe('kept')
    await clock.advance(29 * DAY_MS)
    await get(gate())
    expect(asked.length).toBe(2)
    await clock.advance(DAY_MS)
    await get(gate())
    expect(asked[2]?.headers).toEqual({ 'if-none-match': '"v2"', 'if-modified-since': 'some day' })
  })

  it('asks for the page anew when the kept one vanished before its 304 came', async () => {
    answers = [page('first', [['etag', '"1"']]), { status: 304, body: Buffer.alloc(0) }, page('second')]
    await get(gate())
    const through = gate({ ttlMs: 0 })
    const answer = await through.lookup({ url: URL_A })
    for (const entry of (await store.list({})).entries) await store.delete(entry)
    const result = await through.fetchThrough(origin, { url: URL_A }, answer)
    expect(bodyOf(result)).toBe('second')
    expect(asked[2]?.headers ?? {}).not.toHaveProperty('if-none-match')
  })

  it('fetches an old page that has no validator, and keeps the new one', async () => {
    answers = [page('old'), page('new')]
    await get(gate())
    await clock.advance(31 * DAY_MS)
    expect(bodyOf(await get(gate()))).toBe('new')
    expect(bodyOf(await get(gate()))).toBe('new')
    expect(asked.length).toBe(2)
  })

  it.each([
    ['a server error', { status: 500 }],
    ['throttling', { status: 429 }],
    ['a lack of rights', { status: 403 }],
    ['a part', { status: 206 }],
    ['a cut body', { truncated: true }],
    ['a redirect to nowhere', { status: 302, headers: [] }],
    ['a failure', { kind: 'failure', failure: 'reset', error: 'gone', wireBytes: 0 } as const],
  ])('does not keep %s, and leaves the kept page as it is', async (_, answer) => {
    answers = [page('good'), answer, page('good again')]
    await get(gate())
    await get(gate({ mode: 'refresh' }))
    expect(bodyOf(await get(gate()))).toBe('good')
    expect(asked.length).toBe(2)
    expect((await store.list({})).entries.length).toBe(1)
  })

  it('keeps redirects with their target', async () => {
    answers = [{ status: 301, headers: [['location', '/to']], body: Buffer.alloc(0) }]
    await get(gate())
    const result = await get(gate())
    expect(result).toMatchObject({ status: 301, headers: [['location', '/to']], fromCache: true })
    expect(asked.length).toBe(1)
  })

  it('asks again for a page that was not there, but knows it offline', async () => {
    answers = [{ status: 404 }]
    await get(gate())
    await get(gate())
    expect(asked.length).toBe(2)
    expect(await get(gate({ mode: 'offline' }))).toMatchObject({ status: 404, fromCache: true })
  })

  it.each([
    ['POST', { method: 'POST', body: 'q=1' }],
    ['a part', { headers: { range: 'bytes=0-9' } }],
    ['a condition of its own', { headers: { 'if-none-match': '"mine"' } }],
  ])('lets a request for %s pass by', async (_, request) => {
    await get(gate(), request)
    await get(gate(), request)
    expect(asked.length).toBe(2)
    expect((await store.list({})).entries).toEqual([])
  })

  it('keeps what a request that may be cut got whole, and gives it to those who take so much', async () => {
    answers = [page('body')]
    await get(gate(), { truncateAtBytes: 10 })
    expect(await get(gate(), { truncateAtBytes: 10 })).toMatchObject({ fromCache: true })
    expect(asked.length).toBe(1)
    await get(gate(), { truncateAtBytes: 3 })
    expect(asked.length).toBe(2)
  })

  it('lets no request out when the crawl is offline, whatever a single one asks for', async () => {
    await get(gate())
    const offline = gate({ mode: 'offline' })
    const answer = await offline.lookup({ url: URL_A }, { mode: 'refresh' })
    expect(answer).toMatchObject({ kind: 'hit' })
    expect(await offline.lookup({ url: 'http://a.test/other' }, { mode: 'off' })).toMatchObject({ kind: 'not-cached' })
  })

  it('shows nobody what was seen with the credentials of another', async () => {
    answers = [page('of all'), page('of ann'), page('of bob')]
    const [all, ann, bob] = [{}, { headers: { authorization: 'ann' } }, { headers: { cookie: 'bob' } }]
    for (const _ of [1, 2]) {
      expect(bodyOf(await get(gate(), all))).toBe('of all')
      expect(bodyOf(await get(gate(), ann))).toBe('of ann')
      expect(bodyOf(await get(gate(), bob))).toBe('of bob')
    }
    expect(asked.length).toBe(3)
  })

  it('keeps the variants that Vary names side by side, but none for what the fetcher decides', async () => {
    const vary = [['vary', 'Accept-Language, User-Agent, Accept-Encoding']] as const
    answers = [page('deutsch', vary), page('english', vary), page('any', vary)]
    const [de, en] = [{ headers: { 'accept-language': 'de' } }, { headers: { 'accept-language': 'en' } }]
    for (const _ of [1, 2]) {
      expect(bodyOf(await get(gate(), de))).toBe('deutsch')
      expect(bodyOf(await get(gate(), en))).toBe('english')
      expect(bodyOf(await get(gate(), {}))).toBe('any')
    }
    expect(bodyOf(await get(gate(), { headers: { ...de.headers, 'user-agent': 'other' } }))).toBe('deutsch')
    expect(asked.length).toBe(3)
  })

  it('is not made young for ever by a clock that was set back, nor old at once', async () => {
    await get(gate())
    clock.jumpWall(-DAY_MS)
    await get(gate())
    expect(asked.length).toBe(1)
  })

  it('names pages by their canonical URL and asks for them by their own', async () => {
    await get(gate({ canonicalOf }), { url: 'http://a.test/%7Eann#top' })
    expect(await get(gate({ canonicalOf }), { url: 'http://a.test/~ann' })).toMatchObject({ fromCache: true })
    expect(asked[0]?.url).toBe('http://a.test/%7Eann#top')
    const [entry] = (await store.list({})).entries
    expect(entry).toMatchObject({ url: 'http://a.test/~ann', wireUrl: 'http://a.test/%7Eann' })
  })

  it('goes on without the cache when that is broken, and says so', async () => {
    const faults: unknown[] = []
    await store.close()
    const onFault = (error: unknown): unknown => faults.push(error)
    expect(bodyOf(await get(gate({ onFault })))).toBe('body')
    expect(faults.length).toBe(2)
  })
})

describe('the other modes', () => {
  it('offline answers from the cache whatever its age, and fails what it lacks', async () => {
    await get(gate())
    await clock.advance(400 * DAY_MS)
    const offline = gate({ mode: 'offline' })
    expect(bodyOf(await get(offline))).toBe('body')
    expect(await get(offline, { url: 'http://a.test/other' })).toMatchObject({ kind: 'failure', failure: 'not-cached' })
    expect(asked.length).toBe(1)
  })

  it('refresh asks for everything and keeps it', async () => {
    answers = [page('first'), page('second')]
    await get(gate())
    expect(bodyOf(await get(gate({ mode: 'refresh' })))).toBe('second')
    expect(bodyOf(await get(gate()))).toBe('second')
  })

  it('off neither reads nor writes', async () => {
    await get(gate({ mode: 'off' }))
    await get(gate({ mode: 'off' }))
    expect(asked.length).toBe(2)
    expect((await store.list({})).entries).toEqual([])
  })

  it('a request may have a mode and an age of its own', async () => {
    await get(gate())
    const through = gate()
    for (const override of [{ mode: 'refresh' } as const, { ttlMs: 0 }]) {
      const answer = await through.lookup({ url: URL_A }, override)
      expect(answer.kind).toBe('miss')
    }
    expect((await through.lookup({ url: URL_A })).kind).toBe('hit')
  })

  it.each([
    ['max-age serves while fresh', [['cache-control', 'max-age=60']], { seconds: 59, requests: 1 }],
    ['max-age asks when stale', [['cache-control', 'max-age=60']], { seconds: 61, requests: 2 }],
    [
      'must-revalidate serves while fresh',
      [['cache-control', 'Max-Age=60, must-revalidate']],
      { seconds: 59, requests: 1 },
    ],
    [
      'the age on arrival counts',
      [
        ['cache-control', 'max-age=60'],
        ['age', '30'],
      ],
      { seconds: 31, requests: 2 },
    ],
    ['private is for us', [['cache-control', 'private, max-age=60, s-maxage=0']], { seconds: 59, requests: 1 }],
    [
      'no-cache asks always',
      [
        ['cache-control', 'no-cache, max-age=60'],
        ['etag', '"1"'],
      ],
      { seconds: 1, requests: 2 },
    ],
    ['no-store is not kept', [['cache-control', 'no-store, max-age=60']], { seconds: 1, requests: 2 }],
    [
      'Vary: * asks always',
      [
        ['cache-control', 'max-age=60'],
        ['vary', 'accept, *'],
      ],
      { seconds: 1, requests: 2 },
    ],
    ['a validator alone asks', [['etag', '"1"']], { seconds: 1, requests: 2 }],
    [
      'stale-while-revalidate asks',
      [['cache-control', 'max-age=1, stale-while-revalidate=60']],
      { seconds: 2, requests: 2 },
    ],
  ] as const)('http: %s', async (_, headers, { seconds, requests }) => {
    answers = [page('x', headers)]
    await get(gate({ mode: 'http' }))
    await clock.advance(seconds * 1000)
    await get(gate({ mode: 'http' }))
    expect(asked.length).toBe(requests)
  })
})
