/** Whole crawls with --render: handlers that act on the page, robots, the cache, limits of places, other settings of rules. */

import { describe, expect, it } from 'vitest'
import { Crawler, type CrawlerOptions } from '../../../src/crawler/crawler.ts'
import { browserPage, savePdf, saveScreenshot } from '../../../src/fetch/browser/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { chromium } from '../../support/chromium.ts'
import { openTemporaryFolder, runSpoor } from '../../support/command.ts'
import { html, json, script } from './kit.ts'

const LIST = html('<div id="root"></div><script src="/app.js"></script>')
const APP = script(`fetch('/api' + location.pathname).then((r) => r.json()).then((links) => {
  document.querySelector('#root').innerHTML = links.map((to) => '<a href="' + to + '">' + to + '</a>').join(' ')
})`)
const SHOP = {
  '/': LIST,
  '/a': LIST,
  '/b': LIST,
  '/app.js': APP,
  '/api/': json(['/a', '/b', '/a']),
  '/api/a': json(['/b']),
  '/api/b': json(['/']),
}

interface Item {
  readonly url: string
  readonly rendered?: boolean
  readonly fromCache?: boolean
}

async function itemsOf(dir: string): Promise<Item[]> {
  const { stdout } = await runSpoor(['export', '--dir', dir, '-o', '-', '--format', 'jsonl'])
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Item)
}

function crawl(dir: string, options: CrawlerOptions): Crawler {
  return new Crawler({
    dir,
    render: 'on',
    renderPages: 2,
    ...(chromium === undefined ? {} : { browser: chromium }),
    ...options,
  })
}

describe.skipIf(chromium === undefined)('a crawl that renders its pages', () => {
  it('follows the links that scripts make, each page and each script once', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(SHOP)
    const summary = await crawl(folder.path, {}).run(site.url('/'))
    expect(summary).toMatchObject({ finishReason: 'finished', pages: 3, failed: 0 })
    const items = await itemsOf(folder.path)
    expect(items.map(({ url, rendered }) => [url, rendered]).toSorted()).toEqual(
      ['/', '/a', '/b'].map((path) => [site.url(path), true]),
    )
    const paths = site.log.map(({ path }) => path).toSorted()
    expect(paths).toEqual(['/', '/a', '/api/', '/api/a', '/api/b', '/app.js', '/b', '/robots.txt'])
  })

  it('takes rendered pages from the cache as they were, and keeps them apart from what was sent', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(SHOP)
    await crawl(folder.path, {}).run(site.url('/'))
    const before = site.log.length
    expect(await crawl(folder.path, { fresh: true }).run(site.url('/'))).toMatchObject({ pages: 3, fromCache: 3 })
    expect(site.log.length).toBe(before)
    const items = await itemsOf(folder.path)
    expect(items.every(({ rendered, fromCache }) => rendered === true && fromCache === true)).toBe(true)
    expect(await crawl(folder.path, { fresh: true, render: 'off' }).run(site.url('/'))).toMatchObject({
      pages: 1,
      fromCache: 0,
    })
    expect((await itemsOf(folder.path)).map(({ rendered }) => rendered)).toEqual([undefined])
  })

  it('obeys robots.txt for what pages ask for, unless it is told not to', async () => {
    await using site = await openTestSite({ ...SHOP, '/robots.txt': { body: 'User-agent: *\nDisallow: /api/' } })
    for (const [robots, pages] of [
      [true, 1],
      [false, 3],
    ] as const) {
      await using folder = await openTemporaryFolder()
      expect(await crawl(folder.path, { robots }).run(site.url('/'))).toMatchObject({ pages })
      expect(site.log.some(({ path }) => path.startsWith('/api/'))).toBe(!robots)
    }
  })

  it('goes by script redirects as by others: known pages end as duplicates, loops end', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/old', '/new', '/ping', '/walled'] },
      '/old': html('<script>location.href = "/new"</script>'),
      '/new': html('<p>new</p>'),
      '/ping': html('<script>location.href = "/pong"</script>'),
      '/pong': html('<script>location.href = "/ping"</script>'),
      '/away': html('<script>location.href = "http://other.test/"</script>'),
    })
    const summary = await crawl(folder.path, { retries: 0 }).run(site.url('/'))
    expect(summary.finishReason).toBe('finished')
    expect(site.requestsFor('/new').length).toBe(1)
    expect(site.requestsFor('/ping').length).toBeLessThan(4)
  })

  it('lets a handler act on the page, and keeps files of it', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': html(`<ul></ul><button onclick="fetch('/api/more').then((r) => r.json()).then((n) => {
        document.querySelector('ul').innerHTML = '<li><a href=/item/' + n + '>item</a></li>' })">More</button><a id=out href="/out">out</a>`),
      '/api/more': json(7),
      '/item/7': html('<p>item</p>'),
    })
    const crawler = crawl(folder.path, {
      cache: 'refresh',
      requestHandler: async (context) => {
        const page = browserPage(context)
        if (context.request.depth === 0) {
          await page.click('button')
          await page.waitForSelector('li')
          await page.click('#out', { noWaitAfter: true })
          await context.enqueueLinks({
            urls: await page.$$eval('li a', (links) => links.map((a) => a.getAttribute('href') ?? '')),
          })
        }
        const { file } = await saveScreenshot(context, { selector: 'body' })
        const pdf = await savePdf(context)
        await context.pushData({ url: page.url(), file, pdf: pdf.bytes > 0 })
      },
    })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 2, failed: 0 })
    expect(await itemsOf(folder.path)).toEqual(
      ['/', '/item/7'].map((path) => ({
        url: site.url(path),
        file: expect.stringMatching(/^files\/[0-9a-f]{2}\/[0-9a-f]{64}\.png$/),
        pdf: true,
      })),
    )
    expect(site.requestsFor('/out')).toEqual([])
  })

  it('renders the pages of one rule alone', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ ...SHOP, '/': { links: ['/a'] } })
    const crawler = crawl(folder.path, { render: 'off', rules: [{ match: '/a', render: 'on' }, { match: '/**' }] })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 3, failed: 0 })
    const items = await itemsOf(folder.path)
    expect(items.map(({ url, rendered }) => [url, rendered]).toSorted()).toEqual([
      [site.url('/'), undefined],
      [site.url('/a'), true],
      [site.url('/b'), undefined],
    ])
  })

  it('frees its page when the handler throws, hangs, or never looked at it', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/1', '/2', '/3', '/4', '/5'] },
      '/1': {},
      '/2': {},
      '/3': {},
      '/4': {},
      '/5': {},
    })
    const crawler = crawl(folder.path, {
      retries: 0,
      requestHandlerTimeoutMs: 500,
      requestHandler: async ({ request, enqueueLinks }) => {
        await enqueueLinks()
        if (request.url.endsWith('/1')) throw new Error('no')
        if (request.url.endsWith('/2')) await new Promise(() => undefined)
      },
    })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 4, failed: 2 })
  })
})
