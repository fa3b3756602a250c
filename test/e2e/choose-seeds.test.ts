/** Which of the seeds that are given are taken: limits, those that are there already, sources that never begin. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Crawler } from '../../src/crawler/crawler.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const SITE = Object.fromEntries(['/a', '/b', '/c', '/d', '/e'].map((path) => [path, {}]))

it('takes the first N seeds, and the next N where known ones are passed over', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SITE)
  const list = join(folder.path, 'list.txt')
  await writeFile(
    list,
    Object.keys(SITE)
      .map((path) => `${site.url(path)}\n`)
      .join(''),
  )
  const crawl = [
    'crawl',
    '--seeds',
    list,
    '--dir',
    join(folder.path, 'data'),
    '--limit',
    '2',
    '--skip',
    'known',
    '--json',
  ]
  const ends = [await runSpoor(crawl), await runSpoor(crawl), await runSpoor(crawl), await runSpoor(crawl)]
  const told = ends.map(({ code, stdout }) => {
    const { pages, skipped } = JSON.parse(stdout) as { pages: number; skipped: Record<string, number> }
    return { code, pages, skipped }
  })
  expect(told).toEqual([
    { code: 0, pages: 2, skipped: {} },
    { code: 0, pages: 4, skipped: { known: 2 } },
    { code: 0, pages: 5, skipped: { known: 4 } },
    { code: 0, pages: 5, skipped: { known: 5 } },
  ])
  for (const path of Object.keys(SITE)) expect(site.requestsFor(path)).toHaveLength(1)
})

it('passes over seeds whose page is in the download cache', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SITE)
  const crawl = (task: string, ...more: string[]) =>
    runSpoor(['crawl', '--dir', folder.path, '--task', task, '--json', ...more])
  await crawl('one', site.url('/a'), site.url('/b'))
  const { stdout } = await crawl('two', site.url('/a'), site.url('/b'), site.url('/c'), '--skip', 'cached')
  expect(JSON.parse(stdout)).toMatchObject({ pages: 1, fromCache: 0, skipped: { cached: 2 } })
})

it('reads requests with all their fields, and another crawl’s export', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(SITE)
  const list = join(folder.path, 'list.jsonl')
  const lines = [
    { url: site.url('/a'), method: 'post', payload: 'q=1', headers: { 'x-a': 'b' }, label: 'L', priority: 3 },
    { url: site.url('/b'), userData: { n: 1 }, cache: 'off', depth: 4 },
    { url: site.url('/c'), headers: { 'x-a': 'b\r\nc: d' } },
    { url: site.url('/d'), cache: 'sometimes' },
  ]
  await writeFile(list, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const file = join(folder.path, 'items.jsonl')
  const first = await runSpoor(['crawl', '--seeds', list, '--dir', join(folder.path, '1'), '-o', file, '--json'])
  expect(JSON.parse(first.stdout)).toMatchObject({ pages: 2, skipped: { 'invalid-url': 2 } })
  expect(first.stderr).toMatch(/"headers" to be an object of texts.*"cache" to be one of on, http/s)
  expect(site.requestsFor('/a')).toMatchObject([{ method: 'POST', headers: { 'x-a': 'b' } }])
  const again = await runSpoor(['crawl', '--seeds', file, '--dir', join(folder.path, '2'), '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ pages: 2, skipped: {} })
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(2)
})

it('ends at once when it is stopped before a source of seeds has given its first', async () => {
  await using folder = await openTemporaryFolder()
  const crawler = new Crawler({ dir: folder.path })
  let running: Promise<unknown> | undefined
  await new Promise<void>((asked) => {
    const seeds: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          asked()
          return new Promise<never>(() => undefined)
        },
      }),
    }
    running = crawler.run(seeds)
  })
  crawler.stop()
  expect(await running).toMatchObject({ finishReason: 'interrupted', pages: 0 })
})
