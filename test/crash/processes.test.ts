/** Several worker processes on one data folder: any of them may die, and so may the one that leads. */

import { expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { seededRandom } from '../../src/util/random.ts'
import { childrenOf, openTemporaryFolder } from '../support/command.ts'
import { crawlFixture, expectComplete, expectSound, repeatsOf, startCrawl } from './crawl.ts'

const PAGES = 4000
const KILLS = 8
const PROCESSES = 3
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const WORKERS = { args: ['--processes', String(PROCESSES), '--cache', 'off'] }

it.runIf(process.platform === 'linux')(
  `goes on without the workers that are killed, and loses nothing (seed ${seed})`,
  { timeout: 300_000 },
  async () => {
    const random = seededRandom(seed)
    await using folder = await openTemporaryFolder()
    const shape = treeSite(PAGES, 8, { delayMs: 2 })
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: folder.path })
    const command = startCrawl(fixture, WORKERS)
    let killed = 0
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await Promise.race([site.waitForRequests(Math.floor((kill * PAGES) / (KILLS + 2))), command.ended])
      const workers = await childrenOf(command.pid)
      const victim = workers[Math.floor(random() * workers.length)]
      if (victim === undefined) continue
      process.kill(victim, 'SIGKILL')
      killed += 1
    }
    const end = await command.ended
    expect(end).toMatchObject({ code: 0, signal: null })
    expect(killed).toBeGreaterThan(KILLS / 2)
    expect(repeatsOf(fixture)).toBeLessThanOrEqual(killed * fixture.concurrency)
    await expectComplete(fixture)
  },
)

it('goes on after the process that leads was killed: its workers end with it', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(1500, 8, { delayMs: 2 })
  await using site = await openTestSite(shape.handler)
  const fixture = crawlFixture(site, shape, { dir: folder.path })
  const command = startCrawl(fixture, WORKERS)
  await site.waitForRequests(300)
  const workers = await childrenOf(command.pid)
  await command.kill()
  await expect.poll(() => workers.filter(isAlive), { timeout: 120_000 }).toEqual([])
  await expectSound(fixture)
  expect(await startCrawl(fixture, WORKERS).ended).toMatchObject({ code: 0 })
  expect(repeatsOf(fixture)).toBeLessThanOrEqual(PROCESSES * fixture.concurrency)
  await expectComplete(fixture)
})

it('drains all workers at Ctrl-C and repeats nothing afterwards', { timeout: 300_000 }, async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(1500, 8, { delayMs: 2 })
  await using site = await openTestSite(shape.handler)
  const fixture = crawlFixture(site, shape, { dir: folder.path })
  const command = startCrawl(fixture, WORKERS)
  await site.waitForRequests(300)
  command.signal('SIGINT')
  expect(await command.ended).toMatchObject({ code: 130 })
  await expectSound(fixture)
  expect(await startCrawl(fixture, WORKERS).ended).toMatchObject({ code: 0 })
  expect(repeatsOf(fixture)).toBe(0)
  await expectComplete(fixture)
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
