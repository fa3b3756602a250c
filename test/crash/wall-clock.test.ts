/** A wall clock that jumps an hour, in mid-crawl or between two runs, changes nothing. */

import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { monotonicMs, openTemporaryFolder, untilRequests } from '../support/command.ts'
import { crawlFixture, expectComplete, repeatsOf, startCrawl } from './crawl.ts'

const PAGES = 1500
const HOUR_MS = 3_600_000

/** Loaded before the command: its wall clock is `startMs` off from the start, and `jumpMs` more after SIGUSR2. */
function withClock(startMs: number, jumpMs: number): { readonly env: Record<string, string> } {
  const code = `
    const RealDate = Date
    let offset = ${startMs}
    process.on('SIGUSR2', () => { offset += ${jumpMs} })
    globalThis.Date = class Date extends RealDate {
      constructor(...args) { if (args.length === 0) super(RealDate.now() + offset); else super(...args) }
      static now() { return RealDate.now() + offset }
    }`
  return { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` } }
}

it.each([
  { title: 'forward', jumpMs: HOUR_MS },
  { title: 'back', jumpMs: -HOUR_MS },
])('fetches each page once when the clock jumps $title in mid-crawl', { timeout: 300_000 }, async ({ jumpMs }) => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(PAGES, 8, { delayMs: 2 })
  await using site = await openTestSite(shape.handler)
  const fixture = crawlFixture(site, shape, { dir: folder.path })

  const command = startCrawl(fixture, withClock(0, jumpMs))
  await untilRequests(site, PAGES / 2, command)
  command.signal('SIGUSR2')
  expect(await command.ended).toMatchObject({ code: 0 })
  expect(repeatsOf(fixture)).toBe(0)
  await expectComplete(fixture)
})

it(
  'takes up a killed crawl at once although the clock went back an hour in between',
  { timeout: 300_000 },
  async () => {
    await using folder = await openTemporaryFolder()
    const shape = treeSite(PAGES, 8, { delayMs: 2 })
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: folder.path })

    const killed = startCrawl(fixture)
    await untilRequests(site, PAGES / 2, killed)
    await killed.kill()
    const before = site.log.length
    const startedAtMs = monotonicMs()
    expect(await startCrawl(fixture, withClock(-HOUR_MS, 0)).ended).toMatchObject({ code: 0 })
    expect((site.log[before]?.atMs ?? Infinity) - startedAtMs).toBeLessThan(15_000)
    expect(repeatsOf(fixture)).toBeLessThanOrEqual(fixture.concurrency)
    await expectComplete(fixture)
  },
)
