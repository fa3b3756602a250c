/** Files named by their content. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { saveFile } from '../../../src/util/save-file.ts'
import { openTemporaryFolder } from '../../support/command.ts'

it('are written once, whoever asks and under whatever ending, and leave no draft', async () => {
  await using folder = await openTemporaryFolder()
  const bytes = Buffer.from('a picture')
  const endings = ['png', 'png', 'jpg', 'png', 'bin']
  const first = await saveFile(folder.path, bytes, 'png')
  const all = await Promise.all(endings.map((ending) => saveFile(folder.path, bytes, ending)))
  for (const saved of all) expect(saved).toEqual(first)
  expect(first.file).toBe(`files/${first.sha256.slice(0, 2)}/${first.sha256}.png`)
  expect(await readdir(join(folder.path, 'files', first.sha256.slice(0, 2)))).toEqual([`${first.sha256}.png`])
  expect(await readFile(join(folder.path, first.file))).toEqual(bytes)
})
