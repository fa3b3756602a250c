/** Hooks around pages. */

import { expect, it } from 'vitest'
import { Crawler, type Middleware } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'
import { failuresOf, itemsOf, reasonOf } from './support.ts'

const stack: Middleware[] = [
  {
    beforeFetch: async ({ request, headers, skip }) => {
      await Promise.resolve()
      if (request.url.endsWith('/unwanted')) skip('asked not to')
      headers['X-Signature'] = `for ${new URL(request.url).pathname}`
    },
    beforeEnqueue: (request) => (request.url.endsWith('/out') ? false : undefined),
    onItem: (item) => ({ ...item, first: true }),
  },
  {
    afterFetch: ({ response, request, fail, retry }) => {
      if (response.status === 403 && request.retryCount === 0) retry({ afterMs: 1 })
      if (response.status === 403) fail('a wall')
    },
    beforeEnqueue: async (request) => ({
      ...request,
      url: request.url.replace('/old', '/new'),
      userData: { by: 'hook' },
    }),
    onItem: (item) => (item['url'] === undefined ? false : { ...item, second: item['first'] === true }),
  },
]

const broken = (where: string) => (path: string) => {
  if (path.endsWith(where)) throw new Error(`broken in ${where}`)
  return undefined
}

it('is awaited, one after the other, before and after the fetch, before links and for items', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': { links: ['/old', '/out', '/unwanted', '/wall'] },
    '/new': {},
    '/wall': { status: 403 },
    '*': {},
  })
  const crawler = new Crawler({
    dir: folder.path,
    robots: false,
    maxConcurrency: 1,
    middleware: stack,
    requestHandler: async ({ request, enqueueLinks, pushData }) => {
      await pushData([{ url: request.url, userData: request.userData }, { nothing: true }])
      await enqueueLinks()
    },
  })
  expect(await crawler.run(site.url('/'))).toMatchObject({
    pages: 2,
    failed: 1,
    skipped: { filtered: 1, handler: 1 },
  })
  expect(site.log.map(({ path }) => path)).toEqual(['/', '/new', '/wall', '/wall'])
  expect(site.log.map(({ headers }) => headers['x-signature'])).toEqual(['for /', 'for /new', 'for /wall', 'for /wall'])
  expect(await itemsOf(folder.path)).toEqual([
    { url: site.url('/'), userData: {}, first: true, second: true },
    { url: site.url('/new'), userData: { by: 'hook' }, first: true, second: true },
  ])
  expect(await reasonOf(folder.path, site.url('/out'))).toBe('filtered')
  expect(await failuresOf(folder.path)).toMatchObject([
    { reason: 'handler', attempts: [{}, { error: 'handler: a wall' }] },
  ])
})

it('fails the page when it throws or does not end, wherever it stands', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '*': {} })
  const crawler = new Crawler({
    dir: folder.path,
    maxRequestRetries: 0,
    requestHandlerTimeoutMs: 50,
    middleware: {
      beforeFetch: ({ request }) => broken('/fetch')(request.url),
      afterFetch: ({ request }) =>
        request.url.endsWith('/never') ? new Promise(() => undefined) : broken('/answer')(request.url),
      onItem: (_item, { request }) => broken('/item')(request.url),
    },
  })
  const paths = ['/fetch', '/answer', '/never', '/item']
  expect(await crawler.run(paths.map((path) => site.url(path)))).toMatchObject({ pages: 0, failed: 4 })
  const errors = (await failuresOf(folder.path)).map(({ url, attempts }) => [
    new URL(url).pathname,
    attempts[0]?.error.split('\n')[0],
  ])
  expect(Object.fromEntries(errors)).toEqual({
    '/fetch': 'handler: Error: broken in /fetch',
    '/answer': 'handler: Error: broken in /answer',
    '/never': expect.stringContaining('did not end within 50 ms'),
    '/item': 'handler: Error: broken in /item',
  })
  expect(site.requestsFor('/fetch')).toEqual([])
})
