import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../src/cli/command-table.ts'
import { flagOf, rowsOf } from '../../../src/config/options.ts'
import { runCommand } from './run-command.ts'

const run = promisify(execFile)
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-completion-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout } = await runCommand(['completion', shell])
  expect(code).toBe(0)
  const file = join(folder, shell)
  await writeFile(file, stdout)
  return file
}

/** What bash would offer for the last word. */
async function offered(...words: string[]): Promise<readonly string[]> {
  const ask = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spoor; printf "%s\\n" "${COMPREPLY[@]}"'
  const { stdout } = await run('bash', ['--norc', '-c', ask, await scriptOf('bash'), 'spoor', ...words])
  return stdout.split('\n').filter(Boolean).toSorted()
}

const has = (tool: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((place) => existsSync(join(place, tool)))

describe('bash', () => {
  test('completes commands, flags of the command, their values, and what a command begins with', async () => {
    expect(await offered('s')).toEqual(['shell', 'sitemap', 'status'])
    expect(await offered('crawl', '--max-p')).toEqual(['--max-pages'])
    expect(await offered('crawl', '--order', '')).toEqual(['bfs', 'dfs'])
    expect(await offered('cache', 'p')).toEqual(['prune'])
    // a file is left to bash
    expect(await offered('crawl', '-o', '')).toEqual([])
    expect(await offered('links', 'pa')).toEqual([])
  })

  test.each(COMMANDS.map(({ name }) => [name]))('knows every option of %s', async (name) => {
    expect(await offered(name, '-')).toEqual(
      rowsOf(name)
        .flatMap((row) => (row.short === undefined ? [flagOf(row)] : [flagOf(row), `-${row.short}`]))
        .toSorted(),
    )
  })
})

// their own reading of the script is the judge; where a shell is not installed nothing can be said
test.skipIf(!has('zsh'))('zsh reads its script', async () => {
  await run('zsh', ['-f', '-n', await scriptOf('zsh')])
})

test.skipIf(!has('fish'))('fish completes by its script', async () => {
  const file = await scriptOf('fish')
  const { stdout } = await run('fish', ['--no-config', '-c', `source ${file}; complete -C 'spoor crawl --order '`])
  expect(stdout.split('\n').filter((line) => /^[bd]fs/.test(line))).toHaveLength(2)
})

test('zsh and fish have every command with its options, and no quote is left open', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { stdout } = await runCommand(['completion', shell])
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`))
    expect(stdout).toContain('max-pages')
    expect(stdout.replaceAll("'\\''", '').replaceAll("\\'", '').split("'").length % 2).toBe(1)
  }
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
})
