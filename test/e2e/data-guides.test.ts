/** The programs of the guides about extraction, results, sources and rendering run as they stand. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openTestSite, type TestSite } from '../../src/testing/site.ts'
import { chromium } from '../support/chromium.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

const SHOP = `<title>Shop</title><h1>Shoe</h1><p class=price>12,50 €<img src=/1.png><a href=/about>about</a>
<table><tr><td>38<td>4</table>`
const html = (body: string) => ({ body, headers: { 'content-type': 'text/html' } })

const LIST = html(`<ul class=list></ul><button onclick="for (let n = 1; n <= 20; n++)
  document.querySelector('ul').innerHTML += '<li class=item><a href=/item/' + n + '>item</a></li>'">More</button>`)
const ITEMS = Array.from({ length: 20 }, (_, index) => `/item/${index + 1}`)

/** Runs a guide's program against the site, and compares what is exported then, in any order, and the files it wrote. */
async function expectGuide(
  name: string,
  site: TestSite,
  [expected, files]: readonly [readonly object[], readonly string[]],
): Promise<void> {
  const guide = readFileSync(join(root, 'docs/guides', `${name}.md`), 'utf8')
  const program = /```ts\n(.*?)```/s.exec(guide)?.[1] ?? ''
  expect(program).toContain("from 'spoor'")
  await using folder = await openTemporaryFolder()
  await mkdir(join(folder.path, 'node_modules'))
  await symlink(root, join(folder.path, 'node_modules/spoor'))
  await symlink(join(root, 'node_modules/zod'), join(folder.path, 'node_modules/zod'))
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder.path, 'program.ts'), program.replaceAll('https://example.com/', site.url('/')))
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs')
  await run(process.execPath, [jiti, 'program.ts'], { cwd: folder.path, timeout: 300_000 })
  const exported = await runSpoor(['export', '-o', '-', '--format', 'jsonl'], { cwd: folder.path })
  const items = exported.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replaceAll(site.url('/').slice(0, -1), '')) as unknown)
  expect(items).toHaveLength(expected.length)
  for (const item of expected) expect(items).toContainEqual(expect.objectContaining(item))
  expect((await readdir(folder.path)).filter((file) => /^items-\d+/.test(file))).toEqual(files)
}

it.each([
  ['extract', [{ name: 'Shoe', price: 12.5, images: ['/1.png'] }], []],
  ['results', [{ title: 'Shop' }, { title: 'About' }], ['items-00001.jsonl']],
  [
    'sources',
    [
      { label: null, title: 'Shop' },
      { label: 'search', title: 'Found' },
    ],
    [],
  ],
])('docs/guides/%s.md', async (name, items, files) => {
  await using site = await openTestSite({
    '/': html(SHOP),
    '/about': html('<title>About</title>'),
    '/search': html('<title>Found</title>'),
  })
  await expectGuide(name, site, [items, files])
})

it.skipIf(chromium === undefined)(
  'docs/guides/render.md',
  async () => {
    const pages = ITEMS.map((path) => [path, html(`<title>${path}</title>`)] as const)
    await using site = await openTestSite({ '/': LIST, ...Object.fromEntries(pages) })
    const items = ITEMS.map((path) => ({ url: path, title: path }))
    const list = { url: '/', picture: expect.stringMatching(/^files\/.*\.png$/) as string }
    await expectGuide('render', site, [[list, ...items], []])
  },
  90_000,
)

it('each guide with a program is run', async () => {
  const guides = await readdir(join(root, 'docs/guides'))
  const withPrograms = guides.filter((file) => readFileSync(join(root, 'docs/guides', file), 'utf8').includes('```ts'))
  // those of the tasks: guides.test.ts; of politeness, of going on and so on: tool-guides.test.ts
  const elsewhere = [
    'tasks',
    'recrawl',
    'polite',
    'resume',
    'machines',
    'stores',
    'exporters',
    'testing',
    'crawlee',
    'scrapy',
  ]
  const here = ['extract', 'render', 'results', 'sources']
  expect(withPrograms.toSorted()).toEqual([...here, ...elsewhere].map((name) => `${name}.md`).toSorted())
})
