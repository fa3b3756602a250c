import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../src/cli/command-table.ts'
import { COMMAND_NAMES } from '../../../src/config/option-row.ts'
import { flagOf, rowsOf } from '../../../src/config/options.ts'
import { runCommand } from './run-command.ts'

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'spoor-cli-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

describe('help and version', () => {
  test('alone it shows three examples and where to read on', async () => {
    const { code, stdout, stderr } = await runCommand([])
    expect(code).toBe(0)
    expect(stdout.match(/^ {2}spoor /gm)).toHaveLength(3)
    expect(stdout).toContain('spoor --help')
    expect(stderr).toBe('')
  })

  test.each([['--version'], ['-V'], ['version']])('%s prints the version', async (word) => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    expect(await runCommand([word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([['--help'], ['-h'], ['help']])('%s lists every command', async (word) => {
    const { code, stdout } = await runCommand([word])
    expect(code).toBe(0)
    const width = Math.max(...COMMANDS.map(({ name }) => name.length))
    for (const { name, summary } of COMMANDS) expect(stdout).toContain(`${name.padEnd(width)}  ${summary}`)
  })

  test.each(COMMAND_NAMES.map((name) => [name]))(
    '%s --help names every option it takes, with examples',
    async (name) => {
      const { code, stdout, stderr } = await runCommand([name, '--help'])
      expect(code).toBe(0)
      expect(stderr).toBe('')
      expect(stdout).toMatch(/^Usage: spoor /m)
      expect(stdout).toMatch(/^Examples$/m)
      for (const row of rowsOf(name)) expect(stdout).toContain(flagOf(row))
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(105)
      expect((await runCommand(['help', name])).stdout).toBe(stdout)
    },
  )
})

describe('wrong usage', () => {
  test.each([
    [['statsu'], /statsu: unknown command; did you mean spoor status\?/],
    [['xyzzyplugh'], /unknown command; see spoor --help/],
    [['https://a.test/'], /did you mean spoor crawl https:\/\/a\.test\/\?/],
    [['--depth', '3'], /expected a command first/],
    [['crawl'], /expected a URL, --seeds or --sitemap/],
    [
      ['crawl', 'http://a.test/', '--store', 'memory:', '--processes', '2'],
      /--processes 2: expected 1 with --store memory:/,
    ],
    [['crawl', 'example.com'], /found "example\.com"; did you mean https:\/\/example\.com\?/],
    [['crawl', 'file:///etc/passwd'], /expected an http or https URL \(this one is file:\)/],
    [['crawl', 'http://[broken'], /expected an http or https URL, found "http:\/\/\[broken"$/m],
    [['crawl', 'http://a.test/', '-o', '-', '--json'], /cannot carry both/],
    [['crawl', 'http://a.test/', '--no-such-flag'], /--no-such-flag/],
    [['crawl', 'http://a.test/', '--match', '(['], /--match.*\(\[/],
    [['why'], /expected URL, found nothing/],
    [['why', 'http://a/', 'http://b/'], /expected one URL, found also "http:\/\/b\/"/],
    [['status', 'x'], /expected no argument, found also "x"/],
    [['canon'], /expected URL, found nothing/],
    [['canon', '--batch', 'x'], /expected no argument/],
    [['fetch', 'http://a/', '--body', '--json'], /cannot carry both/],
    [['export'], /expected -o FILE/],
    [['links', 'no-such-file.html'], /"no-such-file\.html": there is no such file/],
    [['links', '.'], /expected a file, found a folder/],
    [['robots', 'http://a.test/', '--file', 'none.txt'], /there is no such file/],
    [['help', 'nonsense'], /unknown command/],
    [['crawl', 'http://a.test/', '-o', '-', '--output-rotate', '5'], /--output-rotate: expected -o FILE with it/],
    [['export', '-o', '-', '--output-rotate', '5'], /--output-rotate: expected -o FILE with it/],
    [['graph', '-o', 'x.foo', '--dir', 'none'], /can be written as dot, .*found x\.foo/],
  ])('%j gives one line and exit status 2', async (argv, line) => {
    const { code, stdout, stderr } = await runCommand(argv, { cwd })
    expect(stderr).toMatch(line)
    expect(stderr.trimEnd()).not.toContain('\n')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('what was typed cannot steer the terminal', async () => {
    const { stderr } = await runCommand(['\u001b[2Jx'])
    expect(stderr).not.toContain('\u001b')
  })
})

describe('init', () => {
  test('it writes a project and overwrites nothing', async () => {
    await writeFile(join(cwd, 'README.md'), 'mine')
    const first = await runCommand(['init'], { cwd })
    expect(first.code).toBe(0)
    expect(first.stdout).toContain('kept   README.md')
    expect(await readFile(join(cwd, 'README.md'), 'utf8')).toBe('mine')
    const files = (await readdir(cwd)).toSorted()
    expect(files).toEqual([
      '.gitignore',
      'README.md',
      'crawler.test.ts',
      'crawler.ts',
      'main.ts',
      'package.json',
      'tsconfig.json',
    ])
    const second = await runCommand(['init', '.'], { cwd })
    expect(second.stdout).not.toContain('wrote')
  })

  test('it makes the folder, and a name that npm takes', async () => {
    const { code, stderr } = await runCommand(['init', 'My Crawler!'], { cwd })
    expect(code).toBe(0)
    expect(stderr).toContain("cd 'My Crawler!' &&")
    const { name } = JSON.parse(await readFile(join(cwd, 'My Crawler!/package.json'), 'utf8')) as { name: string }
    expect(name).toBe('my-crawler')
  })

  test('a folder that cannot be written to is one line', async () => {
    await writeFile(join(cwd, 'file'), '')
    const { code, stderr } = await runCommand(['init', 'file/x'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^spoor: file\/x: cannot be written to/)
  })
})
