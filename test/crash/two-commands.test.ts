/** Two `crawl` commands on one data folder share the work, or the second says why it cannot; the data stay sound. */

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, untilRequests } from '../support/command.ts'
import { crawlFixture, expectComplete, repeatsOf, startCrawl } from './crawl.ts'

const PAGES = 2000

it('fetches no page twice when two commands run at once', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(PAGES, 8, { delayMs: 4 })
  await using site = await openTestSite(shape.handler)
  const first = crawlFixture(site, shape, { dir: folder.path })
  const second = { ...first, output: join(folder.path, 'second.jsonl') }

  const one = startCrawl(first)
  await untilRequests(site, 50, one)
  const two = startCrawl(second)
  const [oneEnd, twoEnd] = await Promise.all([one.ended, two.ended])

  expect(oneEnd, oneEnd.stderr).toMatchObject({ code: 0 })
  if (twoEnd.code !== 0) {
    expect(twoEnd.code).toBe(3)
    expect(twoEnd.stderr).toMatch(/another|already|lock|in use/i)
  }
  expect(repeatsOf(first)).toBe(0)
  await expectComplete(first)
})

it('takes up at once what a killed command held while another one lives', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(PAGES, 8, { delayMs: 4 })
  await using site = await openTestSite(shape.handler)
  const first = crawlFixture(site, shape, { dir: folder.path })
  const second = { ...first, output: join(folder.path, 'second.jsonl') }

  const one = startCrawl(first)
  await untilRequests(site, 50, one)
  const two = startCrawl(second)
  await untilRequests(site, PAGES / 2, one)
  await one.kill()
  await two.ended

  expect(await startCrawl(first).ended).toMatchObject({ code: 0 })
  expect(repeatsOf(first)).toBeLessThanOrEqual(first.concurrency)
  await expectComplete(first)
})
