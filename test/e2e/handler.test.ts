/** What a handler pushes and enqueues exists with its settled page, exactly once, or not at all. */

import { expect, it } from 'vitest'
import { Crawler } from '../../src/crawler/crawler.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

async function itemsOf(dir: string): Promise<unknown[]> {
  const exported = await runSpoor(['export', '--dir', dir, '-o', '-', '--format', 'jsonl'])
  return exported.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown)
}

it('drops what a handler pushed and enqueued before it threw, and keeps it once when it succeeds later', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': {}, '/next': {}, '/never': {} })
  let tries = 0
  const crawler = new Crawler({
    dir: folder.path,
    requestHandler: async ({ request, pushData, addRequests }) => {
      if (!request.url.endsWith('/')) return
      tries += 1
      await pushData({ try: tries })
      await addRequests([tries === 1 ? '/never' : '/next'])
      if (tries === 1) throw new Error('not yet')
    },
  })
  const summary = await crawler.run(site.url('/'))
  expect(summary).toMatchObject({ finishReason: 'finished', pages: 2, failed: 0 })
  expect(tries).toBe(2)
  expect(await itemsOf(folder.path)).toEqual([{ try: 2 }])
  expect(site.requestsFor('/never')).toEqual([])
})

it('lists a page whose handler keeps throwing as a failure of class handler', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': {} })
  const failed: string[] = []
  const crawler = new Crawler({
    dir: folder.path,
    maxRequestRetries: 1,
    requestHandler: () => {
      throw new Error('broken for good')
    },
    failedRequestHandler: async ({ request, failure, pushData }) => {
      failed.push(request.url)
      await pushData({ failure: failure.failure })
    },
  })
  expect(await crawler.run(site.url('/'))).toMatchObject({ pages: 0, failed: 1 })
  expect(failed).toEqual([site.url('/')])
  const listed = await runSpoor(['failures', '--dir', folder.path, '--json'])
  const failure = JSON.parse(listed.stdout) as { readonly attempts: readonly { readonly error: string }[] }
  expect(failure).toMatchObject({ reason: 'handler' })
  expect(failure.attempts.map(({ error }) => error.includes('broken for good'))).toEqual([true, true])
  expect(await itemsOf(folder.path)).toEqual([{ failure: 'handler' }])
})

it('goes on with a crawl that was stopped', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': { links: ['/1', '/2', '/3', '/4', '/5', '/6'] }, '*': {} })
  const open = (): Crawler =>
    new Crawler({
      dir: folder.path,
      maxConcurrency: 1,
      requestHandler: async ({ request, enqueueLinks, pushData }) => {
        await pushData({ url: request.url })
        await enqueueLinks()
        if (request.url.endsWith('/2')) first.stop()
      },
    })
  const first = open()
  expect(await first.run(site.url('/'))).toMatchObject({ finishReason: 'interrupted' })
  const before = (await itemsOf(folder.path)).length
  expect(before).toBeLessThan(7)
  await using second = open()
  expect(await second.run()).toMatchObject({ finishReason: 'finished', pages: 7 })
  expect(await itemsOf(folder.path)).toEqual(
    ['/', '/1', '/2', '/3', '/4', '/5', '/6'].map((path) => ({ url: site.url(path) })),
  )
})
