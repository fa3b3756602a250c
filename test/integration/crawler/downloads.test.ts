/** Files and pictures kept as items: once each, named by their content, with all that a request has. */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Crawler, defineTask } from '../../../src/index.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../../support/command.ts'
import { failuresOf, itemsOf, reasonOf } from './support.ts'

const html = (body: string) => ({ body, headers: { 'content-type': 'text/html' } })
const file = (body: string, type: string) => ({ body, headers: { 'content-type': type } })
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const bodyOf = (path: string): string => path.repeat(5000)

async function filesOf(dir: string): Promise<string[]> {
  const entries = await readdir(join(dir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

describe('downloads', () => {
  it('are asked for by the command, also of other hosts and at the deepest level, and are items', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({})
    site.setRoutes({
      '/': html('<a href=/deep>1</a><img src=/same.png><img src=/a.png><a href=/a.png>both</a>'),
      '/deep': html(
        `<img src="//localhost:${site.port}/b"><img src=/huge.png><img src=/secret.png><a href=/too-deep>deeper</a>`,
      ),
      '/a.png': file('one', 'image/png'),
      '/same.png': file('one', 'image/png'),
      '/b': file('two', 'image/jpeg; q=1'),
      '/huge.png': file('x'.repeat(2000), 'image/png'),
      '/robots.txt': { body: 'User-agent: *\nDisallow: /secret' },
    })
    const crawl = ['crawl', site.url('/'), '--dir', folder.path, '--depth', '1', '--allow-private', '--retries', '0']
    const files = ['--download', 'img@src', '--max-download', '1kb']
    const { code, stdout, stderr } = await runSpoor([...crawl, ...files, '--ok-with-failures', '--json', '--quiet'])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ pages: 5, failed: 1, skipped: { robots: 1, depth: 1 } })
    const items = (await itemsOf(folder.path)) as { url: string; page?: string }[]
    const kept = items.filter((item) => 'sha256' in item).toSorted((a, b) => (a.url < b.url ? -1 : 1))
    const one = sha256('one')
    const two = sha256('two')
    expect(kept).toMatchObject([
      { url: site.url('/a.png'), page: site.url('/'), path: `files/${one.slice(0, 2)}/${one}.png`, sha256: one },
      { url: site.url('/same.png'), page: site.url('/'), path: `files/${one.slice(0, 2)}/${one}.png`, bytes: 3 },
      { page: site.url('/deep'), path: `files/${two.slice(0, 2)}/${two}.jpg`, contentType: 'image/jpeg; q=1' },
    ])
    expect(items).toHaveLength(5)
    expect((await filesOf(folder.path)).toSorted()).toEqual([`${one}.png`, `${two}.jpg`].toSorted())
    expect(await failuresOf(folder.path)).toMatchObject([{ url: site.url('/huge.png'), reason: 'too-large' }])
    expect(await reasonOf(folder.path, site.url('/secret.png'))).toBe('robots')
    expect(site.requestsFor('/a.png')).toHaveLength(1)
  })

  it('are asked for by handlers, rules and tasks, with user data and hooks', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({
      '/': html('<a href=/item/1>1</a><a href=report.PDF>pdf</a><img src=/logo.gif>'),
      '/item/1': html('<img src=/1.gif>'),
      '/report.PDF': file('report', 'application/pdf'),
      '/1.gif': file('gif', 'image/gif'),
      '/logo.gif': file('logo', 'image/gif'),
    })
    const task = defineTask({
      name: 'files',
      seeds: site.url('/'),
      rules: [
        { match: '/item/*', downloads: 'img@src', handler: () => undefined },
        {
          match: '/',
          handler: async ({ download, enqueueLinks, $ }) => {
            await download($('a[href$="PDF"]').attr('href') ?? '', { userData: { kind: 'report' }, cache: 'off' })
            await enqueueLinks({ match: '/item/*' })
          },
        },
      ],
      middleware: { onItem: (item) => ({ ...item, seen: true }) },
    })
    const summary = await new Crawler({ dir: folder.path, tasks: [task] }).run()
    expect(summary).toMatchObject({ pages: 4, failed: 0 })
    const items = await itemsOf(folder.path, 'files')
    expect(items).toHaveLength(2)
    expect(items).toContainEqual(
      expect.objectContaining({ url: site.url('/report.PDF'), kind: 'report', bytes: 6, seen: true }),
    )
    expect(items).toContainEqual(expect.objectContaining({ url: site.url('/1.gif'), page: site.url('/item/1') }))
    await expect(new Crawler({ tasks: [defineTask({ name: 'x', downloads: 'img' })] }).run()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('CSS@ATTR') as string,
    })
  })

  it('are whole and there once after kill -9', async () => {
    await using folder = await openTemporaryFolder()
    const names = Array.from({ length: 60 }, (_, n) => `/${n}.bin`)
    await using site = await openTestSite(({ path }) =>
      path === '/' ? html(names.map((name) => `<img src=${name}>`).join('')) : file(bodyOf(path), 'image/x-test'),
    )
    const out = join(folder.path, 'out.jsonl')
    const args = ['crawl', site.url('/'), '--dir', folder.path, '--no-robots', '--quiet', '-o', out]
    const killed = startSpoor([...args, '--download', 'img@src'])
    await untilRequests(site, 25, killed)
    await killed.kill()
    expect(await runSpoor([...args, '--download', 'img@src'])).toMatchObject({ code: 0 })
    const lines = (await readFile(out, 'utf8')).trimEnd().split('\n')
    const items = lines.map((line) => JSON.parse(line) as { url: string; path?: string })
    expect(new Set(items.map(({ url }) => url)).size).toBe(61)
    expect(items).toHaveLength(61)
    for (const { url, path } of items) {
      if (path === undefined) continue
      expect(await readFile(join(folder.path, path), 'utf8')).toBe(bodyOf(new URL(url).pathname))
    }
    expect((await filesOf(folder.path)).filter((name) => !name.endsWith('.spoor-tmp'))).toHaveLength(60)
  })
})
