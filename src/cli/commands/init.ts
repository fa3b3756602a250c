/** `spoor init [DIR]`: writes a starter project, and overwrites nothing. */

import { writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { configError } from '../../config/given.ts'
import { makeFolder } from '../../util/make-folder.ts'
import { packageVersion } from '../../util/package-version.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { starterFiles } from '../starter/files.ts'
import { shellWord } from '../where.ts'

export async function runInit({ host, output, options, positionals }: CommandContext): Promise<ExitCode> {
  const named = positionals[0] ?? '.'
  const dir = resolve(host.cwd, named)
  const spoor = options.package ?? `^${packageVersion()}`
  const files = starterFiles({ name: packageName(basename(dir)), spoor })
  try {
    makeFolder(dir)
    for (const [name, text] of files)
      await output.result(`${await writeNew(join(dir, name), text)}  ${join(named, name)}`)
  } catch (error) {
    throw configError(
      `${named}: cannot be written to: ${error instanceof Error ? error.message : String(error)}`,
      error,
    )
  }
  output.hint(
    `\nNext: ${named === '.' ? '' : `cd ${shellWord(named)} && `}npm install && npm start -- https://example.com/`,
  )
  return EXIT.done
}

/** Exclusive: of two that try, or of a file that is there, the first stays as it is. */
async function writeNew(path: string, text: string): Promise<'wrote' | 'kept '> {
  try {
    await writeFile(path, text, { flag: 'wx' })
    return 'wrote'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return 'kept '
    throw error
  }
}

/** What npm takes for a name. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
  return name === '' ? 'my-crawler' : name.slice(0, 200)
}
