/** The programs of the guides about extraction, results and sources run as they stand. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

const SHOP = `<title>Shop</title><h1>Shoe</h1><p class=price>12,50 €<img src=/1.png><a href=/about>about</a>
<table><tr><td>38<td>4</table>`
const html = (body: string) => ({ body, headers: { 'content-type': 'text/html' } })

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
])('docs/guides/%s.md', async (name, expected, files) => {
  const guide = readFileSync(join(root, 'docs/guides', `${name}.md`), 'utf8')
  const program = /```ts\n(.*?)```/s.exec(guide)?.[1] ?? ''
  expect(program).toContain("from 'spoor'")
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': html(SHOP),
    '/about': html('<title>About</title>'),
    '/search': html('<title>Found</title>'),
  })
  await mkdir(join(folder.path, 'node_modules'))
  await symlink(root, join(folder.path, 'node_modules/spoor'))
  await symlink(join(root, 'node_modules/zod'), join(folder.path, 'node_modules/zod'))
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder.path, 'program.ts'), program.replaceAll('https://example.com/', site.url('/')))
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs')
  await run(process.execPath, [jiti, 'program.ts'], { cwd: folder.path, timeout: 60_000 })
  const exported = await runSpoor(['export', '-o', '-', '--format', 'jsonl'], { cwd: folder.path })
  const items = exported.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replaceAll(site.url('/').slice(0, -1), '')) as unknown)
  expect(items).toHaveLength(expected.length)
  for (const item of expected) expect(items).toContainEqual(expect.objectContaining(item))
  expect((await readdir(folder.path)).filter((file) => /^items-\d+/.test(file))).toEqual(files)
})
