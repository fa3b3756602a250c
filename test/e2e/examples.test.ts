/** Each of examples/ as a person runs it: the file as it stands, by the built command, over a local copy of its site. */

import { parse as parseCsv } from 'csv-parse/sync'
import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openTestSite, type TestSite } from '../../src/testing/site.ts'
import type { SiteHandler } from '../../src/testing/site-answer.ts'
import { childrenOf, openTemporaryFolder, runSpoor, startSpoor, untilRequests } from '../support/command.ts'
import type { CommandEnd, RunningCommand } from '../support/command.ts'
import { zipOf } from '../unit/sources/zip-of.ts'
import { countriesSite, forumSite, frontPages, placesSite, shopSite, treeExample } from './example-sites.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')

/** Each starts the command several times, on a machine that may be busy. */
vi.setConfig({ testTimeout: 120_000 })

type Item = Readonly<Record<string, unknown>>

interface Place extends AsyncDisposable {
  readonly site: TestSite
  /** Where the command is typed. */
  readonly cwd: string
  /** `spoor run FILE …`, with the names of the file's hosts leading to the local copy, and without its delay. */
  start(file: string, ...flags: readonly string[]): RunningCommand
  run(file: string, ...flags: readonly string[]): Promise<CommandEnd>
  items(name: string): Promise<Item[]>
}

async function openPlace(handler: SiteHandler): Promise<Place> {
  const site = await openTestSite(handler)
  const folder = await openTemporaryFolder()
  const local = ['--connect-to', `::127.0.0.1:${site.port}`, '--delay', '0', '--json']
  const start: Place['start'] = (file, ...flags) =>
    startSpoor(['run', join(EXAMPLES, file), ...local, ...flags], { cwd: folder.path })
  return {
    site,
    cwd: folder.path,
    start,
    run: (file, ...flags) => start(file, ...flags).ended,
    items: async (name) => itemsIn(await readFile(join(folder.path, name), 'utf8')),
    [Symbol.asyncDispose]: async () => {
      await site.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const itemsIn = (text: string): Item[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Item)

/** In one order, whatever the order of arrival was. */
const sorted = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).toSorted()

function expectDone(end: CommandEnd, summary: Item): void {
  expect(end, end.stderr).toMatchObject({ code: 0 })
  expect(end.stderr).not.toContain('Warning')
  expect(JSON.parse(end.stdout)).toMatchObject({ finishReason: 'finished', failed: 0, ...summary })
}

const pagesOf = (site: TestSite): string[] =>
  site.log.filter(({ path }) => path !== '/robots.txt').map(({ host, path }) => `//${host}${path}`)

const repeatsOf = (site: TestSite): number => pagesOf(site).length - new Set(pagesOf(site)).size

interface Gate {
  /** Requests after this one hang, so that no crawl comes to its end before it is killed, however slow the machine. */
  openUntil: number
}

function gateOf(handler: SiteHandler, openUntil: number): { readonly gate: Gate; readonly gated: SiteHandler } {
  const gate: Gate = { openUntil }
  return {
    gate,
    gated: (request) => (request.number > gate.openUntil ? { fault: { kind: 'hang' } } : handler(request)),
  }
}

async function killAtGate({ site }: Place, gate: Gate, command: RunningCommand): Promise<void> {
  await untilRequests(site, gate.openUntil, command)
  expect((await command.kill()).signal).toBe('SIGKILL')
  gate.openUntil = Infinity
}

describe('link-crawler', () => {
  it('fetches what fits the expression down to its depth, each page once', async () => {
    const { handler, truth } = placesSite()
    await using place = await openPlace(handler)
    expectDone(await place.run('link-crawler/crawl.ts', '-o', 'places.jsonl'), { pages: truth.length })
    const items = await place.items('places.jsonl')
    expect(sorted(items.map(({ url, depth }) => ({ url, depth })))).toEqual(sorted(truth))
    expect(pagesOf(place.site).toSorted()).toEqual(truth.map(({ url }) => String(url).slice('http:'.length)).toSorted())
  })
})

const rowsOf = async ({ cwd }: Place): Promise<unknown[]> =>
  parseCsv(await readFile(join(cwd, 'countries.csv')), { columns: true, bom: true })

/** A list is one cell, as JSON. */
const asCells = (row: Item): Item =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : String(value)]),
  )

describe('countries', () => {
  it('makes a CSV with a row for each country', async () => {
    const { handler, truth } = countriesSite()
    await using place = await openPlace(handler)
    expectDone(await place.run('countries/scrape.ts', '-o', 'countries.csv'), {})
    expect(sorted(await rowsOf(place))).toEqual(sorted(truth.map(asCells)))
    expect(repeatsOf(place.site)).toBe(0)
    expect(pagesOf(place.site)).not.toContain('//countries.example/user/login')
  })

  it('has each row once when it is killed half way', async () => {
    const { handler, truth } = countriesSite()
    const { gate, gated } = gateOf(handler, 6)
    await using place = await openPlace(gated)
    await killAtGate(place, gate, place.start('countries/scrape.ts', '-o', 'countries.csv'))
    expectDone(await place.run('countries/scrape.ts', '-o', 'countries.csv'), {})
    expect(sorted(await rowsOf(place))).toEqual(sorted(truth.map(asCells)))
  })
})

describe('top-sites', () => {
  it('fetches the first thousand of a zipped list, over several processes', async () => {
    // all but the first answers wait until the workers are counted
    let workers: Promise<readonly number[]> = Promise.resolve([])
    await using place = await openPlace(async (request) => {
      if (request.number > 100) await workers
      return frontPages(request)
    })
    const rows = Array.from({ length: 50_000 }, (_, index) => `${index + 1},site-${index + 1}.example`)
    await writeFile(join(place.cwd, 'top-1m.csv.zip'), zipOf({ 'top-1m.csv': `${rows.join('\r\n')}\r\n` }))
    const command = place.start('top-sites/crawl.ts', '-o', 'top.jsonl')
    workers = untilRequests(place.site, 100, command).then(() => childrenOf(command.pid))
    expect(await workers).toHaveLength(process.platform === 'linux' ? 2 : 0)
    expectDone(await command.ended, { pages: 1000 })
    const wanted = Array.from({ length: 1000 }, (_, index) => ({
      url: `http://site-${index + 1}.example/`,
      status: 200,
      title: `The front of site-${index + 1}.example`,
    }))
    expect(sorted(await place.items('top.jsonl'))).toEqual(sorted(wanted))
    expect(repeatsOf(place.site)).toBe(0)
  })
})

describe('same-result', () => {
  const WAYS = [
    ['threaded', ['--concurrency', '16', '--per-host', '16']],
    ['processes', ['--processes', '3', '--per-host', '16']],
  ] as const

  it('is the same with many requests in flight and with many processes', async () => {
    const { handler, truth } = treeExample(400)
    await using place = await openPlace(handler)
    for (const [dir, flags] of WAYS) {
      place.site.clearLog()
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const end = await place.run(
        'same-result/crawl.ts',
        '--dir',
        dir,
        '-o',
        `${dir}.jsonl`,
        '--cache',
        'off',
        ...flags,
      )
      expectDone(end, { pages: truth.length })
      expect(repeatsOf(place.site)).toBe(0)
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect(sorted(await place.items(`${dir}.jsonl`)), dir).toEqual(sorted(truth))
    }
  })

  it.each(WAYS)('comes to the same result when it is killed half way: %s', async (dir, flags) => {
    const { handler, truth } = treeExample(300, 2)
    const { gate, gated } = gateOf(handler, 150)
    await using place = await openPlace(gated)
    const args = ['--dir', dir, '-o', 'out.jsonl', ...flags]
    await killAtGate(place, gate, place.start('same-result/crawl.ts', ...args))
    expectDone(await place.run('same-result/crawl.ts', ...args), { pages: truth.length })
    expect(sorted(await place.items('out.jsonl'))).toEqual(sorted(truth))
    expect(repeatsOf(place.site)).toBeLessThanOrEqual(16)
  })
})

const FORUM = 'discussion-group/crawl.ts'
const topicsOf = async (place: Place): Promise<Item[]> => [
  ...(await place.items('topics-announcements.jsonl')),
  ...(await place.items('topics-help.jsonl')),
]
const isWell = ({ url }: Item): boolean => !String(url).endsWith('/topic/7')

describe('discussion-group', () => {
  it('reads both groups as a member, tries again what failed, and takes up the rest in the next run', async () => {
    const state = { isIll: true }
    const { handler, truth } = forumSite(state)
    await using place = await openPlace(handler)
    const first = await place.run(FORUM, '-o', 'topics.jsonl')
    expect(first.code, first.stderr).toBe(1)
    expect(JSON.parse(first.stdout)).toMatchObject({ failed: 2, tasks: [{ failed: 1 }, { failed: 1 }] })
    expect(sorted(await topicsOf(place))).toEqual(sorted(truth.filter(isWell)))
    for (const topic of ['/help/topic/0', '/help/topic/12']) expect(place.site.requestsFor(topic)).toHaveLength(2)
    const listed = await runSpoor(['failures', '--task', 'help', '--json'], { cwd: place.cwd })
    expect(itemsIn(listed.stdout)).toMatchObject([{ url: 'http://forum.example/help/topic/7', status: 410 }])

    state.isIll = false
    place.site.clearLog()
    expectDone(await place.run(FORUM, '-o', 'topics.jsonl'), {})
    expect(sorted(await topicsOf(place))).toEqual(sorted(truth))
    expect(pagesOf(place.site).toSorted()).toEqual([
      '//forum.example/announcements/topic/7',
      '//forum.example/help/topic/7',
    ])
  })

  it('goes on with both groups when it is killed half way', async () => {
    const { handler, truth } = forumSite({ isIll: false })
    const { gate, gated } = gateOf(handler, 25)
    await using place = await openPlace(gated)
    await killAtGate(place, gate, place.start(FORUM, '-o', 'topics.jsonl'))
    expectDone(await place.run(FORUM, '-o', 'topics.jsonl'), {})
    expect(sorted(await topicsOf(place))).toEqual(sorted(truth))
  })

  it('reads the topics of a list before the next list', async () => {
    const { handler } = forumSite({ isIll: false })
    await using place = await openPlace(handler)
    expectDone(await place.run(FORUM, '--concurrency', '1', '--task', 'help'), {})
    const lists = pagesOf(place.site).flatMap((page, index) => (page.includes('/topics') ? [index] : []))
    const gaps = lists.slice(1).map((at, index) => at - (lists[index] ?? 0))
    expect(lists).toHaveLength(4)
    for (const gap of gaps) expect(gap).toBeGreaterThan(3)
  })
})

describe('from-cache', () => {
  it('takes out more of the pages that are there, with the site gone', async () => {
    const { handler, truth } = shopSite()
    await using place = await openPlace(handler)
    expectDone(await place.run('from-cache/titles.ts', '-o', 'titles.jsonl'), { pages: 16 })
    expect(await place.items('titles.jsonl')).toContainEqual({ title: 'Thing 3 | Shop' })
    await place.site.goDown()
    place.site.clearLog()
    expectDone(await place.run('from-cache/prices.ts', '-o', 'prices.jsonl'), { pages: 16, fromCache: 16 })
    expect(sorted(await place.items('prices.jsonl'))).toEqual(sorted(truth))
    expect(place.site.log).toEqual([])
  })
})

describe('examples/', () => {
  it('has a README in each folder that names its lines, and is linked from the first page', async () => {
    const folders = (await readdir(EXAMPLES, { withFileTypes: true })).filter((entry) => entry.isDirectory())
    const front = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
    expect(readFileSync(join(EXAMPLES, '../README.md'), 'utf8')).toContain('(examples)')
    expect(folders.length).toBe(6)
    for (const { name } of folders) {
      expect(front).toContain(`(${name})`)
      const readme = readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8')
      const programs = [...readme.matchAll(/`(\w[\w-]*\.ts)`: (\d+) lines/g)]
      expect(programs.length, name).toBeGreaterThan(0)
      for (const [, file = '', lines] of programs) {
        const source = readFileSync(join(EXAMPLES, name, file), 'utf8')
        expect(
          source.split('\n').filter((line) => line.trim() !== ''),
          file,
        ).toHaveLength(Number(lines))
        const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, from]) => from)
        expect(imported, file).toEqual(['spoor'])
      }
    }
  })
})
