/** `spoor status` on any store, from any machine: who works on it, what they hold and how fast they are. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor } from '../support/command.ts'
import { storeServers } from '../support/store-servers.ts'

interface Worker {
  readonly owner: string
  readonly alive: boolean
  readonly leased: number
  readonly startedAt: string
  readonly machine: string | null
  readonly pid: number | null
  readonly pages: number
  readonly pagesPerSecond: number
}

async function workersOf(store: readonly string[]): Promise<readonly Worker[]> {
  const { stdout } = await runSpoor(['status', '--json', ...store])
  return stdout === '' ? [] : (JSON.parse(stdout) as { readonly workers: readonly Worker[] }).workers
}

async function expectWorkersOf(store: readonly string[], folder: string): Promise<void> {
  const goesOn: boolean[] = []
  let isOver = false
  await using site = await openTestSite(({ path }) => {
    if (!path.startsWith('/chain/')) return { delayMs: 50 }
    const link = Number(path.slice('/chain/'.length))
    goesOn[link] ??= !isOver
    const leaves = Array.from({ length: 8 }, (_, n) => `/leaf/${link}-${n}`)
    return { links: [...(goesOn[link] ? [`/chain/${link + 1}`] : []), ...leaves], delayMs: 50 }
  })
  const isShared = store[0] === '--store'
  const commands = ['one', 'two'].map((name) => {
    const dir = isShared ? ['--dir', join(folder, name)] : []
    const manners = ['--concurrency', '2', '--per-host', '8', '--cache', 'off', '--quiet', '--json']
    return startSpoor(['crawl', site.url('/chain/0'), ...store, ...dir, ...manners])
  })
  const started = commands.map(({ pid }) => pid).toSorted((a, b) => a - b)
  const busy = async (): Promise<readonly (number | null)[]> => {
    const workers = await workersOf(store)
    const fast = workers.filter(({ alive, pages, pagesPerSecond }) => alive && pages > 0 && pagesPerSecond > 0)
    return fast.map(({ pid }) => pid).toSorted((a, b) => Number(a) - Number(b))
  }
  await expect.poll(busy, { timeout: 300_000, interval: 200 }).toEqual(started)
  const workers = await workersOf(store)
  expect(new Set(workers.map(({ owner }) => owner)).size).toBe(2)
  expect(new Set(workers.map(({ machine }) => machine)).size).toBe(1)
  const text = (await runSpoor(['status', ...store])).stdout
  expect(text).toMatch(/workers +2 +\d+\.\d pages\/s/)
  for (const { owner, pid } of workers) expect(text).toMatch(new RegExp(`\n${owner} +\\S+:${pid} `))
  isOver = true
  for (const { ended } of commands) {
    const end = await ended
    expect(end, end.stderr).toMatchObject({ code: 0 })
  }
  expect(await workersOf(store)).toEqual([])
}

describe('status shows each worker with its rate', () => {
  it('of the embedded store', { timeout: 300_000 }, async () => {
    await using folder = await openTemporaryFolder()
    await expectWorkersOf(['--dir', folder.path], folder.path)
  })

  for (const { name, isThere, start } of storeServers()) {
    it.runIf(isThere)(`of a store on ${name}`, { timeout: 300_000 }, async () => {
      await using folder = await openTemporaryFolder()
      const server = await start()
      try {
        await expectWorkersOf(['--store', server.url], folder.path)
      } finally {
        await server.stop()
      }
    })
  }
})
