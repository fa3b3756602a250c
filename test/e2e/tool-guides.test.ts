/** Every code block of the guides about politeness, going on, machines, extending, testing and moving here runs as it stands. */

import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createJiti } from 'jiti'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as spoor from '../../src/index.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import * as testing from '../../src/testing/index.ts'
import { seededRandom } from '../../src/util/random.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import { runCommand } from '../unit/cli/run-command.ts'

const html = (body: string) => ({ body, headers: { 'content-type': 'text/html' } })
const POSTGRES = process.env['SPOOR_TEST_POSTGRES_URL']
const home = process.cwd()
let site: testing.TestSite
beforeAll(async () => {
  site = await testing.openTestSite({
    '/robots.txt': { body: 'User-agent: *\nDisallow: /private/' },
    '/sitemap.xml': {
      body: '<urlset><url><loc>https://example.com/</loc><lastmod>2020-01-01</lastmod></url></urlset>',
    },
    '/': { title: 'Shelf', links: ['/list/2', '/book/1'] },
    '/list/2': { title: 'More', links: ['/book/2'] },
    '/book/1': html('<title>One</title><p class=price>12 €'),
    '/book/2': html('<title>Two</title><p class=price>13 €'),
  })
})
afterAll(async () => {
  process.chdir(home)
  await site.close()
})

type Collected = (readonly [name: string, body: () => unknown])[]

/** What a program declares for a runner of tests is run here, one after the other. */
function nodeTest(collected: Collected): object {
  const declare = (name: string, body: () => unknown): void => {
    collected.push([name, body])
  }
  return { describe: (_name: string, body: () => void) => body(), it: declare, test: declare }
}

async function runProgram(file: string): Promise<number> {
  const collected: Collected = []
  const modules = {
    spoor,
    'spoor/testing': testing,
    'test-runner': nodeTest(collected),
    './my-store.ts': {
      openMyStore: async ({ clock }: { clock: testing.FakeClock }) =>
        openMemoryStore({ clock, random: seededRandom(1) }),
    },
  }
  const jiti = createJiti(import.meta.url, { fsCache: false, moduleCache: false, virtualModules: modules })
  await jiti.import(file)
  for (const [, body] of collected) await body()
  return collected.length
}

/** Words of a line for a shell, without its comment. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/\s#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

async function runLine(line: string, cwd: string): Promise<void> {
  const shared = line.includes('postgres://')
  if (shared && POSTGRES === undefined) {
    console.warn(`SKIPPED ${line}: no PostgreSQL`)
    return
  }
  const [command, ...argv] = wordsOf(
    shared
      ? line.replace(
          'postgres://spoor@db/spoor',
          `${POSTGRES ?? ''}${POSTGRES?.includes('?') === true ? '&' : '?'}prefix=guide_`,
        )
      : line,
  )
  expect(command).toBe('spoor')
  // other processes are started by the built command alone
  const end = argv.includes('--processes') ? await runSpoor(argv, { cwd }) : await runCommand(argv, { cwd })
  expect(end.code, `${line}\n${end.stderr}`).toBe(0)
}

interface Block {
  /** Where it is written; undefined: these are lines for a shell. */
  readonly file: string | undefined
  readonly code: string
}

function blocksOf(text: string, names: readonly string[]): readonly Block[] {
  const left = [...names]
  return [...text.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, code = '']) => {
    if (language === 'sh') return { file: undefined, code }
    return { file: code.includes('export default') ? 'task.ts' : (left.shift() ?? 'program.ts'), code }
  })
}

/** Answers how many tests it had. */
async function runBlock({ file, code }: Block, folder: string): Promise<number> {
  if (file === undefined) {
    for (const line of code.trimEnd().split('\n')) await runLine(line, folder)
    return 0
  }
  // builtin modules cannot be replaced
  await writeFile(join(folder, file), code.replace("'node:test'", "'test-runner'"))
  if (file !== 'task.ts') return runProgram(join(folder, file))
  await runLine('spoor run task.ts --delay 0 --fresh', folder)
  return 0
}

interface Ran {
  readonly folder: string
  readonly said: readonly string[]
  readonly tests: number
}

/** Runs the blocks of a guide in their order, in a folder of its own; `names` are those that its programs call each other. */
async function runGuide(
  guide: string,
  names: readonly string[],
  check: (ran: Ran) => Promise<void> | void,
): Promise<void> {
  await using folder = await openTemporaryFolder()
  process.chdir(folder.path)
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  try {
    const text = readFileSync(join(home, 'docs/guides', `${guide}.md`), 'utf8')
    const local = text.replaceAll('https://example.com', site.origin).replaceAll(/(--delay |waitTime: ')1s/g, '$11ms')
    let tests = 0
    for (const block of blocksOf(local, names)) tests += await runBlock(block, folder.path)
    await check({ folder: folder.path, said: log.mock.calls.map((words) => words.join(' ')), tests })
  } finally {
    log.mockRestore()
    process.chdir(home)
  }
}

const GUIDES: readonly (readonly [
  guide: string,
  names: readonly string[],
  check: (ran: Ran) => Promise<void> | void,
])[] = [
  ['polite', [], () => undefined],
  ['recrawl', [], () => undefined],
  [
    'resume',
    [],
    async ({ folder, said }) => {
      expect(said).toEqual(['max-pages finished true'])
      expect((await readFile(join(folder, 'pages.jsonl'), 'utf8')).trimEnd().split('\n')).toHaveLength(4)
    },
  ],
  ['machines', [], ({ said }) => expect(said).toEqual(['4 pages, by this machine and all others'])],
  ['stores', [], ({ tests }) => expect(tests).toBeGreaterThan(50)],
  [
    'exporters',
    ['json-sequence.ts', 'suite.ts'],
    async ({ folder, tests }) => {
      expect(tests).toBeGreaterThan(8)
      expect((await readFile(join(folder, 'pages.json-seq'), 'utf8')).split('\u001e')).toHaveLength(5)
    },
  ],
  [
    'testing',
    [],
    ({ said, tests }) => {
      expect([said, tests]).toEqual([['true', '2 1 1'], 1])
    },
  ],
  [
    'crawlee',
    [],
    async ({ folder }) => {
      const { stdout } = await runCommand(['export', '-o', '-', '--format', 'jsonl'], { cwd: folder })
      expect(stdout).toContain('"title":"One"')
    },
  ],
  [
    'scrapy',
    [],
    async ({ folder }) => {
      expect(await readFile(join(folder, 'books.csv'), 'utf8')).toMatch(/One,12\r?\n/)
    },
  ],
]

it.each(GUIDES)('docs/guides/%s.md', runGuide, 90_000)
