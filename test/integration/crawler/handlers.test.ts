/** What handlers return, yield and decide, and which of them takes a page. */

import { describe, expect, it } from 'vitest'
import { Crawler, createRouter, follow } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'
import { failuresOf, itemsOf, reasonOf } from './support.ts'

describe('what a handler returns or yields', () => {
  it('is followed when it is a URL or a request, and kept when it is an object', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '*': {} })
    const seen: string[] = []
    const crawler = new Crawler({
      dir: folder.path,
      maxConcurrency: 1,
      rules: [
        { label: 'list', handler: () => ['/c', new URL(site.url('/d')), { kind: 'list' }, undefined] },
        {
          match: '/c',
          handler: function* () {
            yield { kind: 'c', n: 1 }
            yield [
              { kind: 'c', n: 2 },
              { kind: 'c', n: 3 },
            ]
          },
        },
        {
          match: '/',
          handler: async function* ({ request }) {
            await Promise.resolve()
            yield follow('/list', { label: 'list', userData: { from: request.url } })
          },
        },
        { handler: ({ request }) => seen.push(request.url) },
      ],
    })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 4, failed: 0 })
    expect(seen).toEqual([site.url('/d')])
    expect(await itemsOf(folder.path)).toEqual([
      { kind: 'list' },
      { kind: 'c', n: 1 },
      { kind: 'c', n: 2 },
      { kind: 'c', n: 3 },
    ])
  })

  it('is left alone when nobody means it: a number, a set, what an arrow function happens to give', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': {} })
    const urls = new Set<string>()
    const crawler = new Crawler({ dir: folder.path, requestHandler: ({ request }) => urls.add(`${request.url}never`) })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 1, failed: 0 })
    expect(site.log.map(({ path }) => path)).not.toContain('/never')
    expect(await itemsOf(folder.path)).toEqual([])
  })

  it('fails the page when it yields what is neither, and nothing of the page is kept', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '*': {} })
    const crawler = new Crawler({
      dir: folder.path,
      requestHandler: function* () {
        yield { kept: false }
        yield 5
      },
    })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 0, failed: 1 })
    const [failure] = await failuresOf(folder.path)
    expect(failure?.attempts.map(({ error }) => error)).toEqual([
      expect.stringContaining('a handler yielded the number 5: expected a URL, follow(url, …), or a plain object'),
    ])
    expect(await itemsOf(folder.path)).toEqual([])
  })

  it('is ended by the deadline when a generator does not end, and closed', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': {} })
    let closed = 0
    const crawler = new Crawler({
      dir: folder.path,
      maxRequestRetries: 0,
      requestHandlerTimeoutMs: 50,
      requestHandler: function* () {
        try {
          for (;;) yield undefined
        } finally {
          closed++
        }
      },
    })
    expect(await crawler.run(site.url('/'))).toMatchObject({ failed: 1 })
    expect((await failuresOf(folder.path))[0]?.attempts[0]?.error).toMatch(/did not end within 50 ms|does it end/)
    expect(closed).toBe(1)
  })
})

describe('what a handler decides', () => {
  it('skip: the page counts as skipped, and what it pushed and found is dropped', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': { links: ['/a', '/b'] }, '/a': { links: ['/'] }, '/b': {} })
    const whys: (string | undefined)[] = []
    const crawler = new Crawler({
      dir: folder.path,
      maxConcurrency: 1,
      requestHandler: async ({ request, skip, enqueueLinks, pushData }) => {
        await pushData({ url: request.url })
        if (request.url.endsWith('/a')) skip('not a product')
        await enqueueLinks()
      },
    })
    crawler.on('skipped', ({ why }) => whys.push(why))
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 2, failed: 0, skipped: { handler: 1 } })
    expect(whys).toEqual(['not a product'])
    expect(await reasonOf(folder.path, site.url('/a'))).toBe('handler')
    expect(await itemsOf(folder.path)).toEqual([{ url: site.url('/') }, { url: site.url('/b') }])
    // it was fetched, and is not fetched again
    expect(await new Crawler({ dir: folder.path }).run(site.url('/a'))).toMatchObject({ pages: 2 })
    expect(site.requestsFor('/a')).toHaveLength(1)
  })

  it('retry: another try, counted; fail: none, with the words in the failure log', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': {}, '/wall': {} })
    const tries: number[] = []
    const crawler = new Crawler({
      dir: folder.path,
      requestHandler: ({ request, retry, fail }) => {
        if (request.url.endsWith('/wall')) fail('a login page')
        tries.push(request.retryCount)
        try {
          if (request.retryCount === 0) retry({ why: 'half a page', afterMs: 1 })
        } catch {
          // caught: the decision stands
        }
      },
    })
    expect(await crawler.run([site.url('/'), site.url('/wall')])).toMatchObject({ pages: 1, failed: 1 })
    expect(tries).toEqual([0, 1])
    expect(await failuresOf(folder.path)).toMatchObject([
      { reason: 'handler', status: 200, attempts: [{ error: 'handler: a login page', status: 200 }] },
    ])
  })

  it('throws: its page fails with the stack, and the crawl goes on', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': {}, '/broken': {} })
    const crawler = new Crawler({
      dir: folder.path,
      maxRequestRetries: 0,
      requestHandler: ({ request }) => {
        if (request.url.endsWith('/broken')) throw new TypeError('no such field')
      },
    })
    expect(await crawler.run([site.url('/broken'), site.url('/')])).toMatchObject({ pages: 1, failed: 1 })
    const [failure] = await failuresOf(folder.path)
    expect(failure?.attempts[0]?.error).toMatch(/^handler: TypeError: no such field\n\s+at .*handlers\.test\.ts/)
  })
})

describe('rules', () => {
  it('of a router take pages by label, and the default handler the rest', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/list'] },
      '/list': { links: ['/item/1', '/item/2'] },
      '*': {},
    })
    const router = createRouter<{ list: { page: number }; item: { of: string } }>()
    router.addDefaultHandler(({ enqueueLinks }) => enqueueLinks({ label: 'list', userData: { page: 1 } }))
    router.addHandler('list', async ({ request, enqueueLinks }) => {
      await enqueueLinks({
        match: '/item/*',
        exclude: /2$/,
        label: 'item',
        userData: { of: `page ${request.userData.page}` },
      })
    })
    router.addHandler('item', ({ request }) => ({ url: request.url, of: request.userData.of }))
    const crawler = new Crawler({ dir: folder.path, requestHandler: router })
    expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 3, failed: 0 })
    expect(await itemsOf(folder.path)).toEqual([{ url: site.url('/item/1'), of: 'page 1' }])
  })

  it('fail a page that none of them takes, and say which there are', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({ '/': {}, '/a': {} })
    const crawler = new Crawler({ dir: folder.path })
    crawler.router.addHandler('detail', () => follow('/a', { label: 'other' }))
    expect(await crawler.run({ url: site.url('/'), label: 'detail' })).toMatchObject({ pages: 1, failed: 1 })
    expect((await failuresOf(folder.path))[0]?.attempts.map(({ error }) => error)).toEqual([
      expect.stringContaining(`no rule takes ${site.url('/a')}, which has the label "other": expected one of detail`),
    ])
  })

  it('have time-outs, retries and cache settings of their own', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': { links: ['/slow', '/bad', '/fresh'] },
      '/slow': { delayMs: 60_000 },
      '/bad': { status: 500 },
      '/fresh': {},
    })
    const crawl = (fresh: boolean): Promise<unknown> =>
      new Crawler({
        dir: folder.path,
        fresh,
        robots: false,
        rules: [
          { match: '/slow', timeoutMs: 100, retries: 0 },
          { match: '/bad', retries: 1 },
          { match: '/fresh', cache: 'off' },
          { name: 'all' },
        ],
      }).run(site.url('/'))
    expect(await crawl(false)).toMatchObject({ pages: 2, failed: 2 })
    expect(site.requestsFor('/slow')).toHaveLength(1)
    expect(site.requestsFor('/bad')).toHaveLength(2)
    await crawl(true)
    expect(site.requestsFor('/')).toHaveLength(1)
    expect(site.requestsFor('/fresh')).toHaveLength(2)
  })

  it('are told which of them is no rule, all problems at once', async () => {
    await using folder = await openTemporaryFolder()
    const crawler = new Crawler({
      dir: folder.path,
      rules: [{ match: 'books/*' }, { label: 'x', retries: -1 }],
    })
    await expect(crawler.run('http://127.0.0.1:9/')).rejects.toThrow(
      '2 problems:\n  crawler: rules[0].match: expected a glob that begins with / (a path), ** or a scheme such as https://, found "books/*"\n  crawler: rules[1].retries: expected a whole number of 0 or more, found -1',
    )
  })
})
