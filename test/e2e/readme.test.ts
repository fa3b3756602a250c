/** The first example of the README runs as it stands. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

it('crawls the site, keeps the items and leaves out what the example leaves out', async () => {
  const example = /```ts\n([^`]*import \{ Crawler \} from 'spoor'[^`]*)```/.exec(
    readFileSync(join(root, 'README.md'), 'utf8'),
  )?.[1]
  expect(example).toBeDefined()
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': { title: 'Home', links: ['/a', '/login', '/a#again'] },
    '/a': { title: 'A page' },
    '/login': { title: 'Not wanted' },
  })
  // as an installed package: the name resolves to this repository
  await mkdir(join(folder.path, 'node_modules'))
  await symlink(root, join(folder.path, 'node_modules/spoor'))
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
  const program = (example ?? '').replace('https://example.com/', site.url('/'))
  await writeFile(join(folder.path, 'example.ts'), program)
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs')
  await run(process.execPath, [jiti, 'example.ts'], { cwd: folder.path, timeout: 120_000 })

  const exported = await runSpoor(['export', '-o', '-', '--format', 'jsonl'], { cwd: folder.path })
  const items = exported.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(items).toEqual([
    { url: site.url('/'), title: 'Home' },
    { url: site.url('/a'), title: 'A page' },
  ])
  expect(site.requestsFor('/login')).toEqual([])
})
