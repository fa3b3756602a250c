/** What one machine finds out, another knows by the store: robots files, cookies, failures, reasons, items. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import type { TestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import { freshStore } from '../support/server-url.ts'
import { serviceUrl } from '../support/services.ts'

const SERVERS = (['POSTGRES', 'REDIS', 'MONGODB'] as const).map((kind) => ({ kind, server: serviceUrl(kind) }))

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

/** Sets a cookie, has a robots file with a delay, and a page that is broken. */
const openShyPage = (): Promise<TestSite> =>
  openTestSite(({ path }) => {
    if (path === '/robots.txt') {
      return {
        headers: { 'content-type': 'text/plain' },
        body: 'User-agent: *\nCrawl-delay: 1\nDisallow: /secret\n',
      }
    }
    if (path === '/')
      return { links: ['/a', '/secret', '/broken'], headers: { 'set-cookie': 'who=me; Path=/; Max-Age=600' } }
    if (path === '/broken') return { status: 404, body: 'none' }
    return {}
  })

describe.each(SERVERS)('two machines over one store on $kind', ({ kind, server }) => {
  it.skipIf(server === undefined)(
    'share robots files, cookies, failures, reasons and items',
    async () => {
      await using store = await freshStore(kind, server ?? '')
      await using folder = await openTemporaryFolder()
      await using site = await openShyPage()
      const on = (machine: string): string[] => ['--dir', join(folder.path, machine), '--store', store.url]
      const crawl = async (machine: string, ...urls: readonly string[]): Promise<unknown> => {
        const end = await runSpoor(['crawl', ...urls, ...on(machine), '--json', '--quiet', '--ok-with-failures'])
        expect(end, end.stderr).toMatchObject({ code: 0 })
        return JSON.parse(end.stdout)
      }
      expect(await crawl('a', site.url('/'))).toMatchObject({ pages: 2, failed: 1, skipped: { robots: 1 } })
      site.clearLog()

      expect(await crawl('b', site.url('/more'))).toMatchObject({ pages: 3, failed: 1 })
      // neither robots.txt again, nor a page that is done, and with the cookie that was set for the other machine
      expect(site.log.map(({ path }) => path)).toEqual(['/more'])
      expect(site.log[0]?.headers['cookie']).toBe('who=me')

      const failures = await runSpoor(['failures', ...on('c'), '--json'])
      expect(jsonLines(failures.stdout)).toMatchObject([{ url: site.url('/broken'), reason: 'http-4xx', status: 404 }])
      const why = await runSpoor(['why', site.url('/secret'), ...on('c'), '--json'])
      expect(JSON.parse(why.stdout)).toMatchObject({ state: 'skipped', reason: 'robots' })
      const items = await runSpoor(['export', ...on('c'), '-o', '-', '--format', 'jsonl'])
      expect(jsonLines(items.stdout)).toHaveLength(3)
    },
    120_000,
  )
})
