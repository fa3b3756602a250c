import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommandName } from '../../../src/config/option-row.ts'
import { COMMAND_NAMES } from '../../../src/config/option-row.ts'
import { configKeyOf, defaultOptions, envNameOf, OPTION_ENTRIES } from '../../../src/config/options.ts'
import { resolveOptions } from '../../../src/config/resolve.ts'

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'spoor-config-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

interface Given {
  readonly argv?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly command?: CommandName
}

const resolve = ({ argv = [], env = {}, command = 'crawl' }: Given) => resolveOptions({ command, argv, env, cwd })
const optionsOf = async (given: Given) => (await resolve(given)).options
const problemOf = async (given: Given): Promise<string> => {
  try {
    await resolve(given)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'CONFIG_INVALID') return error.message
    throw error
  }
  return 'nothing is wrong'
}

const write = (name: string, text: string): Promise<void> => writeFile(join(cwd, name), text)

describe('flags', () => {
  test('a value follows its flag after a blank or an equals sign', async () => {
    expect(await optionsOf({ argv: ['--depth', '3'] })).toMatchObject({ maxDepth: 3 })
    expect(await optionsOf({ argv: ['--depth=3', '-o', '-'] })).toMatchObject({ maxDepth: 3, output: '-' })
  })

  test('without any, every option has its default', async () => {
    expect(await optionsOf({})).toEqual(defaultOptions())
  })

  test('a repeatable one collects, any other takes the last', async () => {
    const argv = ['--match', 'a', '--match', 'b', '--depth', '1', '--depth', '2']
    expect(await optionsOf({ argv })).toMatchObject({ match: [/a/u, /b/u], maxDepth: 2 })
  })

  test('a switch is turned on and off, by either name', async () => {
    expect(await optionsOf({ argv: ['--no-robots', '--insecure'] })).toMatchObject({ robots: false, insecure: true })
    expect(await optionsOf({ argv: ['--robots=no', '--no-insecure'] })).toMatchObject({
      robots: false,
      insecure: false,
    })
  })

  test('what is no option is an argument, also after two dashes', async () => {
    const { positionals } = await resolve({ argv: ['http://a/', '--json', 'http://b/', '--', '--depth'] })
    expect(positionals).toEqual(['http://a/', 'http://b/', '--depth'])
  })

  test.each([
    [['--no-such-flag'], /^--no-such-flag: unknown option/],
    [['--concurency=4'], /^--concurency: unknown option; did you mean --concurrency\?/],
    [['--max-page', '3'], /did you mean --max-pages\?/],
    [['-z'], /^-z: unknown option/],
    [['--depth', 'two'], /^--depth: expected a whole number from 0 to 1000000, found "two"/],
    [['--depth'], /^--depth: expected N after it, found nothing/],
    [['--depth', '--json'], /^--depth: expected N after it, found --json/],
    [['--scope', 'galaxy'], /^--scope: expected one of host, domain, prefix, any, found "galaxy"/],
    [['--max-body', '10zb'], /^--max-body: expected a size .*, found "10zb"/],
    [['--match', '(['], /^--match: .*found "\(\["/],
    [['--concurrency', '0'], /from 1 to 10000, found "0"/],
    [['--no-json=x'], /expected no value, found "x"/],
    [['--json=maybe'], /^--json: expected true or false, found "maybe"/],
    [['--body'], /^--body: no option of "spoor crawl"; it belongs to "spoor fetch"/],
    [['--cache', 'sometimes'], /^--cache: expected one of .*, found "sometimes"/],
    [['--depth', 'x'.repeat(5_000)], /^.{0,400}$/],
    [['--depth', '1\n2'], /^[^\n]*$/],
  ])('%j is refused with one line', async (argv, line) => {
    expect(await problemOf({ argv })).toMatch(line)
  })

  test('what this version does not do can still be asked for as it is', async () => {
    expect(await optionsOf({ argv: ['--cache', 'off', '--processes', '1'] })).toMatchObject({
      cache: 'off',
      processes: 1,
    })
  })

  test('help is answered whatever else is wrong with the values', async () => {
    expect(await optionsOf({ argv: ['--help', '--depth', 'two'], env: { SPOOR_NONSENSE: '1' } })).toMatchObject({
      help: true,
    })
  })
})

describe('environment', () => {
  test('it gives what no flag gives', async () => {
    const env = { SPOOR_MAX_PAGES: '3', SPOOR_DEPTH: '1', SPOOR_NO_ROBOTS: '1', OTHER: 'x' }
    expect(await optionsOf({ argv: ['--depth', '9'], env })).toMatchObject({ maxPages: 3, maxDepth: 9, robots: false })
  })

  test('several values of one option stand one a line, and flags replace them all', async () => {
    const env = { SPOOR_HEADER: 'A: 1\nB: 2\n' }
    expect((await optionsOf({ env })).headers).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ])
    expect((await optionsOf({ env, argv: ['--header', 'C: 3'] })).headers).toEqual([{ name: 'C', value: '3' }])
  })

  test('an empty variable counts as not set, and one of another command is passed over', async () => {
    expect(await optionsOf({ env: { SPOOR_DEPTH: '', SPOOR_BATCH: 'nonsense' } })).toEqual(defaultOptions())
  })

  test.each([
    [{ SPOOR_DEPTH: 'two' }, /^SPOOR_DEPTH: expected .*found "two"/],
    [
      { SPOOR_MAXPAGES: '3' },
      /^SPOOR_MAXPAGES: no option has this name in the environment; did you mean SPOOR_MAX_PAGES\?/,
    ],
    [{ SPOOR_NO_ROBOTS: 'maybe' }, /^SPOOR_NO_ROBOTS: expected true or false/],
  ])('%j is refused with one line', async (env, line) => {
    expect(await problemOf({ env: env as Record<string, string> })).toMatch(line)
  })

  test('a bad value is refused although a flag wins over it', async () => {
    expect(await problemOf({ argv: ['--depth', '1'], env: { SPOOR_DEPTH: 'two' } })).toMatch(/^SPOOR_DEPTH/)
  })
})

describe('config file', () => {
  test.each([
    ['spoor.config.ts', 'const n: number = 4\nexport default { depth: n, match: [/x/g] }'],
    ['spoor.config.mjs', 'export default { depth: 4, match: "x" }'],
    ['spoor.config.js', 'module.exports = { depth: "4", match: ["x"] }'],
    ['spoor.config.json', '\uFEFF{"depth": 4, "match": ["x"]}'],
  ])('%s is found and read', async (name, text) => {
    await write(name, text)
    const options = await optionsOf({})
    expect(options.maxDepth).toBe(4)
    expect(options.match.map((one) => one.source)).toEqual(['x'])
    expect(options.match[0]?.test('x') === true && options.match[0].test('x')).toBe(true)
  })

  test('environment and flags win over it', async () => {
    await write('spoor.config.json', '{"depth": 1, "maxPages": 1, "delay": 0.25, "robots": false}')
    const { options, givenBy } = await resolve({ argv: ['--depth', '3'], env: { SPOOR_MAX_PAGES: '2' } })
    expect(options).toMatchObject({ maxDepth: 3, maxPages: 2, delayMs: 250, robots: false })
    expect(givenBy.get('maxDepth')).toBe('--depth')
    expect(givenBy.get('delayMs')).toBe('delay in spoor.config.json')
  })

  test('--config names another one, and options of other commands are passed over', async () => {
    await write('spoor.config.json', '{"nonsense": 1}')
    await write('mine.json', '{"depth": 2, "batch": true}')
    expect(await optionsOf({ argv: ['--config', 'mine.json'] })).toMatchObject({ maxDepth: 2, batch: false })
    expect(await optionsOf({ env: { SPOOR_CONFIG: 'mine.json' } })).toMatchObject({ maxDepth: 2 })
  })

  test.each([
    ['{"maxPage": 3}', /^maxPage in spoor.config.json: unknown option; did you mean maxPages\?/],
    ['{"depth": "two"}', /^depth in spoor.config.json: expected .*found "two"/],
    ['{"depth": [1]}', /expected one value, found a list/],
    ['{"depth": {}}', /expected text or a number, found a value of type object/],
    ['{"depth": true}', /expected text or a number, found true/],
    ['{"depth": 1e300}', /^depth in spoor.config.json: expected/],
    ['[1]', /expected an object of options/],
    ['null', /expected an object of options/],
    ['{', /^spoor.config.json: cannot be read/],
  ])('%s is refused with one line', async (text, line) => {
    await write('spoor.config.json', text)
    expect(await problemOf({})).toMatch(line)
  })

  test('a file that is not there, throws or is of another kind is refused', async () => {
    expect(await problemOf({ argv: ['--config', 'none.json'] })).toMatch(/expected a file, found nothing at none.json/)
    await write('x.yaml', 'depth: 1')
    expect(await problemOf({ argv: ['--config', 'x.yaml'] })).toMatch(/expected a .ts, .mjs, .js or .json file/)
    await write('spoor.config.mjs', 'throw new Error("boom\\nmore")')
    expect(await problemOf({})).toBe('spoor.config.mjs: cannot be read: boom')
  })
})

describe('the table', () => {
  test('no two options share a flag, a key of the config file or a name in the environment', () => {
    for (const nameOf of [configKeyOf, envNameOf]) {
      const names = OPTION_ENTRIES.map(([, row]) => nameOf(row))
      expect(new Set(names).size).toBe(names.length)
    }
  })

  test('every option has a sentence, belongs to a command, and its default passes its own check', () => {
    for (const [key, row] of OPTION_ENTRIES) {
      expect(row.doc, key).toMatch(/^[A-Z].*[.]$/)
      expect(row.on.every((name) => COMMAND_NAMES.includes(name)) && row.on.length > 0, key).toBe(true)
      if (row.defaultText !== undefined && row.default !== undefined && row.takes === 'one')
        expect(row.parse(row.defaultText), key).toEqual({ ok: true, value: row.default })
    }
  })
})
