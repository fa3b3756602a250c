import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../support/command.ts'

it('does not forget a crawl while another process is at it', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(400, 6, { delayMs: 20 })
  await using site = await openTestSite(shape.handler)
  const args = ['crawl', site.url(shape.seed), '--dir', folder.path, '--quiet', '--json', '--cache', 'off']
  const first = startSpoor(args)
  await untilRequests(site, 20, first)
  const second = await runSpoor([...args, '--fresh'])
  expect(second).toMatchObject({ code: 2 })
  expect(second.stderr).toContain('stop it first')
  const end = await first.ended
  expect(end).toMatchObject({ code: 0 })
  expect(JSON.parse(end.stdout)).toMatchObject({ pages: 400, finishReason: 'finished' })
})
