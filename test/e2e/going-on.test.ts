/** A crawl that was interrupted, or that ended with failures, goes on by the same command. */

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../support/command.ts'

it.each(['SIGINT', 'SIGTERM'] as const)('drains on %s, exits 130 and repeats nothing afterwards', async (signal) => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(400, 5, { delayMs: 5 })
  await using site = await openTestSite(shape.handler)
  const args = [
    'crawl',
    site.url(shape.seed),
    '--dir',
    folder.path,
    '--per-host',
    '8',
    '--delay',
    '0',
    '--quiet',
    '--json',
  ]

  const command = startSpoor(args)
  await untilRequests(site, 100, command)
  command.signal(signal)
  const first = await command.ended
  expect(first, first.stderr).toMatchObject({ code: 130 })
  expect(JSON.parse(first.stdout)).toMatchObject({ finishReason: 'interrupted' })

  const second = await runSpoor(args)
  expect(second, second.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(second.stdout)).toMatchObject({ finishReason: 'finished', pages: 400 })
  const paths = site.log.map(({ path }) => path).filter((path) => shape.depths.has(path))
  expect(paths.toSorted()).toEqual([...shape.depths.keys()].toSorted())
})

it('does nothing when the crawl was finished before', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(treeSite(20, 4).handler)
  const args = ['crawl', site.url('/p/0'), '--dir', folder.path, '--json']
  expect(await runSpoor(args)).toMatchObject({ code: 0 })
  const before = site.log.length
  const again = await runSpoor(args)
  expect(again).toMatchObject({ code: 0 })
  expect(JSON.parse(again.stdout)).toMatchObject({ pages: 20, failed: 0 })
  expect(site.log.length).toBe(before)
})

it('keeps each attempt of a failed page and crawls it again when asked to', async () => {
  await using folder = await openTemporaryFolder()
  const broken = Array.from({ length: 3 }, () => ({ status: 500 }))
  await using site = await openTestSite({
    '/': { links: ['/good', '/broken'] },
    '/good': {},
    '/broken': [...broken, {}],
  })
  const place = ['--dir', folder.path]
  const args = ['crawl', site.url('/'), ...place, '--retries', '2', '--json', '-o', join(folder.path, 'out.jsonl')]

  const first = await runSpoor(args)
  expect(first.code).toBe(1)
  expect(JSON.parse(first.stdout)).toMatchObject({ pages: 2, failed: 1 })
  const failures = await runSpoor(['failures', ...place, '--json'])
  const failure = JSON.parse(failures.stdout) as { readonly attempts: readonly unknown[] }
  expect(failure).toMatchObject({ url: site.url('/broken'), reason: 'http-5xx', status: 500 })
  expect(failure.attempts).toHaveLength(3)

  expect(await runSpoor(['failures', '--retry', ...place])).toMatchObject({ code: 0 })
  const second = await runSpoor(args)
  expect(second, second.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(second.stdout)).toMatchObject({ pages: 3, failed: 0 })
  expect(site.requestsFor('/broken')).toHaveLength(4)
})
