import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const PAGES = 3000

it.each([
  { limit: ['--max-bytes', '20kb'], finishReason: 'max-bytes' },
  { limit: ['--max-time', '3s'], finishReason: 'max-time' },
])('worker processes end well at $finishReason, and go on without it', { timeout: 300_000 }, async (row) => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(PAGES, 8, { delayMs: 10 })
  await using site = await openTestSite(shape.handler)
  const args = ['crawl', site.url(shape.seed), '--dir', folder.path, '--quiet', '--json', '--cache', 'off']
  const stopped = await runSpoor([...args, '--processes', '2', ...row.limit])
  expect(stopped).toMatchObject({ code: 0 })
  const summary = JSON.parse(stopped.stdout) as { readonly finishReason: string; readonly pages: number }
  expect(summary.finishReason).toBe(row.finishReason)
  expect(summary.pages).toBeLessThan(PAGES)
  const whole = await runSpoor([...args, '--processes', '2', '--per-host', '32'])
  expect(JSON.parse(whole.stdout)).toMatchObject({ finishReason: 'finished', pages: PAGES })
  expect(site.log.filter(({ path }) => shape.depths.has(path))).toHaveLength(PAGES)
})
