/** Whole crawls of sites that answer badly: what becomes of each URL, and what is asked. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Crawler, type CrawlerOptions } from '../../../src/crawler/crawler.ts'
import type { CrawlReader, CrawlSummary } from '../../../src/crawler/contract.ts'
import { openForReading } from '../../../src/crawler/read-crawl.ts'
import type { SiteAnswer, SiteRoutes } from '../../../src/testing/site-answer.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder, type TemporaryFolder } from '../../support/command.ts'

interface Crawled extends AsyncDisposable {
  readonly site: TestSite
  readonly summary: CrawlSummary
  readonly reader: CrawlReader
  readonly folder: TemporaryFolder
  readonly paths: readonly string[]
}

async function crawl(routes: SiteRoutes, options: CrawlerOptions = {}, start: string | null = '/'): Promise<Crawled> {
  const site = await openTestSite(routes)
  const folder = await openTemporaryFolder()
  const dir = join(folder.path, 'data')
  const own = { sitemaps: (options.sitemaps ?? []).map((path) => site.url(path)) }
  const seeds = start === null ? [] : site.url(start)
  const summary = await new Crawler({ dir, robots: false, retries: 0, ...options, ...own }).run(seeds)
  const reader = await openForReading({ dir, store: undefined, task: 'default' })
  return {
    site,
    summary,
    reader,
    folder,
    paths: site.log.map(({ path }) => path),
    [Symbol.asyncDispose]: async () => {
      await reader.close()
      await site.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const hex = (visit: number): string => visit.toString(16).padStart(32, 'a')
const html = (body: string): { readonly headers: Record<string, string>; readonly body: string } => ({
  headers: { 'content-type': 'text/html' },
  body,
})
const redirectTo = (location: string): SiteAnswer => ({ status: 302, headers: { location }, body: '' })
const refreshTo = (url: string, seconds = 0): string => `<meta http-equiv=refresh content="${seconds};url=${url}">`

describe('redirects', () => {
  it('to one page are handled once, and each URL names the one that stands for it', async () => {
    await using crawled = await crawl({
      '/': { links: ['/a', '/b', '/final'] },
      '/a': redirectTo('/final'),
      '/b': redirectTo('/final#part'),
      '/final': { title: 'final' },
    })
    const { site, reader, summary, paths } = crawled
    expect(summary).toMatchObject({ pages: 2, failed: 0, skipped: { duplicate: 2 } })
    expect(paths.filter((path) => path === '/final')).toHaveLength(1)
    const answers = await Promise.all(['/a', '/b', '/final'].map((path) => reader.why(site.url(path))))
    const done = answers.find(({ state }) => state === 'done')
    for (const answer of answers.filter(({ state }) => state !== 'done')) expect(answer.aliasOf).toBe(done?.url)
  })

  it('by meta refresh without end fail their page at the limit of all redirects', async () => {
    await using crawled = await crawl({
      '/': { links: ['/m0'] },
      '/m*': ({ path }) => html(refreshTo(`/m${Number(path.slice(2)) + 1}`)),
    })
    const { summary, paths, reader, site } = crawled
    expect(summary).toMatchObject({ pages: 1, failed: 1 })
    expect(paths).toHaveLength(22)
    expect(await reader.why(site.url('/m0'))).toMatchObject({ state: 'failed', reason: 'redirects' })
  })

  it('by meta refresh that lead back end with a page', async () => {
    await using crawled = await crawl({ '/': html(refreshTo('/other')), '/other': html(refreshTo('/')) })
    expect(crawled.summary).toMatchObject({ pages: 1, failed: 0 })
    expect(crawled.paths).toEqual(['/', '/other'])
  })

  it('by the header Refresh are followed at once, and are links when they take their time', async () => {
    await using crawled = await crawl({
      '/': { links: ['/now', '/later'] },
      '/now': { headers: { refresh: '0; url=/x' }, body: 'x' },
      '/later': { headers: { refresh: '5; url=/y' }, body: 'x' },
      '/x': {},
      '/y': {},
    })
    expect(crawled.paths.toSorted()).toEqual(['/', '/later', '/now', '/x', '/y'])
    const { reader, site } = crawled
    expect(await reader.why(site.url('/x'))).toMatchObject({ state: 'skipped', reason: 'duplicate' })
    expect(await reader.why(site.url('/y'))).toMatchObject({ state: 'done', depth: 2 })
  })
})

const sitemap = (origin: string): string =>
  `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>${origin}/en</loc><lastmod>2026-01-02</lastmod>` +
  `<priority>0.9</priority><xhtml:link rel="alternate" hreflang="de" href="${origin}/de"/>` +
  '<xhtml:link rel="alternate" hreflang="fr" href="http://elsewhere.test/fr"/></url>' +
  `<url><loc>${origin}/low</loc><priority>0.1</priority></url><url><loc>${origin}/plain</loc></url></urlset>`

describe('an answer 304', () => {
  it('to a request without a condition is no page, and is one to a condition of the user', async () => {
    const routes: SiteRoutes = { '/': { links: ['/lost'] }, '/lost': { status: 304, body: '' } }
    await using crawled = await crawl(routes)
    expect(crawled.summary).toMatchObject({ pages: 1, failed: 1 })
    const { site, reader } = crawled
    expect(await reader.why(site.url('/lost'))).toMatchObject({ state: 'failed', reason: 'protocol' })
    await using asked = await crawl(routes, { headers: [{ name: 'If-None-Match', value: '"1"' }] })
    expect(asked.summary).toMatchObject({ pages: 2, failed: 0 })
  })
})

describe('sitemaps as seeds', () => {
  it('bring their pages in order of priority, with those in other languages, within the scope', async () => {
    const seen: [string, unknown][] = []
    await using crawled = await crawl(
      {
        '/robots.txt': ({ headers }) => ({ body: `Sitemap: http://${headers.host ?? ''}/sm.xml\n` }),
        '/sm.xml': ({ headers }) => ({ body: sitemap(`http://${headers.host ?? ''}`) }),
        '/*': {},
      },
      {
        sitemaps: ['/robots.txt'],
        concurrency: 1,
        requestHandler: ({ request }) => {
          seen.push([new URL(request.url).pathname, request.userData['lastmod']])
        },
      },
      null,
    )
    expect(seen).toEqual([
      ['/en', '2026-01-02'],
      ['/de', '2026-01-02'],
      ['/plain', undefined],
      ['/low', undefined],
    ])
    expect(crawled.summary).toMatchObject({ pages: 4, failed: 0, skipped: { scope: 1 } })
  })
})

describe('addresses', () => {
  it('of 64 KB are fetched as they are when they are allowed, and can be asked for', async () => {
    const long = `/${'a'.repeat(64_000)}`
    await using crawled = await crawl({ '/': { links: [long] }, '/a*': {} }, { maxUrlBytes: 128 * 1024 })
    expect(crawled.paths[1]).toBe(long)
    expect(await crawled.reader.why(crawled.site.url(long))).toMatchObject({ state: 'done', depth: 1 })
    expect(await crawled.reader.verify()).toMatchObject({ ok: true })
  })

  it('that are too long are counted, and why knows them by their beginning', async () => {
    const long = `/x?${'b'.repeat(9000)}`
    await using crawled = await crawl({ '/': { links: [long, '/ok'] }, '/ok': {} })
    const { summary, reader, site } = crawled
    expect(summary).toMatchObject({ pages: 2, skipped: { 'url-too-long': 1 } })
    expect(await reader.why(site.url(long))).toMatchObject({ state: 'skipped', reason: 'url-too-long' })
    expect((await reader.status()).hosts).toBe(1)
  })

  it('in queries of GBK pages go out byte for byte', async () => {
    const page = Buffer.from('<a href="/s?q=\xd6\xd0\xb9\xfa">x</a><a href="/s?q=%d6%D0&amp;%zz">y</a>', 'latin1')
    await using crawled = await crawl({
      '/': { headers: { 'content-type': 'text/html; charset=gbk' }, body: page },
      '/s*': {},
    })
    expect(crawled.paths.toSorted()).toEqual(['/', '/s?q=%D6%D0%B9%FA', '/s?q=%d6%D0&%zz'])
  })

  it('kept by other rules of identity are refused by a later run', async () => {
    await using crawled = await crawl({ '/': { links: ['/a?x=1&y=2', '/a?y=2&x=1'] }, '/a*': {} })
    expect(crawled.summary.pages).toBe(3)
    const options = { dir: join(crawled.folder.path, 'data'), robots: false, identity: ['sort-query' as const] }
    await expect(new Crawler(options).run(crawled.site.url('/'))).rejects.toMatchObject({ code: 'STORE_RULES_CHANGED' })
  })

  it('that an identity rule makes one are fetched once, as they were found', async () => {
    await using crawled = await crawl(
      { '/': { links: ['/a?y=2&x=1', '/a?x=1&y=2&utm_source=z'] }, '/a*': {} },
      { identity: ['sort-query', 'drop-tracking'] },
    )
    expect(crawled.paths).toEqual(['/', '/a?y=2&x=1'])
  })
})

describe('traps', () => {
  const pages = [1, 2, 3, 4, 5]

  it.each([
    ['in paths', (page: number, id: string) => `/page${page};jsessionid=${id}`],
    ['in folders', (page: number, id: string) => `/(S(${id.slice(-24)}))/page${page}.aspx`],
    ['in queries', (page: number, id: string) => `/page${page}?PHPSESSID=${id}`],
  ])('of session ids %s end by themselves', async (_where, linkOf) => {
    let visits = 0
    await using crawled = await crawl({ '/*': () => ({ links: pages.map((page) => linkOf(page, hex(++visits))) }) })
    expect(crawled.summary.finishReason).toBe('finished')
    expect(crawled.summary.pages).toBeLessThan(60)
    expect(crawled.summary.skipped['trap']).toBeGreaterThan(0)
  })

  it('of pages that are not there and link relatively end by themselves', async () => {
    await using crawled = await crawl({ '/*': { title: 'Not found', links: ['foo/', 'bar/', 'baz/qux/'] } })
    expect(crawled.summary.finishReason).toBe('finished')
    expect(crawled.summary.pages).toBeLessThan(1500)
  })

  it('can be switched off', async () => {
    const deep = `/${'a/'.repeat(12)}`
    await using crawled = await crawl({ '/': { links: [deep] }, '/a*': {} }, { traps: false })
    expect(crawled.paths).toEqual(['/', deep])
  })
})

describe('robots in pages', () => {
  it('forbid following, for us and not for others, and noindex and canonical are on the item', async () => {
    await using crawled = await crawl(
      {
        '/': { links: ['/ours', '/others', '/meta'] },
        '/ours': { headers: { 'x-robots-tag': 'spoor: nofollow' }, links: ['/no'] },
        '/others': { headers: { 'x-robots-tag': 'otherbot: nofollow' }, links: ['/yes'] },
        '/meta': html('<meta name=robots content=noindex><link rel=canonical href=/canon>'),
        '/*': {},
      },
      { robots: true },
    )
    expect(crawled.paths).toContain('/yes')
    expect(crawled.paths).not.toContain('/no')
    let meta: unknown
    for await (const line of crawled.reader.items()) {
      const item = JSON.parse(line) as { readonly url: string }
      if (item.url === crawled.site.url('/meta')) meta = item
    }
    expect(meta).toMatchObject({ noindex: true, canonical: crawled.site.url('/canon') })
  })
})
