/** Politeness by default, read from the request log of a real server. */

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import { crawlHosts, numberedUrls, urlsOf } from './crawl-hosts.ts'

it('keeps the delay between two requests to one host, and not between hosts', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/robots.txt': { status: 404 }, '*': {} })
  const seeds = [...numberedUrls('a.test', 6), ...numberedUrls('b.test', 6)]
  const end = await crawlHosts({ site, folder: folder.path, seeds, args: ['--delay', '200ms'] })
  expect(end, end.stderr).toMatchObject({ code: 0 })
  for (const host of ['a.test', 'b.test']) {
    const times = site.log
      .filter((entry) => entry.host === host && entry.path !== '/robots.txt')
      .map(({ atMs }) => atMs)
    expect(times).toHaveLength(6)
    // five gaps of 200 ms; one of them is left for the way through two busy processes
    expect((times[5] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(4 * 200)
  }
  const starts = ['a.test', 'b.test'].map((host) => site.log.find((entry) => entry.host === host)?.atMs ?? 0)
  const ends = ['a.test', 'b.test'].map((host) => site.log.findLast((entry) => entry.host === host)?.atMs ?? 0)
  expect(Math.max(...starts)).toBeLessThan(Math.min(...ends))
})

it('waits half a second between requests to one host when nothing is said', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  await crawlHosts({ site, folder: folder.path, seeds: numberedUrls('a.test', 4), args: ['--no-robots'] })
  expect(site.log).toHaveLength(4)
  expect((site.log[3]?.atMs ?? 0) - (site.log[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(2 * 500)
})

it('has no more requests in flight at one host than allowed', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': { delayMs: 20 } })
  const seeds = [...numberedUrls('a.test', 30), ...numberedUrls('b.test', 30)]
  const args = ['--delay', '0', '--per-host', '3', '--no-robots']
  await crawlHosts({ site, folder: folder.path, seeds, args })
  expect(site.log).toHaveLength(60)
  expect(Math.max(...site.log.map(({ hostInFlight }) => hostInFlight))).toBe(3)
})

it('obeys a Crawl-delay that is longer than the delay', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/robots.txt': { body: 'User-agent: *\nCrawl-delay: 1\n' }, '*': {} })
  await crawlHosts({ site, folder: folder.path, seeds: numberedUrls('a.test', 4), args: ['--delay', '0'] })
  const times = site.log.filter(({ path }) => path !== '/robots.txt').map(({ atMs }) => atMs)
  expect(times).toHaveLength(4)
  expect((times[3] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(1000)
})

it('keeps the delay after robots.txt, also when the page that asked for it is not allowed', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /1\n' }, '*': {} })
  const seeds = ['http://a.test/1', 'http://a.test/2']
  await crawlHosts({ site, folder: folder.path, seeds, args: ['--delay', '600ms'] })
  expect(site.log.map(({ path }) => path)).toEqual(['/robots.txt', '/2'])
  expect((site.log[1]?.atMs ?? 0) - (site.log[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(400)
})

it('leaves a host alone for as long as Retry-After says, and no other host', async () => {
  await using folder = await openTemporaryFolder()
  const slow = { delayMs: 5 }
  await using site = await openTestSite({
    '//busy.test/1': [{ status: 429, headers: { 'retry-after': '2' } }, {}],
    '//busy.test/*': {},
    '//free.test/*': slow,
  })
  const seeds = [...numberedUrls('busy.test', 5), ...numberedUrls('free.test', 50)]
  const args = ['--delay', '0', '--per-host', '1', '--no-robots']
  const end = await crawlHosts({ site, folder: folder.path, seeds, args })
  expect(end, end.stderr).toMatchObject({ code: 0 })
  const [refused] = site.requestsFor('//busy.test/1')
  const silentUntilMs = (refused?.endedAtMs ?? 0) + 2000
  const during = site.log.filter(({ number, atMs }) => number > (refused?.number ?? 0) && atMs < silentUntilMs)
  expect(during.filter(({ host }) => host === 'busy.test')).toEqual([])
  expect(during.filter(({ host }) => host === 'free.test').length).toBeGreaterThan(10)
  expect((await urlsOf(folder.path)).length).toBe(55)
})

it('asks for robots.txt once for all requests that wait for it, and obeys it', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/robots.txt': { body: 'User-agent: *\nDisallow: /1\n', delayMs: 200 },
    '*': {},
  })
  const args = ['--delay', '0', '--per-host', '16']
  const end = await crawlHosts({ site, folder: folder.path, seeds: numberedUrls('a.test', 300), args })
  // a dozen waiters on one signal are no leak, and no business of the person at the terminal
  expect(end.stderr).not.toContain('Warning')
  expect(site.requestsFor('/robots.txt')).toHaveLength(1)
  expect(site.log.filter(({ path }) => path.startsWith('/1'))).toEqual([])
  // 1, 10 to 19, 100 to 199
  expect((await urlsOf(folder.path)).length).toBe(300 - 111)
  const why = await runSpoor(['why', 'http://a.test/17', '--dir', join(folder.path, 'data'), '--json'])
  expect(JSON.parse(why.stdout)).toMatchObject({ state: 'skipped', reason: 'robots' })
})

it('waits for a robots.txt that cannot be had, and then fetches what it allows', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/robots.txt': [{ status: 503 }, { fault: { kind: 'reset' } }, { body: 'User-agent: *\nDisallow: /2\n' }],
    '*': {},
  })
  const args = ['--delay', '0']
  const end = await crawlHosts({ site, folder: folder.path, seeds: numberedUrls('a.test', 5), args })
  expect(end, end.stderr).toMatchObject({ code: 0 })
  const firstPage = site.log.findIndex(({ path }) => path !== '/robots.txt')
  expect(site.log.slice(0, firstPage).filter(({ path }) => path === '/robots.txt').length).toBeGreaterThanOrEqual(3)
  expect((await urlsOf(folder.path)).toSorted()).toEqual([1, 3, 4, 5].map((page) => `http://a.test/${page}`))
})

it('comes to its end although a host is dead, and crawls the others', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const seeds = [...numberedUrls('dead.test', 40), ...numberedUrls('a.test', 40)]
  const dead = ['--connect-to', `dead.test::127.0.0.1:${port}`]
  const end = await crawlHosts({ site, folder: folder.path, seeds, args: [...dead, '--delay', '0', '--no-robots'] })
  expect(end.code).toBe(1)
  expect(JSON.parse(end.stdout)).toMatchObject({ pages: 40, failed: 40 })
  expect((await urlsOf(folder.path)).toSorted()).toEqual(numberedUrls('a.test', 40).toSorted())
})

it('does not let one slow host with many pages delay nine small ones', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '//slow.test/*': { delayMs: 100 }, '*': { delayMs: 5 } })
  const small = Array.from({ length: 9 }, (_, index) => numberedUrls(`small${index}.test`, 5)).flat()
  // the slow host's pages stand first in the queue
  const seeds = [...numberedUrls('slow.test', 200), ...small]
  await crawlHosts({ site, folder: folder.path, seeds, args: ['--delay', '0', '--no-robots', '--concurrency', '8'] })
  const lastSmall = site.log.findLastIndex(({ host }) => host.startsWith('small'))
  expect(site.log.slice(0, lastSmall).filter(({ host }) => host === 'slow.test').length).toBeLessThan(50)
  expect((await urlsOf(folder.path)).length).toBe(245)
})
