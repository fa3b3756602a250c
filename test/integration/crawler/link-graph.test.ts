/** What `graph` keeps of a crawl: each link of each page once, with its kind, rel and text, whoever handles the page. */

import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { Crawler, type CrawlerOptions } from '../../../src/crawler/crawler.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import type { SiteRoutes } from '../../../src/testing/site-answer.ts'
import { seededRandom } from '../../../src/util/random.ts'

interface Crawled extends AsyncDisposable {
  readonly site: TestSite
  readonly store: Store
}

async function crawl(routes: SiteRoutes, options: CrawlerOptions = {}): Promise<Crawled> {
  const site = await openTestSite(routes)
  const store = openMemoryStore({ clock: systemClock, random: seededRandom(1) })
  await new Crawler({ store, robots: false, cache: 'off', graph: true, retries: 0, ...options }).run(site.url('/'))
  return {
    site,
    store,
    [Symbol.asyncDispose]: async () => {
      await store.close()
      await site.close()
    },
  }
}

/** `from > to kind rel "text"` for each link. */
async function linksOf({ store, site }: Crawled): Promise<readonly string[]> {
  const { records } = await store.frontier.list({ task: 'default' }, { max: 10_000 })
  const names = new Map(records.map(({ id, request }) => [id, request.url]))
  for (const { id, url } of (await store.links?.urls('default', { max: 10_000 }))?.urls ?? []) names.set(id, url)
  const { pages = [] } = (await store.links?.pages('default', { max: 10_000 })) ?? {}
  const nameOf = (id: string): string => (names.get(id) ?? id).replace(site.url('/'), '/')
  return pages
    .flatMap(({ page, links }) =>
      links.map(({ target, kind, rel, text }) => `${nameOf(page)} > ${nameOf(target)} ${kind} ${rel} "${text}"`),
    )
    .toSorted()
}

const html = (body: string, head = ''): { readonly body: string; readonly headers: Record<string, string> } => ({
  body: `<!doctype html><html><head><title>T</title>${head}</head><body>${body}</body></html>`,
  headers: { 'content-type': 'text/html' },
})

const ROUTES: SiteRoutes = {
  '/': html(
    `<a href="/a">first <b>text</b></a> <a href="/a#part">again</a> <a href="/a" rel="Nofollow">no</a> <a href="/">self</a>
     <a href="http://elsewhere.invalid/x">out</a> <a href="/missing"><img src="x.png"></a> <a href="/missing">words</a>
     <area href="/b"> <iframe src="/moved"></iframe>`,
    '<link rel="alternate" href="/b">',
  ),
  '/a': html('<a href="/b">b</a>'),
  '/b': html('<a href="/a">a</a>', '<meta http-equiv="refresh" content="0; url=/a2">'),
  '/a2': html('<a href="/">home</a>'),
  '/moved': { status: 302, headers: { location: '/a' } },
}

const EXPECTED = [
  '/ > /a a  "first text"',
  '/ > /a a nofollow "no"',
  '/ > /b area  ""',
  '/ > /b link alternate ""',
  '/ > /missing a  "words"',
  '/ > /moved iframe  ""',
  '/ > http://elsewhere.invalid/x a  "out"',
  '/a > /b a  "b"',
  '/b > / a  "home"',
  '/b > /a a  "a"',
  '/b > /a2 refresh  ""',
]

it('keeps each link once, with the first text that readers see, and those of a page that sends its readers on', async () => {
  await using crawled = await crawl(ROUTES)
  expect(await linksOf(crawled)).toEqual(EXPECTED)
  expect(await crawled.store.verify()).toEqual([])
})

const followNothing = (): undefined => undefined

it('keeps the same where a handler follows none of them, and nothing when it is off', async () => {
  await using crawled = await crawl(ROUTES, { requestHandler: followNothing })
  expect(await linksOf(crawled)).toEqual(EXPECTED.filter((line) => line.startsWith('/ ')))
  await using off = await crawl(ROUTES, { graph: false })
  expect(await linksOf(off)).toEqual([])
})

it('keeps 5,000 links of a page, and counts the rest', async () => {
  const links = Array.from({ length: 5200 }, (_, n) => `/${n % 5100}`)
  await using crawled = await crawl({ '/': { links } }, { maxDepth: 0 })
  const { pages = [] } = (await crawled.store.links?.pages('default', { max: 2 })) ?? {}
  expect(pages.map((page) => [page.links.length, page.dropped, page.title.length > 0])).toEqual([[5000, 100, true]])
})

it('is refused, before anything is fetched, by a store that keeps no links', async () => {
  await using site = await openTestSite({ '*': {} })
  const { links: _, ...store } = openMemoryStore({ clock: systemClock, random: seededRandom(1) })
  const crawling = new Crawler({ store, graph: true }).run(site.url('/'))
  await expect(crawling).rejects.toThrow(/--graph: expected the embedded store, found memory/)
  expect(site.log).toEqual([])
})
