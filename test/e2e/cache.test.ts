/** The download cache as a person meets it: no page twice, no wait for what is kept, crawls without a network. */

import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite, type TestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../support/command.ts'

interface Item {
  readonly url: string
  readonly finalUrl: string
  readonly status: number
  readonly title: string
  readonly fetchedAt: string
  readonly fromCache: boolean
  readonly fields?: Readonly<Record<string, string>>
}

async function itemsOf(file: string): Promise<readonly Item[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Item).toSorted((a, b) => (a.url < b.url ? -1 : 1))
}

const jsonLines = <T>(text: string): readonly T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)

/** Runs `spoor crawl`, which must end well, and gives its summary. */
async function crawl(dir: string, seed: string, ...extra: readonly string[]): Promise<Record<string, unknown>> {
  const end = await runSpoor(['crawl', seed, '--dir', dir, '--delay', '0', '--quiet', '--json', ...extra])
  expect(end, end.stderr).toMatchObject({ code: 0 })
  return JSON.parse(end.stdout) as Record<string, unknown>
}

const withoutOrigin = (items: readonly Item[]): unknown => items.map(({ fromCache: _fromCache, ...rest }) => rest)

describe('a crawl of a site that is cached', () => {
  it('asks the server for nothing and waits for no delay', async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(1000, 10)
    await using site = await openTestSite(shape.handler)
    await crawl(folder.path, site.url(shape.seed))
    site.clearLog()
    // a thousand seconds, if a hit cost its delay: far beyond the deadline of the command
    const second = await crawl(folder.path, site.url(shape.seed), '--fresh', '--delay', '1s')
    expect(second).toMatchObject({ pages: 1000, fromCache: 1000, bytes: 0, finishReason: 'finished' })
    expect(site.log.map(({ path }) => path)).toEqual([])
  }, 300_000)

  it.each(['sqlite', 'files'])('gives the same items offline, from a copied folder (%s)', async (store) => {
    await using folder = await openTemporaryFolder()
    const [home, away] = [join(folder.path, 'home'), join(folder.path, 'away')]
    const shape = treeSite(60, 4)
    await using site = await openTestSite(shape.handler)
    const out = (name: string): string[] => ['--cache-store', store, '-o', join(folder.path, `${name}.jsonl`)]
    await crawl(home, site.url(shape.seed), ...out('home'))
    await cp(home, away, { recursive: true })
    await site.goDown()
    const summary = await crawl(away, site.url(shape.seed), '--fresh', '--cache', 'offline', ...out('away'))
    expect(summary).toMatchObject({ pages: 60, fromCache: 60 })
    const [before, after] = [join(folder.path, 'home.jsonl'), join(folder.path, 'away.jsonl')]
    expect(withoutOrigin(await itemsOf(after))).toEqual(withoutOrigin(await itemsOf(before)))
  })

  it('is found in its folder without being named, whichever kind it is', async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(20, 4)
    await using site = await openTestSite(shape.handler)
    await crawl(folder.path, site.url(shape.seed), '--cache-store', 'files')
    await site.goDown()
    const offline = await crawl(folder.path, site.url(shape.seed), '--fresh', '--cache', 'offline')
    expect(offline).toMatchObject({ pages: 20, fromCache: 20 })
    const fetched = await runSpoor(['fetch', site.url(shape.seed), '--dir', folder.path, '--json'])
    expect(JSON.parse(fetched.stdout)).toMatchObject({ status: 200, fromCache: true })
    expect(await readdir(folder.path)).not.toContain('cache.sqlite')
  })

  it('extracts by changed rules without a request', async () => {
    await using folder = await openTemporaryFolder()
    const file = join(folder.path, 'out.jsonl')
    const shape = treeSite(40, 4)
    await using site = await openTestSite(shape.handler)
    await crawl(folder.path, site.url(shape.seed), '--select', 'first=h1', '-o', file)
    site.clearLog()
    const rules = ['--select', 'heading=h1', '--select', 'link=a@href']
    await crawl(folder.path, site.url(shape.seed), '--fresh', '--cache', 'offline', ...rules, '-o', file)
    const items = await itemsOf(file)
    expect(items).toHaveLength(40)
    for (const { fields, title } of items) expect(fields).toEqual({ heading: title, link: '/p/0' })
    expect(site.log).toHaveLength(0)
  })

  it('fails offline what it does not have, and lets no request out for a sitemap', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/a'] },
      '/a': {},
      '/map.xml': {
        headers: { 'content-type': 'application/xml' },
        body: '<urlset><url><loc>/a</loc></url></urlset>',
      },
    })
    await crawl(folder.path, site.url('/'))
    site.clearLog()
    const args = ['--dir', folder.path, '--fresh', '--cache', 'offline', '--json', '--quiet']
    const end = await runSpoor(['crawl', site.url('/'), site.url('/new'), '--sitemap', site.url('/map.xml'), ...args])
    expect(end, end.stderr).toMatchObject({ code: 1 })
    expect(JSON.parse(end.stdout)).toMatchObject({ pages: 2, failed: 1 })
    const failures = await runSpoor(['failures', '--dir', folder.path, '--json'])
    expect(jsonLines(failures.stdout)).toMatchObject([{ url: site.url('/new'), reason: 'not-cached' }])
    expect(site.log).toHaveLength(0)
  })
})

/** A page behind a wall: the first visit is sent away for a cookie and back again. */
function walled(site: () => TestSite): Parameters<typeof openTestSite>[0] {
  return ({ path, headers }) => {
    if (path === '/') return { links: ['/wall', '/old'] }
    if (path === '/old') return { status: 301, headers: { location: '/new' }, body: '' }
    if (path === '/new') return { title: 'moved' }
    if (path === '/enter') return { status: 302, headers: { location: '/wall', 'set-cookie': 'seen=1' }, body: '' }
    if (path !== '/wall') return undefined
    const isIn = String(headers.cookie ?? '').includes('seen=1')
    return isIn ? { title: 'behind the wall' } : { status: 302, headers: { location: site().url('/enter') }, body: '' }
  }
}

describe('what a server answers', () => {
  it('is kept with its redirects: the page has its final address again', async () => {
    await using folder = await openTemporaryFolder()
    const file = join(folder.path, 'out.jsonl')
    await using site: TestSite = await openTestSite(walled(() => site))
    await crawl(folder.path, site.url('/'), '-o', file)
    const first = await itemsOf(file)
    expect(first.map(({ title }) => title)).toEqual(['A page', 'moved', 'behind the wall'])
    site.clearLog()
    for (const mode of ['on', 'offline']) {
      await crawl(folder.path, site.url('/'), '--fresh', '--cache', mode, '-o', file)
      expect(withoutOrigin(await itemsOf(file))).toEqual(withoutOrigin(first))
    }
    expect(site.log.map(({ path }) => path)).toEqual([])
  })

  it('is asked for again by its validators when the TTL is over, and taken from the cache at a 304', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/tagged', '/dated', '/plain'] },
      '/tagged': ({ headers }) =>
        headers['if-none-match'] === '"v1"'
          ? { status: 304, headers: { etag: '"v1"' }, body: '' }
          : { title: 'tagged', headers: { etag: '"v1"' } },
      '/dated': ({ headers }) =>
        headers['if-modified-since'] === 'Wed, 01 Jan 2020 00:00:00 GMT'
          ? { status: 304, body: '' }
          : { title: 'dated', headers: { 'last-modified': 'Wed, 01 Jan 2020 00:00:00 GMT' } },
      '/plain': [{ title: 'plain' }, { title: 'plain again' }],
    })
    const file = join(folder.path, 'out.jsonl')
    await crawl(folder.path, site.url('/'), '-o', file)
    site.clearLog()
    const again = await crawl(folder.path, site.url('/'), '--recrawl', '--cache-ttl', '0', '-o', file)
    expect(again).toMatchObject({ pages: 4, fromCache: 2 })
    expect((await crawl(folder.path, site.url('/'), '--recrawl'))['fromCache']).toBe(4)
    const pages = site.log.filter(({ path }) => path !== '/robots.txt')
    expect(pages.map(({ path, status }) => `${path} ${status}`).toSorted()).toEqual([
      '/ 200',
      '/dated 304',
      '/plain 200',
      '/tagged 304',
    ])
    const last = new Map((await itemsOf(file)).map((item) => [new URL(item.url).pathname, item]))
    expect(last.get('/tagged')).toMatchObject({ title: 'tagged', status: 200, fromCache: true })
    expect(last.get('/dated')).toMatchObject({ title: 'dated', status: 200, fromCache: true })
    expect(last.get('/plain')).toMatchObject({ fromCache: false })
  })

  it('is asked for again for every seed of a recrawl, also before the seeds are read again', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/page/*': { headers: { etag: '"v1"' } } })
    const paths = Array.from({ length: 30 }, (_, n) => `/page/${n}`)
    const seeds = join(folder.path, 'seeds.txt')
    await writeFile(seeds, paths.map((path) => `${site.url(path)}\n`).join(''))
    const args = ['--seeds', seeds, '--depth', '0', '--no-robots', '--cache-ttl', '0']
    await crawl(folder.path, site.url('/page/0'), ...args)
    site.clearLog()
    expect(await crawl(folder.path, site.url('/page/0'), ...args, '--recrawl')).toMatchObject({
      pages: 30,
      skipped: {},
    })
    expect(site.log.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
  })

  it('survives a kill in the middle: what was kept is whole, and is not asked for again', async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(300, 6)
    await using site = await openTestSite(shape.handler)
    const args = ['crawl', site.url(shape.seed), '--dir', folder.path, '--delay', '0', '--quiet', '--json']
    const killed = startSpoor(args)
    await untilRequests(site, 120, killed)
    await killed.kill()
    await crawl(folder.path, site.url(shape.seed))
    const asked = site.log.filter(({ path }) => shape.depths.has(path)).length
    // at most what was in flight is repeated
    expect(asked).toBeLessThanOrEqual(300 + 32)
    await site.goDown()
    expect(await crawl(folder.path, site.url(shape.seed), '--fresh', '--cache', 'offline')).toMatchObject({
      pages: 300,
      fromCache: 300,
      failed: 0,
    })
  }, 300_000)

  it('stands under a readable name in the files store', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/docs/guide/', '/docs/guide', '/logo.png?v=2'] },
      '/docs/guide/': { title: 'the folder' },
      '/docs/guide': { title: 'the page' },
      '/logo.png?v=2': { headers: { 'content-type': 'image/png' }, body: 'png' },
    })
    await crawl(folder.path, site.url('/'), '--cache-store', 'files')
    const root = join(folder.path, 'cache-files', `127.0.0.1~${site.port}~http`)
    expect(await readFile(join(root, 'docs/guide/index.html'), 'utf8')).toContain('the folder')
    expect(await readFile(join(root, 'docs/guide~.html'), 'utf8')).toContain('the page')
    const images = (await readdir(root)).filter((name) => name.startsWith('logo') && name.endsWith('.png'))
    expect(images).toHaveLength(1)
  })
})

describe('spoor fetch', () => {
  it('uses the cache of a data folder that is named, and of no other', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': { title: 'kept' } })
    const fetch = async (...extra: readonly string[]): Promise<unknown> => {
      const end = await runSpoor(['fetch', site.url('/'), '--json', ...extra], { cwd: folder.path })
      return end.code === 0 ? JSON.parse(end.stdout) : end
    }
    expect(await fetch()).toMatchObject({ fromCache: false })
    expect(await readdir(folder.path)).toEqual([])
    expect(await fetch('--dir', 'data')).toMatchObject({ fromCache: false })
    site.clearLog()
    expect(await fetch('--dir', 'data')).toMatchObject({ fromCache: true, status: 200 })
    expect(await fetch('--dir', 'data', '--cache', 'offline')).toMatchObject({ fromCache: true })
    expect(site.log).toHaveLength(0)
    expect(await fetch('--dir', 'data', '--cache', 'refresh')).toMatchObject({ fromCache: false })
    expect(await fetch('--cache', 'offline')).toMatchObject({ code: 2 })
    await crawl(join(folder.path, 'data'), site.url('/'))
    expect(site.requestsFor('/')).toHaveLength(1)
  })
})

describe('spoor crawl --warc', () => {
  it('is whole after a kill: what was torn is cut off, and every page is in it', async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(200, 6)
    await using site = await openTestSite(shape.handler)
    const file = join(folder.path, 'pages.warc.gz')
    const home = join(folder.path, 'home')
    for (const count of [40, 120]) {
      const command = ['crawl', site.url(shape.seed), '--dir', home, '--delay', '0', '--quiet', '--warc', file]
      const killed = startSpoor(command)
      await untilRequests(site, count, killed)
      await killed.kill()
    }
    expect(await crawl(home, site.url(shape.seed), '--warc', file)).toMatchObject({ pages: 200 })
    await site.goDown()
    const other = join(folder.path, 'other')
    const end = await runSpoor(['cache', 'import', file, '--dir', other, '--json'])
    expect(JSON.parse(end.stdout), end.stderr).toMatchObject({ faults: 0 })
    const summary = await crawl(other, site.url(shape.seed), '--cache', 'offline')
    expect(summary).toMatchObject({ pages: 200, fromCache: 200, failed: 0 })
  }, 300_000)
})

describe('spoor crawl --warc with worker processes', () => {
  it('gives each process files of its own, which fill a cache that can be crawled offline', async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(200, 6)
    await using site = await openTestSite(shape.handler)
    const warcs = join(folder.path, 'warc')
    await crawl(join(folder.path, 'one'), site.url(shape.seed), '--processes', '2', '--warc', warcs)
    const files = (await readdir(warcs)).filter((name) => name.endsWith('.warc.gz')).toSorted()
    expect(files).toEqual(['spoor-00000.warc.gz', 'spoor-w1.warc.gz', 'spoor-w2.warc.gz'])
    await site.goDown()
    const other = join(folder.path, 'other')
    const paths = files.map((name) => join(warcs, name))
    const end = await runSpoor(['cache', 'import', ...paths, '--dir', other, '--json'])
    expect(end, end.stderr).toMatchObject({ code: 0 })
    expect(jsonLines<{ faults: number }>(end.stdout).map(({ faults }) => faults)).toEqual([0, 0, 0])
    const summary = await crawl(other, site.url(shape.seed), '--cache', 'offline')
    expect(summary).toMatchObject({ pages: 200, fromCache: 200 })
  })
})
