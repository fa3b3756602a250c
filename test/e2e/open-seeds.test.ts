/** Seeds that come from something that never ends: a crawl that is over does not wait for more of them. */

import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../support/command.ts'

const shape = treeSite(60, 4, { delayMs: 5 })

it('ends at the page limit although stdin stays open', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(shape.handler)
  const args = [
    'crawl',
    site.url('/p/0'),
    '--seeds',
    '-',
    '--dir',
    folder.path,
    '--max-pages',
    '5',
    '--quiet',
    '--json',
  ]
  const end = await runSpoor(args, { openStdin: true })
  expect(end, end.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(end.stdout)).toMatchObject({ finishReason: 'max-pages', pages: 5 })
})

it.each([1, 2])('ends at the first Ctrl-C although stdin stays open, with %i processes', async (processes) => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite(shape.handler)
  const args = ['crawl', site.url('/p/0'), '--seeds', '-', '--dir', folder.path, '--processes', String(processes)]
  const command = startSpoor([...args, '--quiet', '--json'], { openStdin: true })
  await untilRequests(site, 10, command)
  command.signal('SIGINT')
  const end = await command.ended
  expect(end, end.stderr).toMatchObject({ code: 130 })
  expect(JSON.parse(end.stdout)).toMatchObject({ finishReason: 'interrupted' })
})
