/** Crawls that are run again: what is due is looked at, and what became of it is told. */

import { describe, expect, it } from 'vitest'
import { Crawler, type CrawlerOptions, defineTask } from '../../../src/index.ts'
import type { SiteAnswer, SiteRequest, SiteRoutes } from '../../../src/testing/site-answer.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../../support/command.ts'
import { itemsOf } from './support.ts'

const html = (body: string, headers: Readonly<Record<string, string>> = {}) => ({
  body,
  headers: { 'content-type': 'text/html', ...headers },
})
const LINKS = '<a href=/same>1</a><a href=/news>2</a><a href=/old>3</a>'
const SAME = ({ headers }: SiteRequest): SiteAnswer =>
  headers['if-none-match'] === '"1"' ? { status: 304, body: '' } : html('<title>same</title>', { etag: '"1"' })
const BEFORE: SiteRoutes = {
  '/': html(LINKS),
  '/same': SAME,
  '/news': html('<title>one</title>'),
  '/old': html('<title>old</title>'),
}
const AFTER: SiteRoutes = {
  '/': html(`${LINKS}<a href=/new>4</a>`),
  '/same': SAME,
  '/news': html('<title>two</title>'),
  '/old': { status: 404 },
  '/new': html('<title>new</title>'),
}

const asked = (site: TestSite): string[] =>
  site.log
    .filter(({ path }) => path !== '/robots.txt')
    .map(({ path, status }) => `${path} ${status}`)
    .toSorted()

const sitemap = (site: TestSite, dates: Readonly<Record<string, string>>): string =>
  `<urlset>${Object.entries(dates)
    .map(([path, date]) => `<url><loc>${site.url(path)}</loc><lastmod>${date}</lastmod></url>`)
    .join('')}</urlset>`

describe('a crawl that is run again', () => {
  it('by age tells what is new, changed, unchanged and gone, and asks with validators', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(BEFORE)
    const crawl = (more: CrawlerOptions = {}) =>
      new Crawler({ dir: folder.path, ...more }).run(site.url('/')) as Promise<{ recrawl?: unknown; failed: number }>
    expect(await crawl()).toMatchObject({ pages: 4 })
    expect((await crawl()).recrawl).toBeUndefined()

    site.setRoutes(AFTER)
    site.clearLog()
    expect(await crawl({ recrawl: '7d' })).toMatchObject({
      alreadyFinished: true,
      recrawl: { mode: '7d', due: 0, new: 0, changed: 0, unchanged: 0, gone: 0 },
    })
    expect(asked(site)).toEqual([])
    expect(await crawl({ recrawl: '1ms' })).toMatchObject({
      pages: 4,
      failed: 1,
      recrawl: { due: 4, new: 1, changed: 2, unchanged: 1, gone: 1 },
    })
    expect(asked(site)).toEqual(['/ 200', '/new 200', '/news 200', '/old 404', '/same 304'])
    const titles = (await itemsOf(folder.path)).map((item) => (item as { title: string }).title)
    expect(titles.toSorted()).toEqual(['', 'new', 'old', 'same', 'two'])

    // gone is told once, and whoever comes back is new
    expect(await crawl({ recrawl: '1ms' })).toMatchObject({ recrawl: { due: 5, new: 0, unchanged: 4, gone: 0 } })
    site.setRoutes(BEFORE)
    expect(await crawl({ recrawl: '1ms' })).toMatchObject({
      failed: 1,
      recrawl: { due: 5, new: 1, changed: 2, unchanged: 1, gone: 1 },
    })
  })

  it('adaptively, in memory and without a cache, for one of its tasks', async () => {
    await using site = await openTestSite(BEFORE)
    const seeds = site.url('/')
    const { openMemoryStore } = await import('../../../src/stores/memory/store.ts')
    const { systemClock } = await import('../../../src/core/clock.ts')
    const { systemRandom } = await import('../../../src/util/random.ts')
    await using store = openMemoryStore({ clock: systemClock, random: systemRandom })
    const again = (recrawl: string) =>
      new Crawler({
        store,
        cache: 'off',
        robots: false,
        tasks: [defineTask({ name: 'a', seeds, recrawl }), defineTask({ name: 'b', seeds })],
      }).run()
    expect((await again('off')).tasks?.map(({ pages }) => pages)).toEqual([4, 4])
    site.setRoutes(AFTER)
    site.clearLog()
    // a page that was seen once is looked at a day later
    expect((await again('adaptive')).recrawl).toMatchObject({ due: 0 })
    expect(asked(site)).toEqual([])
    const all = await again('all')
    expect(all.tasks?.map(({ recrawl }) => recrawl)).toEqual([
      expect.objectContaining({ due: 4, new: 1, changed: 2, unchanged: 1, gone: 1 }),
      undefined,
    ])
  })

  it('by the dates of a sitemap, on the command line and in several processes', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(BEFORE)
    const args = ['--dir', folder.path, '--sitemap', site.url('/sitemap.xml'), '--json', '--quiet']
    const dates = { '/same': '2001-01-01', '/news': '2001-01-01', '/old': '2001-01-01' }
    site.setRoutes({ ...BEFORE, '/sitemap.xml': { body: sitemap(site, dates) } })
    expect(await runSpoor(['crawl', ...args])).toMatchObject({ code: 0 })
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    site.setRoutes({
      ...AFTER,
      '/sitemap.xml': { body: sitemap(site, { ...dates, '/news': tomorrow, '/old': tomorrow, '/new': tomorrow }) },
    })
    site.clearLog()
    const { code, stdout } = await runSpoor(['crawl', ...args, '--recrawl', 'sitemap', '--processes', '2'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ recrawl: { mode: 'sitemap', due: 2, new: 1, changed: 1, gone: 1 } })
    expect(asked(site)).toEqual(['/new 200', '/news 200', '/old 404', '/sitemap.xml 200'])
    const status = await runSpoor(['status', '--dir', folder.path])
    expect(status.stdout).toContain('due: 1 new, 1 changed, 0 unchanged, 1 gone')
  })

  it('counts each page once when it is killed in the middle of the round', async () => {
    await using folder = await openTemporaryFolder()
    const pages = Array.from({ length: 100 }, (_, n) => `/p/${n}`)
    await using site = await openTestSite(({ path }) =>
      path === '/' ? { links: pages } : html(`<title>${path}</title>`),
    )
    const args = ['crawl', site.url('/'), '--dir', folder.path, '--no-robots', '--json', '--quiet']
    expect(await runSpoor(args)).toMatchObject({ code: 0 })
    site.setRoutes(({ path }) =>
      path === '/' ? { links: pages } : html(`<title>${path}${path.endsWith('7') ? '!' : ''}</title>`),
    )
    site.clearLog()
    const killed = startSpoor([...args, '--recrawl', '1ms'])
    await untilRequests(site, 40, killed)
    await killed.kill()
    const { stdout } = await runSpoor([...args, '--recrawl', '1ms'])
    expect(JSON.parse(stdout)).toMatchObject({
      resumed: true,
      recrawl: { due: 101, new: 0, changed: 10, unchanged: 91, gone: 0 },
    })
    expect(site.log.length).toBeLessThanOrEqual(101 + 32)
  })

  it('refuses what it cannot do', async () => {
    await using folder = await openTemporaryFolder()
    const crawl = (...more: string[]) => runSpoor(['crawl', 'http://127.0.0.1:1/', '--dir', folder.path, ...more])
    const { code, stderr } = await crawl('--recrawl=now')
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected all, sitemap, adaptive, or an age')])
    expect((await crawl('--recrawl', 'sitemap')).stderr).toContain('expected --sitemap URL with it')
  })
})
