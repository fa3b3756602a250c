/** The task files in the guide run as they stand. */

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/tasks.md'), 'utf8')
const FILES = [...GUIDE.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => code)

it.each(FILES.map((code) => [/name: '([^']+)'/.exec(code)?.[1] ?? 'none', code]))('the task %s', async (task, code) => {
  await using folder = await openTemporaryFolder()
  await using site = await openTestSite({
    '/': { title: 'Shelf', links: ['/book/1', '/list/2'] },
    '/list/2': { links: ['/book/2'] },
    '/book/1': { title: 'One' },
    '/book/2': { title: 'Two' },
  })
  await writeFile(join(folder.path, 'task.ts'), code.replaceAll('https://example.com', site.origin))
  const run = await runSpoor(['run', 'task.ts', '--delay', '0', '--json'], { cwd: folder.path })
  expect([run.code, JSON.parse(run.stdout)]).toMatchObject([0, { task, finishReason: 'finished', failed: 0 }])
  const exported = await runSpoor(['export', '--task', task, '-o', '-', '--format', 'jsonl'], { cwd: folder.path })
  const items = exported.stdout.split('\n').filter(Boolean)
  expect(items.map((line) => JSON.parse(line) as unknown)).toContainEqual(expect.objectContaining({ title: 'One' }))
})

it('has task files', () => {
  expect(FILES).toHaveLength(3)
})
