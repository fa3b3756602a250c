import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Crawler, defineTask } from '../../../src/index.ts'
import { createFakeClock, openTestSite, replay } from '../../../src/testing/index.ts'

const PAGES = {
  'https://shop.test/': '<title>Shop</title><a href=/shoe>shoe</a><a href=/gone>gone</a><a href=/lost>lost</a>',
  'https://shop.test/shoe': { body: '<title>Shoe</title><h1>12 €</h1>', headers: { 'content-type': 'text/html' } },
  'https://shop.test/gone': { status: 410 },
  'https://shop.test/busy': { failure: 'timeout' },
} as const

const TASK = defineTask({
  name: 'shop',
  seeds: 'https://shop.test/',
  waitTime: '1m',
  rules: [
    { match: '/shoe', render: 'on', handler: ({ page, $ }) => ({ title: page.title, price: $('h1').text() }) },
    { match: '/**', handler: ({ enqueueLinks }) => enqueueLinks() },
  ],
})

test('a task runs on pages in the code, without the network, a delay, a browser or a trace on the disk', async () => {
  const { summary, items, pages, failures } = await replay(TASK, { pages: PAGES })
  expect(summary).toMatchObject({ finishReason: 'finished', pages: 2, failed: 2 })
  expect(items).toEqual([{ title: 'Shoe', price: '12 €' }])
  expect(pages.toSorted()).toEqual(['https://shop.test/', 'https://shop.test/shoe'])
  expect(failures.map(({ url, failure }) => [url, failure]).toSorted()).toEqual([
    ['https://shop.test/gone', 'http-4xx'],
    ['https://shop.test/lost', 'not-cached'],
  ])
})

test('so does a handler, and a crawler with its failures and its skips', async () => {
  const handled = await replay(async ({ page, pushData }) => pushData({ links: page.links.length }), {
    pages: PAGES,
    seeds: 'https://shop.test/',
  })
  expect(handled.items).toEqual([{ links: 3 }])
  const failed: string[] = []
  const crawler = new Crawler({
    maxCrawlDepth: 0,
    output: '/nonexistent/never-written.jsonl',
    requestHandler: ({ skip }) => skip('not wanted'),
    failedRequestHandler: ({ request }) => failed.push(request.url),
  })
  const run = await replay(crawler, { pages: PAGES, seeds: ['https://shop.test/shoe', 'https://shop.test/busy'] })
  expect(run.skipped).toEqual([{ url: 'https://shop.test/shoe', reason: 'handler' }])
  expect(run.failures).toMatchObject([{ url: 'https://shop.test/busy', failure: 'timeout' }])
  expect(failed).toEqual(['https://shop.test/busy'])
})

test('hours of waiting pass on a fake clock', async () => {
  const clock = createFakeClock()
  const running = replay(TASK, { pages: PAGES, clock, options: { delayMs: 3_600_000 } })
  const end = { seen: false }
  void running.finally(() => (end.seen = true))
  while (!end.seen) await clock.advance(3_600_000)
  expect((await running).items).toHaveLength(1)
  expect(clock.monotonicMs()).toBeGreaterThan(3_600_000)
})

test('what a recording has kept is replayed as it was, when the site is gone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spoor-replay-'))
  try {
    await using site = await openTestSite({
      '/': { title: 'Home', links: ['/moved', '/missing'] },
      '/moved': { status: 301, headers: { location: '/new' } },
      '/new': { title: 'New' },
    })
    const options = { pages: join(folder, 'pages'), seeds: site.url('/') }
    const crawler = new Crawler()
    const recorded = await replay(crawler, { ...options, record: true, options: { retries: 0 } })
    expect(recorded.summary).toMatchObject({ pages: 2, failed: 1 })
    await site.goDown()
    const again = await replay(crawler, options)
    expect([again.items, again.pages]).toEqual([recorded.items, recorded.pages])
    expect(again.failures).toEqual(recorded.failures)
    expect(await readdir(folder)).toEqual(['pages'])
    await expect(replay(crawler, { ...options, pages: join(folder, 'none') })).rejects.toThrow(
      'replay(…, { record: true }) makes it',
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
