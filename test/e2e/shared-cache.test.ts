/** The download cache in a shared store, as people with several machines meet it: each folder here stands for one. */

import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import type { CommandEnd } from '../support/command.ts'
import { freshStore } from '../support/server-url.ts'
import { serviceUrl, type ServiceName } from '../support/services.ts'

const SERVERS = (['POSTGRES', 'REDIS', 'MONGODB'] as const).map((kind) => ({ kind, server: serviceUrl(kind) }))

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

async function runWell(args: readonly string[]): Promise<CommandEnd> {
  const end = await runSpoor(args)
  expect(end, end.stderr).toMatchObject({ code: 0 })
  return end
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const open = (kind: ServiceName, server: string | undefined): ReturnType<typeof freshStore> =>
  freshStore(kind, server ?? '')

describe.each(SERVERS)('a download cache that is shared over $kind', ({ kind, server }) => {
  it.skipIf(server === undefined)(
    'spares a second machine every download, and is looked at from anywhere',
    async () => {
      await using store = await open(kind, server)
      await using folder = await openTemporaryFolder()
      const shape = treeSite(30, 4)
      await using site = await openTestSite(shape.handler)
      const crawl = async (machine: string, ...extra: readonly string[]): Promise<Record<string, unknown>> => {
        const place = ['--dir', join(folder.path, machine), '--store', store.url]
        const { stdout } = await runWell(['crawl', site.url(shape.seed), ...place, '--quiet', '--json', ...extra])
        return JSON.parse(stdout) as Record<string, unknown>
      }
      const cache = (...args: readonly string[]): Promise<CommandEnd> =>
        runSpoor(['cache', ...args, '--store', store.url])

      expect(await cache('stats')).toMatchObject({ code: 3, stdout: '' })
      expect(await crawl('a')).toMatchObject({ pages: 30, fromCache: 0 })
      expect(await isThere(join(folder.path, 'a', 'cache.sqlite'))).toBe(false)
      site.clearLog()
      expect(await crawl('b', '--task', 'again')).toMatchObject({ pages: 30, fromCache: 30 })
      expect(site.log).toEqual([])

      // a crawl that is forgotten leaves the cache as it is
      await runWell(['clear', '--store', store.url, '--task', 'again', '--yes'])
      const stats = await cache('stats', '--json')
      expect(JSON.parse(stats.stdout)).toMatchObject({
        store: 'shared',
        entries: 30,
        hits: 30,
        hosts: [{ entries: 30 }],
      })
      expect(stats.stdout).not.toContain('not-a-secret')

      const page = site.url('/p/3')
      const body = await cache('get', page)
      expect(body.stdout).toContain('</a>')
      expect(jsonLines((await cache('ls', page, '--json')).stdout)).toMatchObject([{ url: page, status: 200 }])
      expect(await cache('rm', page)).toMatchObject({ code: 0 })
      const missing = await cache('get', page)
      expect(missing).toMatchObject({ code: 1, stdout: '' })
      expect(missing.stderr).toMatch(/not in the cache of (postgres|redis|mongodb):\/\//)

      const archive = join(folder.path, 'pages.warc.gz')
      expect(await cache('export', archive)).toMatchObject({ code: 0 })
      expect((await readFile(archive)).length).toBeGreaterThan(1000)
      expect(JSON.parse((await cache('prune', '--cache-ttl', '0', '--json')).stdout)).toMatchObject({
        entries: 29,
        left: { entries: 0 },
      })
      expect(await cache('import', archive)).toMatchObject({ code: 0 })
      expect(jsonLines((await cache('ls', '--json')).stdout)).toHaveLength(29)
      site.clearLog()
      expect(
        await crawl('c', '--task', 'offline', '--cache', 'offline', '--depth', '1', '--ok-with-failures'),
      ).toMatchObject({
        failed: 1,
      })
      expect(site.log).toEqual([])
    },
    120_000,
  )

  it.skipIf(server === undefined)(
    'stays on the machine when --cache-store says so',
    async () => {
      await using store = await open(kind, server)
      await using folder = await openTemporaryFolder()
      await using site = await openTestSite({ '/': {} })
      const args = ['--dir', folder.path, '--store', store.url, '--cache-store', 'sqlite']
      await runWell(['crawl', site.url('/'), ...args])
      expect(await isThere(join(folder.path, 'cache.sqlite'))).toBe(true)
      expect(await runSpoor(['cache', 'stats', '--store', store.url])).toMatchObject({ code: 3 })
      expect(jsonLines((await runWell(['cache', 'ls', '--json', ...args])).stdout)).toHaveLength(1)
    },
    60_000,
  )
})

it('is refused without a store to share it in', async () => {
  await using folder = await openTemporaryFolder()
  for (const extra of [[], ['--store', 'memory:']]) {
    const end = await runSpoor(['cache', 'ls', '--dir', folder.path, '--cache-store', 'shared', ...extra])
    expect(end).toMatchObject({ code: 2, stdout: '' })
    expect(end.stderr).toContain('--cache-store shared: expected the URL of a server in --store')
  }
})
