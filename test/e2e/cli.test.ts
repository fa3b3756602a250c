/** The built command, as people meet it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const root = join(import.meta.dirname, '../..')

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
const rowsOf = <T>(text: string): T[] => linesOf(text).map((line) => JSON.parse(line) as T)
const html = (body: string) => ({ headers: { 'content-type': 'text/html' }, body })

const json = async (...args: string[]): Promise<unknown[]> => rowsOf((await runSpoor([...args, '--json'])).stdout)

interface Item {
  readonly url: string
  readonly finalUrl: string
  readonly title: string
}

it('crawls the whole demo site, and says so when it is asked again', async () => {
  await using folder = await openTemporaryFolder()
  const run = () => runSpoor(['demo', '--json', '-o', 'pages.jsonl'], { cwd: folder.path })
  const first = await run()
  expect(first.code, first.stderr).toBe(0)
  const summary = JSON.parse(first.stdout) as { readonly pages: number; readonly failed: number }
  expect(summary).toMatchObject({ task: 'default', finishReason: 'finished', failed: 2 })
  expect(summary.pages).toBeGreaterThan(400)

  const items = rowsOf<Item>(await readFile(join(folder.path, 'pages.jsonl'), 'utf8'))
  expect(items).toHaveLength(summary.pages)
  expect(new Set(items.map(({ finalUrl }) => finalUrl)).size).toBe(items.length)
  const paths = items.map(({ finalUrl }) => new URL(finalUrl).pathname)
  for (const path of ['/hidden/only-in-the-sitemap', '/welcome', '/slow', '/shaky', '/docs/food/4', '/ru/'])
    expect(paths).toContain(path)
  expect(paths.filter((path) => /^\/(private|account|cart|not-a-link|gone|round)/.test(path))).toEqual([])
  expect(items.find(({ finalUrl }) => finalUrl.endsWith('/ru/'))?.title).toBe('Снаряжение для неспешных путешествий')

  const again = await run()
  expect(again.code, again.stderr).toBe(0)
  expect(again.stderr).toContain('finished already')
})

it('tells a stranger what happened: summary, failures, why, status, verify', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': html('<a href="/a">a</a><a href="/gone">b</a><a href="http://other.test/">c</a><a href="/private/x">d</a>'),
    '/a': html('<title>A</title>'),
    '/robots.txt': { body: 'User-agent: *\nDisallow: /private/' },
    '/gone': { status: 410 },
  })
  const where = ['--dir', join(folder.path, 'data')]
  const crawl = await runSpoor(['crawl', site.url('/'), '--retries', '0', ...where])
  expect(crawl.code, crawl.stderr).toBe(1)
  expect(crawl.stdout).toBe('')
  expect(crawl.stderr).toMatch(/Finished in .*\n {2}pages +2 pages/)
  expect(linesOf(crawl.stderr).at(-1)).toMatch(/^1 page failed: 1 http-4xx; spoor failures --dir /)

  const failures = await runSpoor(['failures', ...where])
  expect(failures.stdout).toMatch(/\/gone\n {2}http-4xx \(HTTP 410\), 1 attempt\n {4}\d{4}-/)
  const why = await runSpoor(['why', site.url('/private/x'), ...where])
  expect(why.stdout).toMatch(/not fetched \(robots\): .*\n {2}depth: 1\n {2}found on: /)
  expect((await runSpoor(['why', 'http://other.test/', ...where])).stdout).toContain('not fetched (scope)')
  expect((await runSpoor(['why', site.url('/never'), ...where])).stdout).toContain('unknown')
  const status = await runSpoor(['status', ...where])
  expect(status.stdout).toMatch(/: finished\n/)
  expect(status.stdout).toMatch(/failed +1 +spoor failures/)
  expect(await runSpoor(['verify', ...where])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/sound/) as string,
  })

  expect(await runSpoor(['crawl', site.url('/'), '--ok-with-failures', ...where])).toMatchObject({ code: 0 })
  const retry = await runSpoor(['failures', '--retry', ...where])
  expect(retry.stderr).toContain('1 request queued again')
  site.setRoutes({ '/gone': html('back') })
  const again = await runSpoor(['crawl', ...where])
  expect(again.code, again.stderr).toBe(0)
})

it('ends quietly and well when the reader of stdout goes away', async () => {
  await using folder = await openTemporaryFolder()
  const shape = treeSite(300, 5, { delayMs: 5 })
  await using site = await openTestSite(shape.handler)
  const main = join(root, 'dist/cli/main.js')
  const args = [main, 'crawl', site.url(shape.seed), '--dir', folder.path, '--delay', '0', '--quiet', '-o', '-']
  // without the variables of the test run: names of SPOOR_… that are no option are refused
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = (await once(child, 'close')) as [number]
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(site.log.length).toBeLessThan(300)
})

it.each([
  ['a file where the data folder should be', 'blocker'],
  ['a folder inside a file', 'blocker/data'],
])('exits 3 for %s', async (_, dir) => {
  await using folder = await openTemporaryFolder()
  await writeFile(join(folder.path, 'blocker'), 'a file')
  const end = await runSpoor(['crawl', 'http://127.0.0.1:1/', '--dir', join(folder.path, dir)])
  expect(end.code, end.stderr).toBe(3)
  expect(linesOf(end.stderr)).toHaveLength(1)
})

it.each([['status'], ['failures'], ['why', 'http://a.test/'], ['verify'], ['export', '-o', 'x.jsonl']])(
  '%s of a folder without a crawl exits 3 and makes no folder',
  async (...args) => {
    await using folder = await openTemporaryFolder()
    const end = await runSpoor([...args, '--dir', 'none'], { cwd: folder.path })
    expect(end.code, end.stderr).toBe(3)
    expect(linesOf(end.stderr)).toHaveLength(1)
    await expect(readFile(join(folder.path, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  },
)

it('answers single questions of the web', async () => {
  await using site = await openTestSite({
    '/robots.txt': { body: 'User-agent: *\nDisallow: /x # no\nCrawl-delay: 2' },
    '/from': { status: 302, headers: { location: '/page' } },
    '/page': html('<title>P</title><a href="b">b</a>'),
    '/sitemap.xml': {
      headers: { 'content-type': 'application/xml' },
      body: '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/1</loc></url></urlset>',
    },
  })
  expect(await json('fetch', site.url('/from'))).toMatchObject([
    {
      url: site.url('/from'),
      finalUrl: site.url('/page'),
      status: 200,
      redirects: [{ status: 302 }],
      fromCache: false,
    },
  ])
  expect((await runSpoor(['fetch', site.url('/page'), '--body'])).stdout).toBe('<title>P</title><a href="b">b</a>')
  expect(await json('robots', site.url('/x/y'))).toMatchObject([{ allowed: false, line: 2, crawlDelay: 2 }])
  expect(await json('links', site.url('/page'))).toMatchObject([{ title: 'P', links: [{ url: site.url('/b') }] }])
  expect(await json('sitemap', site.url('/sitemap.xml'))).toMatchObject([{ url: 'http://a.test/1' }])
  const dead = await runSpoor(['fetch', 'http://127.0.0.1:1/', '--json', '--retries', '0'])
  expect(dead.code).toBe(1)
  expect(JSON.parse(dead.stdout)).toMatchObject({ error: expect.stringMatching(/^connect/) as string })
})

it('starts a project that runs', async () => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({ '/': html('<a href="/a">a</a>'), '/a': html('<title>A</title>') })
  const project = join(folder.path, 'my-crawler')
  expect(await runSpoor(['init', 'my-crawler'], { cwd: folder.path })).toMatchObject({ code: 0 })
  await mkdir(join(project, 'node_modules'))
  await symlink(root, join(project, 'node_modules/spoor'))
  await symlink(join(root, 'node_modules/jiti'), join(project, 'node_modules/jiti'))
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: string[] = []
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    return { code, text: chunks.join('') }
  }
  const start = await run('node_modules/jiti/lib/jiti-cli.mjs', 'main.ts', site.url('/'))
  expect(start.code, start.text).toBe(0)
  expect(start.text).toContain('2 pages, 0 failed')
  const test = await run('node_modules/jiti/lib/jiti-cli.mjs', 'crawler.test.ts')
  expect(test.code, test.text).toBe(0)
})
