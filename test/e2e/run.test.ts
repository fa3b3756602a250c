/** `spoor run FILE`: real files, run by the built command. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor, type TemporaryFolder } from '../support/command.ts'

const ROUTES = {
  '/': { title: 'Shop', links: ['/list/1'] },
  '/list/1': { links: ['/list/2', '/item/a', '/item/b'] },
  '/list/2': { links: ['/item/c', '/broken'] },
  '/item/a': { title: 'A' },
  '/item/b': { title: 'B' },
  '/item/c': { title: 'C' },
  '/broken': { title: 'Broken' },
}

const shopFile = (origin: string): string => `
import { createRouter, defineTask } from 'spoor'
import { titleOf } from './title.ts'

interface Labels {
  item: { list: string }
}

const router = createRouter<Labels>()
router.addRule({
  match: ['/', '/list/*'],
  handler: async ({ request, enqueueLinks }) => {
    await enqueueLinks({ match: '/list/*' })
    await enqueueLinks({ match: ['/item/*', '/broken'], label: 'item', userData: { list: request.url } })
  },
})
router.addHandler('item', ({ request, page }) => {
  if (request.url.endsWith('/broken')) throw new Error('no such item')
  return { title: titleOf(page.title), list: new URL(request.userData.list).pathname }
})

export default defineTask<Labels>({
  name: 'shop',
  seeds: '${origin}/',
  rules: router,
})
`

async function openProject(files: Readonly<Record<string, string>>): Promise<TemporaryFolder> {
  const folder = await openTemporaryFolder()
  await mkdir(join(folder.path, 'src'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
  return folder
}

const itemsIn = (stdout: string): unknown[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown)

const byTitle = (a: unknown, b: unknown): number => JSON.stringify(a).localeCompare(JSON.stringify(b))

const TITLE = `export const titleOf = (title: string): string => title.toLowerCase()\n`
const ITEMS = [
  { title: 'a', list: '/list/1' },
  { title: 'b', list: '/list/1' },
  { title: 'c', list: '/list/2' },
]

it.each([
  ['in one process', []],
  ['with worker processes', ['--processes', '2']],
])('runs a task in TypeScript %s, without a build or an installed package', async (_how, flags) => {
  await using site = await openTestSite(ROUTES)
  await using folder = await openProject({ 'shop.ts': shopFile(site.origin), 'title.ts': TITLE })
  const options = { cwd: folder.path }
  const run = await runSpoor(['run', 'shop.ts', '--json', '--retries', '0', ...flags], options)
  expect(run.stderr).toContain('1 page')
  expect([run.code, JSON.parse(run.stdout)]).toMatchObject([1, { task: 'shop', pages: 6, failed: 1 }])
  const exported = await runSpoor(['export', '--task', 'shop', '-o', '-', '--format', 'jsonl'], options)
  expect(itemsIn(exported.stdout).toSorted(byTitle)).toEqual(ITEMS.toSorted(byTitle))
  for (const path of Object.keys(ROUTES)) expect(site.requestsFor(path)).toHaveLength(1)

  // the stack names the line of the file
  const failures = await runSpoor(['failures', '--task', 'shop', '--json'], options)
  expect(failures.stdout).toContain('no such item')
  expect(failures.stdout).toContain('shop.ts:18:')

  // the same again does nothing
  site.clearLog()
  await runSpoor(['run', 'shop.ts', '--ok-with-failures', ...flags], options)
  expect(site.log).toEqual([])
})

it('says what it would do, and sends and keeps nothing', async () => {
  await using site = await openTestSite(ROUTES)
  await using folder = await openProject({
    'tasks.ts': `
      export default [
        { name: 'a', seeds: ['${site.origin}/list/1', '${site.origin}/list/1#x', 'nonsense'], rules: [{ match: '/list/*' }] },
        { name: 'b', seeds: function* () { yield { url: '${site.origin}/', label: 'unknown' } }, rules: [{ label: 'x' }] },
      ]`,
  })
  const run = await runSpoor(['run', 'tasks.ts', '--dry-run', '--json'], { cwd: folder.path })
  expect(run.code).toBe(0)
  expect(JSON.parse(run.stdout)).toEqual([
    {
      task: 'a',
      rules: ['/list/*'],
      more: false,
      seeds: [
        { url: `${site.origin}/list/1`, verdict: 'fetch', reason: null, rule: '/list/*' },
        { url: `${site.origin}/list/1`, verdict: 'skip', reason: 'duplicate', rule: null },
        { url: 'nonsense', verdict: 'skip', reason: expect.stringContaining('invalid-url') as string, rule: null },
      ],
    },
    {
      task: 'b',
      rules: ['x'],
      more: false,
      seeds: [{ url: `${site.origin}/`, verdict: 'fetch', reason: null, rule: null }],
    },
  ])
  const shown = await runSpoor(['run', 'tasks.ts', '--dry-run', '--task', 'b'], { cwd: folder.path })
  expect(shown.stdout).toContain('no rule takes it')
  expect(site.log).toEqual([])
  const status = await runSpoor(['status', '--task', 'a'], { cwd: folder.path })
  expect(status.code).toBe(3)
})

it('runs a crawler with URLs, and flags win over what the file says', async () => {
  await using site = await openTestSite(ROUTES)
  await using folder = await openProject({
    'crawler.mjs': `
      import { Crawler } from 'spoor'
      const crawler = new Crawler({ maxCrawlDepth: 9, robots: false })
      crawler.on('page', ({ url }) => console.error('saw ' + new URL(url).pathname))
      crawler.router.addDefaultHandler(async ({ request, enqueueLinks }) => {
        await enqueueLinks()
        return { path: new URL(request.url).pathname }
      })
      export default crawler`,
  })
  const run = await runSpoor(['run', 'crawler.mjs', site.url('/'), '--depth', '1', '-o', 'items.jsonl', '--json'], {
    cwd: folder.path,
  })
  expect([run.code, JSON.parse(run.stdout)]).toMatchObject([0, { task: 'default', pages: 2 }])
  expect(run.stderr).toContain('saw /list/1')
  expect(site.log.map(({ path }) => path)).toEqual(['/', '/list/1'])
})

it('gives each of several tasks a file of its own', async () => {
  await using site = await openTestSite(ROUTES)
  await using folder = await openProject({
    'tasks.js': `
      const seeds = '${site.origin}/item/a'
      export default [{ name: 'one', seeds }, { name: 'two', seeds }]`,
  })
  const run = await runSpoor(['run', 'tasks.js', '-o', 'items.jsonl', '--json'], { cwd: folder.path })
  expect([run.code, JSON.parse(run.stdout)]).toMatchObject([
    0,
    {
      task: 'one, two',
      pages: 2,
      tasks: [
        { task: 'one', pages: 1 },
        { task: 'two', pages: 1 },
      ],
    },
  ])
  for (const name of ['one', 'two']) {
    const exported = await runSpoor(['export', '--task', name, '-o', '-', '--format', 'jsonl'], { cwd: folder.path })
    expect(itemsIn(exported.stdout)).toMatchObject([{ title: 'A' }])
  }
})

it('writes several tasks to stdout as lines of JSON, and refuses what has one head', async () => {
  await using site = await openTestSite(ROUTES)
  await using folder = await openProject({
    'tasks.js': `
      const seeds = '${site.origin}/item/a'
      export default [{ name: 'one', seeds }, { name: 'two', seeds }]`,
  })
  const csv = ['run', 'tasks.js', '-o', '-', '--format', 'csv', '--quiet']
  const refused = await runSpoor(csv, { cwd: folder.path })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('-o -: expected one task for --format csv, found 2')
  expect(site.log).toEqual([])
  const chosen = await runSpoor([...csv, '--task', 'one'], { cwd: folder.path })
  expect(chosen.code).toBe(0)
  expect(chosen.stdout.trimEnd().split('\n')).toHaveLength(2)
  const lines = await runSpoor(['run', 'tasks.js', '-o', '-', '--quiet'], { cwd: folder.path })
  expect(lines.code).toBe(0)
  expect(itemsIn(lines.stdout)).toMatchObject([{ title: 'A' }, { title: 'A' }])
}, 300_000)

it.each([
  ['missing.ts', 'missing.ts: expected a file, found nothing there'],
  ['src', 'src: expected a file, found nothing there'],
  ['broken.ts', 'broken.ts: cannot be loaded: ParseError'],
  ['throws.ts', 'throws.ts:3:'],
  [
    'named.ts',
    'named.ts: expected a default export that is a task (defineTask), a list of tasks or a Crawler; found the exports task',
  ],
  [
    'number.ts',
    'number.ts: expected a default export that is a task (defineTask), a list of tasks or a Crawler, found a number',
  ],
  ['import.ts', "import.ts: cannot be loaded: Cannot find module './nowhere.ts'"],
  [
    'wrong.ts',
    'wrong.ts: 2 problems:\n  x: maxDepht: no such field; did you mean maxDepth?\n  x: waitTime: expected a duration',
  ],
])('says what is wrong with %s', async (name, message) => {
  await using folder = await openProject({
    'broken.ts': 'export default { name: ',
    'throws.ts': '\n\nthrow new Error("not today")\nexport default {}',
    'named.ts': 'export const task = { name: "x" }',
    'number.ts': 'export default 5',
    'import.ts': 'import x from "./nowhere.ts"\nexport default x',
    'wrong.ts': 'export default { name: "x", maxDepht: 1, waitTime: "soon" }',
  })
  const run = await runSpoor(['run', name], { cwd: folder.path })
  expect(run.stderr).toContain(message)
  expect(run.code).toBe(2)
})

const crawler = (title: string): string => `
import { Crawler } from 'spoor'
export default new Crawler({ requestHandler: () => ({ is: '${title}' }) })`

it('refuses to go on with the crawl of no name that another file has begun', async () => {
  await using site = await openTestSite({ '/': { title: 'A', links: ['/b'] }, '/b': { title: 'B' } })
  await using folder = await openProject({ 'one.ts': crawler('one'), 'two.ts': crawler('two') })
  const run = (...args: string[]) => runSpoor(['run', ...args, '--no-robots', '--quiet'], { cwd: folder.path })
  expect(await run('one.ts', site.url('/'))).toMatchObject({ code: 0 })
  expect(await run('one.ts', site.url('/b'))).toMatchObject({ code: 0 })

  const refused = await run('two.ts', site.url('/'))
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('is that of one.ts, and two.ts gives its own no name')
  expect(await run('two.ts', site.url('/'), '--task', 'two')).toMatchObject({ code: 0 })
  expect(await run('two.ts', site.url('/'), '--task', 'default')).toMatchObject({ code: 0 })
  expect(await run('two.ts', site.url('/'), '--fresh', '-o', 'two.jsonl')).toMatchObject({ code: 0 })
  expect((await run('one.ts', site.url('/'))).code).toBe(2)
}, 60_000)
