/** What `graph` keeps of a crawl: each link of each page once, with its kind, rel and text, whoever handles the page. */

import { parse as parseCsv } from 'csv-parse/sync'
import { SaxesParser } from 'saxes'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { Crawler, type CrawlerOptions } from '../../../src/crawler/crawler.ts'
import { openCrawlGraph } from '../../../src/crawler/crawl-graph.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import type { SiteRoutes } from '../../../src/testing/site-answer.ts'
import { seededRandom } from '../../../src/util/random.ts'

interface Crawled extends AsyncDisposable {
  readonly site: TestSite
  readonly store: Store
}

async function crawl(routes: SiteRoutes, options: CrawlerOptions = {}, seeds = ['/']): Promise<Crawled> {
  const site = await openTestSite(routes)
  const store = openMemoryStore({ clock: systemClock, random: seededRandom(1) })
  await new Crawler({ store, robots: false, cache: 'off', graph: true, retries: 0, ...options }).run(
    seeds.map((path) => site.url(path)),
  )
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

const CHAINS: SiteRoutes = {
  '/': html(
    '<a href="/r1">r1</a><a href="/gone" rel="nofollow">gone</a><a href="/page">page</a><a href="/to-page">p</a>',
  ),
  '/r1': { status: 301, headers: { location: '/r2' } },
  '/r2': { status: 302, headers: { location: '/end' } },
  '/end': html('<a href="/gone">g</a>'),
  '/to-page': { status: 302, headers: { location: '/page' } },
  '/page': html('<a href="/">home</a> <a href="/twin">t</a>'),
  '/twin': html('<a href="/">home</a> <a href="/twin">t</a>'),
  '/only-a-seed': html('</title>"<b>&amp;\\'),
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

it('tells what is linked most, what is broken and where, orphans, redirects and twins', async () => {
  await using crawled = await crawl(CHAINS, {}, ['/', '/only-a-seed'])
  const { site, store } = crawled
  const survey = await (await openCrawlGraph(store, 'default')).survey(10)
  const path = (url: string): string => url.replace(site.url('/'), '/')
  expect(survey).toMatchObject({ hasLinks: true, hosts: 1, statuses: { 200: 5, 404: 1 } })
  expect(
    survey.broken.list.map(({ url, status, from }) => [path(url), status, from.count, from.list.map(path)]),
  ).toEqual([['/gone', 404, 2, ['/', '/r1']]])
  expect(survey.orphans.list.map(({ url }) => path(url))).toEqual(['/only-a-seed'])
  expect(survey.redirects.list.map((chain) => chain.map(path))).toEqual([
    ['/r1', '/r2', '/end'],
    ['/to-page', '/page'],
  ])
  expect(survey.mostLinked.list.map(({ url, links }) => [path(url), links])[0]).toEqual(['/', 2])
  expect(survey.duplicates.list.map(({ urls }) => urls.map(path))).toEqual([['/page', '/twin']])
})

/** What an XML parser finds: element names, and the text of each `data`. */
function readXml(text: string): { readonly elements: readonly string[]; readonly texts: readonly string[] } {
  const elements: string[] = []
  const texts: string[] = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => elements.push(name))
  parser.on('text', (found) => texts.push(found))
  parser.write(text).close()
  return { elements, texts }
}

it('writes files that their readers understand, whatever pages write into their links', async () => {
  const text = "\"],\\ </graph>]]>&, 'x' -> y;\\"
  const shown = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const body = `<a href="/a?q=%22'&lt;">${shown}</a><a href="/b">two${String.fromCharCode(1)}\nlines</a>`
  await using crawled = await crawl({ '/': html(body), '*': html('') }, { maxDepth: 1 })
  const graph = await openCrawlGraph(crawled.store, 'default')
  const { elements, texts } = readXml(await textOf(graph.write('graphml')))
  expect([
    elements.filter((name) => name === 'node').length,
    elements.filter((name) => name === 'edge').length,
  ]).toEqual([3, 2])
  expect(texts).toContain(text)
  const csv = parseCsv(await textOf(graph.write('csv')), { columns: true }) as readonly Record<string, string>[]
  expect(csv.map((line) => [line['source'], line['text']])).toEqual([
    [crawled.site.url('/'), text],
    [crawled.site.url('/'), 'two\u0001 lines'],
  ])
  const dot = await textOf(graph.write('dot'))
  expect(dot.split('\n').filter((line) => / -> n\d+ \[label="/.test(line))).toHaveLength(2)
  expect(dot.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')).not.toMatch(/[<>&'](?!\s*n\d)/)
  expect(parseCsv(await textOf(graph.write('nodes.csv')))).toHaveLength(4)
})
