/** What a request says of the cache, and what a task's `reload` says of its pages, is what happens. */

import { expect, it } from 'vitest'
import { Crawler, type CrawlerOptions } from '../../../src/crawler/crawler.ts'
import type { RequestDraft } from '../../../src/engine/contract.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'

const askedOf = (site: TestSite): readonly string[] =>
  site.log.filter(({ path }) => path !== '/robots.txt').map(({ path }) => path)

function askedFor(site: TestSite, path: string): number {
  return site.requestsFor(path).length
}

/** A crawl of its own over the cache of the folder. */
function crawlerIn(dir: string, options: CrawlerOptions = {}): Crawler {
  return new Crawler({ dir, robots: false, requestHandler: () => undefined, ...options })
}

it('goes by what a seed says of the cache', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const seeds = (drafts: Readonly<Record<string, RequestDraft['cache']>>): RequestDraft[] =>
    Object.entries(drafts).map(([path, cache]) => ({ url: site.url(path), ...(cache === undefined ? {} : { cache }) }))
  await crawlerIn(folder.path).run(seeds({ '/a': undefined, '/b': undefined, '/c': undefined, '/off': 'off' }))
  site.clearLog()
  const again = seeds({ '/a': undefined, '/b': 'refresh', '/c': { ttlMs: 0 }, '/off': { mode: 'offline' } })
  const summary = await crawlerIn(folder.path, { task: 'again', maxRequestRetries: 0 }).run(again)
  expect(askedOf(site).toSorted()).toEqual(['/b', '/c'])
  expect(summary).toMatchObject({ pages: 3, failed: 1, fromCache: 1 })
})

const chooseByLink: CrawlerOptions['requestHandler'] = async ({ request, enqueueLinks, addRequests }) => {
  if (request.depth > 0) return
  await enqueueLinks({
    match: /kept|anew/,
    transform: (draft) => (draft.url.endsWith('/anew') ? { ...draft, cache: { mode: 'refresh' } } : draft),
  })
  await enqueueLinks({ match: /chosen/, cache: 'refresh' })
  await addRequests([{ url: '/added', cache: { ttlMs: 0 } }, '/plain'])
}

it('goes by what addRequests, enqueueLinks and its transform say of the cache', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': { links: ['/kept', '/anew', '/chosen'] }, '*': {} })
  const paths = ['/', '/kept', '/anew', '/chosen', '/added', '/plain']
  await crawlerIn(folder.path).run(paths.map((path) => site.url(path)))
  site.clearLog()
  const summary = await crawlerIn(folder.path, { task: 'again', requestHandler: chooseByLink }).run(site.url('/'))
  expect(askedOf(site).toSorted()).toEqual(['/added', '/anew', '/chosen'])
  expect(summary).toMatchObject({ pages: 6, fromCache: 3 })
})

it('remembers what a request said when the crawl goes on in another process', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const urls = ['/1', '/2', '/3'].map((path) => site.url(path))
  await crawlerIn(folder.path).run(urls)
  site.clearLog()
  const first = crawlerIn(folder.path, { task: 'again', maxRequestsPerCrawl: 1, maxConcurrency: 1 })
  expect(await first.run(urls.map((url) => ({ url, cache: 'refresh' as const })))).toMatchObject({ pages: 1 })
  expect(askedOf(site)).toHaveLength(1)
  await crawlerIn(folder.path, { task: 'again' }).run()
  expect(askedOf(site)).toHaveLength(3)
})

it('sends nothing offline, whatever a request says', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  await crawlerIn(folder.path).run(site.url('/'))
  site.clearLog()
  const offline = crawlerIn(folder.path, { task: 'again', cache: 'offline' })
  expect(await offline.run({ url: site.url('/'), cache: 'refresh' })).toMatchObject({ pages: 1, fromCache: 1 })
  expect(site.log).toEqual([])
})

it('refuses a word that is no mode before anything is sent', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const wrong = { url: site.url('/'), cache: 'fresh' } as unknown as RequestDraft
  await expect(crawlerIn(folder.path).run(wrong)).rejects.toThrow(/expected one of on, http, .*found "fresh"/)
  expect(site.log).toEqual([])
})

it('fetches nothing of a crawl that is at its end, unless it may reload', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': { links: ['/a'], headers: { etag: '"1"' } },
    '/a': {},
    '/broken': { status: 500 },
  })
  const options: CrawlerOptions = { maxRequestRetries: 0 }
  const seeds = [site.url('/'), site.url('/a'), site.url('/broken')]
  await crawlerIn(folder.path, options).run(seeds)
  site.clearLog()

  expect(await crawlerIn(folder.path, options).run(seeds)).toMatchObject({ alreadyFinished: true })
  expect(askedOf(site)).toEqual([])

  // a failed page always may
  await crawlerIn(folder.path, { ...options, reload: false }).run(seeds)
  expect(askedOf(site)).toEqual(['/broken'])
  site.clearLog()

  const summary = await crawlerIn(folder.path, { ...options, reload: true }).run(seeds)
  expect(askedOf(site).toSorted()).toEqual(['/', '/a', '/broken'])
  expect(summary).toMatchObject({ pages: 2, failed: 1, alreadyFinished: false })
})

it('takes up a reload where it was interrupted, and asks for no page twice', async () => {
  await using folder = await openTemporaryFolder()
  const paths = ['/1', '/2', '/3', '/4']
  await using site = await openTestSite({ '*': {} })
  const seeds = paths.map((path) => site.url(path))
  await crawlerIn(folder.path).run(seeds)
  site.clearLog()
  const first = crawlerIn(folder.path, {
    reload: true,
    maxConcurrency: 1,
    requestHandler: ({ request }) => {
      if (request.url.endsWith('/2')) first.stop()
    },
  })
  expect(await first.run(seeds)).toMatchObject({ finishReason: 'interrupted' })
  await crawlerIn(folder.path, { reload: true }).run(seeds)
  expect(paths.map((path) => askedFor(site, path))).toEqual([1, 1, 1, 1])
})

const isKept = (n: number): boolean => n % 3 !== 0 || n < 40

it('asks for what is not kept one at a time, amid pages that are', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': { delayMs: 1 } })
  const paths = Array.from({ length: 120 }, (_, n) => `/${n}`)
  const kept = paths.filter((_path, n) => isKept(n)).map((path) => site.url(path))
  await crawlerIn(folder.path).run(kept)
  site.clearLog()
  const again = crawlerIn(folder.path, { task: 'again', perHost: 1, maxConcurrency: 16 })
  const summary = await again.run(paths.map((path) => site.url(path)))
  expect(summary).toMatchObject({ pages: 120, fromCache: kept.length, failed: 0 })
  const missing = paths.filter((_path, n) => !isKept(n))
  expect(askedOf(site)).toEqual(missing)
  expect(Math.max(...site.log.map(({ hostInFlight }) => hostInFlight))).toBe(1)
})
