import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RobotsDecision, RobotsSource } from '../../../src/robots/contract.ts'
import { createRobotsSource } from '../../../src/robots/service.ts'
import { openHttpFetcher } from '../../../src/fetch/http/fetcher.ts'
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import type { SiteAnswer, SiteRoutes } from '../../../src/testing/site-answer.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { seededRandom } from '../../../src/util/random.ts'

const HOUR_MS = 60 * 60 * 1000
const text = (body: string, more: SiteAnswer = {}): SiteAnswer => ({
  headers: { 'content-type': 'text/plain' },
  body,
  ...more,
})
const to = (location: string): SiteAnswer => ({ status: 302, headers: { location }, body: '' })
const FORBIDS_X = text('User-agent: spoor\nDisallow: /x\nCrawl-delay: 2\n')

let site: TestSite
let clock: FakeClock
let fetcher: ReturnType<typeof openHttpFetcher>
let store: ReturnType<typeof openMemoryStore>

beforeEach(async () => {
  site = await openTestSite({})
  clock = createFakeClock()
  // Names lead to the test site, so that redirects to other hosts can be tried.
  fetcher = openHttpFetcher({ userAgent: 'test', connectTo: [`::127.0.0.1:${site.port}`] })
  store = openMemoryStore({ clock, random: seededRandom(1) })
})
afterEach(async () => {
  await fetcher.close()
  await store.close()
  await site.close()
})

function sourceFor(routes: SiteRoutes): RobotsSource {
  site.setRoutes(routes)
  return newSource()
}

function newSource(): RobotsSource {
  return createRobotsSource({
    fetcher,
    state: store.state,
    clock,
    random: seededRandom(2),
    agent: 'spoor',
    userAgent: 'spoor/1',
    allowPrivate: true,
  })
}

async function ask(source: RobotsSource, path = '/x', host = 'site.test'): Promise<RobotsDecision> {
  return source.decide(`http://${host}${path}`, { allowPrivate: true })
}

const isAllowed = (decision: RobotsDecision): boolean | string =>
  decision.kind === 'verdict' ? decision.verdict.allowed : decision.kind

describe('the robots source', () => {
  it('fetches the file once for a thousand who wait, with its own user agent', async () => {
    const source = sourceFor({ '/robots.txt': FORBIDS_X })
    const decisions = await Promise.all(Array.from({ length: 1000 }, (_, i) => ask(source, i % 2 === 0 ? '/x' : '/y')))
    expect(decisions.filter((decision) => isAllowed(decision) === true)).toHaveLength(500)
    expect(decisions[0]).toMatchObject({ verdict: { rule: 'Disallow: /x', line: 2, crawlDelay: 2 } })
    expect(site.log).toHaveLength(1)
    expect(site.log[0]?.headers['user-agent']).toBe('spoor/1')
  })

  it('says when a request for the file goes out, redirects too, and only then', async () => {
    const source = sourceFor({ '/robots.txt': to('/rules.txt'), '/rules.txt': FORBIDS_X })
    let sent = 0
    const onSent = () => sent++
    await source.decide('http://site.test/x', { allowPrivate: true, onSent })
    await source.decide('http://site.test/y', { allowPrivate: true, onSent })
    expect(sent).toBe(2)
    expect(site.log.map(({ path }) => path)).toEqual(['/robots.txt', '/rules.txt'])
  })

  it('keeps the file for 24 hours, over restarts too', async () => {
    const first = sourceFor({ '/robots.txt': [FORBIDS_X, text('')] })
    expect(isAllowed(await ask(first))).toBe(false)
    await clock.advance(23 * HOUR_MS)
    const second = newSource()
    expect(isAllowed(await ask(second))).toBe(false)
    expect(site.log).toHaveLength(1)
    await clock.advance(2 * HOUR_MS)
    expect(isAllowed(await ask(second))).toBe(true)
    expect(site.log).toHaveLength(2)
  })

  it('fetches anew when the wall clock was set back', async () => {
    const source = sourceFor({ '/robots.txt': FORBIDS_X })
    await ask(source)
    clock.jumpWall(-HOUR_MS)
    expect(isAllowed(await ask(source))).toBe(false)
    expect(site.log).toHaveLength(2)
  })

  it.each([404, 403, 401, 410, 451, 400, 304, 300])('takes %i for a file that is not there', async (status) => {
    const source = sourceFor({ '/robots.txt': text('User-agent: *\nDisallow: /', { status }) })
    expect(isAllowed(await ask(source))).toBe(true)
    expect(isAllowed(await ask(source))).toBe(true)
    expect(site.log).toHaveLength(1)
  })

  it.each([500, 502, 503, 504, 429])(
    'takes %i for unreachable, tries again with growing waits, then obeys',
    async (status) => {
      const broken = text('', { status })
      const source = sourceFor({ '/robots.txt': [broken, broken, FORBIDS_X] })
      const first = await ask(source)
      expect(first).toMatchObject({ kind: 'unreachable', tries: 1, error: expect.stringContaining(String(status)) })
      if (first.kind !== 'unreachable') return
      expect(first.retryInMs).toBeGreaterThanOrEqual(500)
      expect(first.retryInMs).toBeLessThanOrEqual(1000)
      expect(await ask(source)).toMatchObject({ kind: 'unreachable', tries: 1 })
      expect(site.log).toHaveLength(1)
      await clock.advance(first.retryInMs)
      const second = await ask(source)
      expect(second).toMatchObject({ kind: 'unreachable', tries: 2 })
      await clock.advance(second.kind === 'unreachable' ? second.retryInMs : 0)
      expect(isAllowed(await ask(source))).toBe(false)
      expect(site.log).toHaveLength(3)
    },
  )

  it('waits as long as the server asks', async () => {
    const source = sourceFor({
      '/robots.txt': [text('', { status: 503, headers: { 'retry-after': '120' } }), text('')],
    })
    expect(await ask(source)).toMatchObject({ kind: 'unreachable', retryInMs: 120_000 })
    await clock.advance(119_000)
    expect(await ask(source)).toMatchObject({ kind: 'unreachable', retryInMs: 1000 })
  })

  it('takes network faults for unreachable', async () => {
    const source = sourceFor({ '/robots.txt': { fault: { kind: 'reset' } } })
    expect(await ask(source)).toMatchObject({ kind: 'unreachable', tries: 1 })
  })

  it('goes on obeying an old file while a new one cannot be had, for a week', async () => {
    const source = sourceFor({ '/robots.txt': [FORBIDS_X, text('', { status: 500 })] })
    await ask(source)
    await clock.advance(30 * HOUR_MS)
    expect(isAllowed(await ask(source))).toBe(false)
    expect(isAllowed(await ask(source, '/y'))).toBe(true)
    expect(site.log).toHaveLength(2)
    await clock.advance(8 * 24 * HOUR_MS)
    expect(isAllowed(await ask(source))).toBe('unreachable')
  })

  it('follows five redirects, to other hosts too, and applies the rules to the host that was asked', async () => {
    const source = sourceFor({
      '//site.test/robots.txt': to('/1'),
      '/1': to('2?q#f'),
      '/2?q': to('//www.site.test/3'),
      '/3': to('/4'),
      '/4': to('http://other.test/robots.txt'),
      '//other.test/robots.txt': FORBIDS_X,
    })
    expect(isAllowed(await ask(source))).toBe(false)
    expect(site.log.map(({ host, path }) => host + path).at(-1)).toBe('other.test/robots.txt')
  })

  it.each(['/robots.txt', 'ftp://site.test/robots.txt', 'http://[', ''])(
    'allows everything after a redirect without end or sense: %j',
    async (location) => {
      const source = sourceFor({ '/robots.txt': { status: 301, headers: { location }, body: '' } })
      expect(isAllowed(await ask(source))).toBe(true)
      expect(site.log.length).toBeLessThanOrEqual(6)
    },
  )

  it('has a file for each port and scheme', async () => {
    const source = sourceFor({ '//site.test/robots.txt': FORBIDS_X, '//site.test:8080/robots.txt': text('') })
    expect(isAllowed(await ask(source))).toBe(false)
    expect(isAllowed(await ask(source, '/x', 'site.test:8080'))).toBe(true)
  })

  it('reads an endless file up to its limit', async () => {
    const source = sourceFor({ '/robots.txt': { ...FORBIDS_X, fault: { kind: 'endless' } } })
    expect(isAllowed(await ask(source))).toBe(false)
  })

  it('says that the address guard refuses the host', async () => {
    const source = createRobotsSource({ fetcher, state: store.state, clock, random: seededRandom(2), agent: 'spoor' })
    expect(await source.decide('http://127.0.0.1/x', { allowPrivate: false })).toEqual({ kind: 'guarded' })
    expect(site.log).toHaveLength(0)
  })

  it('lets one of those who wait leave without disturbing the others', async () => {
    const source = sourceFor({ '/robots.txt': { ...FORBIDS_X, delayMs: 50 } })
    const leaving = new AbortController()
    const left = source.decide('http://site.test/x', { allowPrivate: true, signal: leaving.signal })
    const stays = ask(source)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(isAllowed(await stays)).toBe(false)
    expect(site.log).toHaveLength(1)
  })

  it('starts anew after all who waited have left', async () => {
    const source = sourceFor({ '/robots.txt': [{ fault: { kind: 'hang' } }, FORBIDS_X] })
    const leaving = new AbortController()
    const left = source.decide('http://site.test/x', { allowPrivate: true, signal: leaving.signal })
    await site.waitForRequests(1)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(isAllowed(await ask(source))).toBe(false)
  })

  it('passes over what another version wrote into the store', async () => {
    await store.state.set({ 'robots/http://site.test': '{"v":7', 'robots/http://b.test': 'null' })
    const source = sourceFor({ '/robots.txt': FORBIDS_X })
    expect(isAllowed(await ask(source))).toBe(false)
    expect(isAllowed(await ask(source, '/x', 'b.test'))).toBe(false)
  })
})
