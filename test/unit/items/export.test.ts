import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, asyncProperty, constant, constantFrom, integer, oneof, option, record } from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import type { ItemExport } from '../../../src/items/export.ts'
import { exportAll, openExport } from '../../../src/items/export.ts'
import { forgetExports } from '../../../src/items/export-record.ts'
import { type MemoryItems, createMemoryItems, createMemoryState } from './memory-items.ts'
import { openDatabase, readCsv, readJsonl, readParquet, readSqlite } from './read-export.ts'

const READERS = { jsonl: readJsonl, csv: readCsv, sqlite: readSqlite, parquet: readParquet } as const
type Format = keyof typeof READERS
const FORMATS = Object.keys(READERS) as Format[]

const opened: ItemExport[] = []
let folder: string
let items: MemoryItems
let state: ReturnType<typeof createMemoryState>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-export-'))
  items = createMemoryItems()
  state = createMemoryState()
})
afterEach(async () => {
  // what the tests treat as killed still has its file open
  for (const exported of opened.splice(0)) await exported.close().catch(() => undefined)
  await rm(folder, { recursive: true, force: true })
})

const page = (n: number): JsonObject => ({
  url: `http://site.test/${String(n)}`,
  status: 200,
  depth: n,
  title: `page ${String(n)}`,
})
const pages = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, index) => page(from + index))

async function open(name: string, more: { log?: Logger; clock?: Clock } = {}): Promise<ItemExport> {
  const file = join(folder, name)
  const exported = await openExport({ file, task: 'default', items, state, openDatabase, ...more })
  opened.push(exported)
  return exported
}

async function expectFile(name: string): Promise<void> {
  const format = name.split('.').at(-1) as Format
  expect(await READERS[format](join(folder, name))).toEqual(items.all())
}

/** The process is gone: nothing is closed or stored, and the system takes its lock away. */
async function crash(name: string): Promise<void> {
  await rm(join(folder, `${name}.lock`))
}

describe.each(FORMATS)('an export to %s', (format) => {
  const name = `out.${format}`

  it('holds all items once when it is finished', async () => {
    const exported = await open(name)
    items.push(...pages(0, 10))
    await exported.pump()
    items.push(...pages(10, 2500))
    await Promise.all([exported.pump(), exported.pump()])
    items.push(...pages(2500, 2503))
    await exported.finish()
    await exported.close()
    expect(exported.count).toBe(2503)
    await expectFile(name)
    expect(await readdir(folder)).toEqual([name])
  })

  it('goes on after a crash at any instant, at whatever position was remembered', async () => {
    items.push(...pages(0, 5))
    const first = await open(name)
    items.push(...pages(5, 9))
    await first.pump()
    await crash(name)
    items.push(...pages(9, 12))
    const second = await open(name)
    await crash(name)
    items.push(...pages(12, 20))
    await second.pump()
    const third = await open(name)
    await third.finish()
    await third.close()
    await expectFile(name)
  })

  it('leaves a finished file alone', async () => {
    items.push(...pages(0, 5))
    for (const exported of [await open(name)]) {
      await exported.finish()
      await exported.close()
    }
    const before = await stat(join(folder, name))
    const again = await open(name)
    await again.finish()
    await again.close()
    const after = await stat(join(folder, name))
    expect(after.ino).toBe(before.ino)
    await expectFile(name)
  })

  it('writes the file anew when an item that had been written has changed', async () => {
    items.push(...pages(0, 5))
    const exported = await open(name)
    await exported.pump()
    items.change(2, { ...page(1), depth: 77 })
    await exported.finish()
    await exported.close()
    await expectFile(name)
  })

  it('writes the file anew when it is gone, and when another stands there', async () => {
    items.push(...pages(0, 50))
    for (const damage of [
      rm,
      (file: string) => writeFile(file, 'something else entirely, and long enough '.repeat(100)),
    ]) {
      const exported = await open(name)
      await exported.finish()
      await exported.close()
      await damage(join(folder, name))
    }
    const last = await open(name)
    await last.finish()
    await last.close()
    await expectFile(name)
  })

  it('writes the file anew for a crawl that was begun afresh, even when nobody said so', async () => {
    items.push(...pages(0, 5))
    const first = await open(name)
    await first.finish()
    await first.close()
    items.clear()
    items.push(...pages(100, 110))
    const second = await open(name)
    await second.finish()
    await second.close()
    await expectFile(name)
  })

  it('is written as a whole by exportAll, and replaces what was there', async () => {
    items.push(...pages(0, 1234))
    await writeFile(join(folder, name), 'old')
    const file = join(folder, name)
    expect(await exportAll({ file, task: 'default', items, openDatabase })).toBe(1234)
    await expectFile(name)
    expect(await readdir(folder)).toEqual([name])
  })

  it('takes a path in a folder that is not there yet', async () => {
    items.push(page(1))
    const exported = await open(`a/b/${name}`)
    await exported.finish()
    await exported.close()
    await expectFile(`a/b/${name}`)
  })
})

describe('an export', () => {
  it('is one of a random run of pushes, pumps, crashes, changes and finishes, and holds everything at the end', async () => {
    const step = oneof(
      record({
        kind: constant('push' as const),
        count: integer({ min: 1, max: 300 }),
        extra: option(constantFrom('a', 'b', 'c')),
      }),
      constantFrom(
        { kind: 'pump' as const },
        { kind: 'crash' as const },
        { kind: 'close' as const },
        { kind: 'finish' as const },
        { kind: 'change' as const },
      ),
    )
    await assert(
      asyncProperty(constantFrom(...FORMATS), array(step, { maxLength: 12 }), async (format, steps) => {
        await rm(folder, { recursive: true, force: true })
        await mkdir(folder)
        items = createMemoryItems()
        state = createMemoryState()
        const name = `out.${format}`
        let exported = await open(name)
        let next = 0
        for (const action of steps) {
          if (action.kind === 'push') {
            const extra = action.extra === null ? {} : { [action.extra]: 'more' }
            items.push(...pages(next, next + action.count).map((item) => ({ ...item, ...extra })))
            next += action.count
          } else if (action.kind === 'pump') await exported.pump()
          else if (action.kind === 'finish') await exported.finish()
          else if (action.kind === 'change' && next > 0) items.change(1, { ...page(0), depth: 5 })
          else if (action.kind === 'crash') {
            await crash(name)
            exported = await open(name)
          } else if (action.kind === 'close') {
            await exported.close()
            exported = await open(name)
          }
        }
        await exported.finish()
        await exported.close()
        await expectFile(name)
      }),
      { numRuns: 40 },
    )
  })

  it('widens a CSV header for columns that come late, in the order of a page and then as met', async () => {
    items.push({ url: 'http://site.test/', note: 'x' })
    const exported = await open('out.csv')
    items.push({ note: 'y', title: 'late', fields: { price: 3, list: [1, 'a'] } })
    await exported.finish()
    await exported.close()
    const text = await readFile(join(folder, 'out.csv'), 'utf8')
    expect(text).toBe('url,title,note,fields.price,fields.list\nhttp://site.test/,,x,,\n,late,y,3,"[1,""a""]"\n')
  })

  it('gives a CSV file of no items the header of a page', async () => {
    const exported = await open('out.csv')
    await exported.finish()
    await exported.close()
    const text = await readFile(join(folder, 'out.csv'), 'utf8')
    expect(text).toBe('url,finalUrl,status,depth,title,contentType,bytes,links,fetchedAt,fromCache\n')
  })

  it('keeps what has no column of its own when items have thousands of keys', async () => {
    const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`key${String(index)}`, index]))
    items.push(page(0), wide, { ...page(2), Title: 'other', seq: 5 })
    for (const name of ['out.csv', 'out.sqlite']) {
      const exported = await open(name)
      await exported.finish()
      await exported.close()
    }
    const [, csvRow] = await readCsv(join(folder, 'out.csv'))
    const [, sqliteRow, last] = await readSqlite(join(folder, 'out.sqlite'))
    for (const row of [csvRow, sqliteRow]) {
      const { _more: more, ...own } = row ?? {}
      const values = Object.values({ ...own, ...(JSON.parse(String(more)) as JsonObject) })
      expect(values.map(Number).toSorted((a, b) => a - b)).toEqual(Object.values(wide))
    }
    expect(JSON.stringify(last)).toContain('other')
  })

  it('notes that it replaces a file of somebody else, and says nothing of its own', async () => {
    const notes: string[] = []
    const log: Logger = { ...silentLogger, warn: (_fields, message) => notes.push(message) }
    await writeFile(join(folder, 'out.jsonl'), 'precious\n')
    for (let run = 0; run < 2; run += 1) {
      const exported = await open('out.jsonl', { log })
      await exported.finish()
      await exported.close()
    }
    expect(notes).toEqual(['the file was there already and is replaced by the items of this crawl'])
    await expectFile('out.jsonl')
  })

  it('refuses a database that it did not write, whatever the format', async () => {
    const database = await openDatabase(join(folder, 'mine.sqlite'))
    database.exec('CREATE TABLE mine (x)')
    database.close()
    const before = await readFile(join(folder, 'mine.sqlite'))
    await expect(open('mine.sqlite')).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    await expect(
      exportAll({ file: join(folder, 'mine.sqlite'), format: 'jsonl', task: 'default', items }),
    ).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    expect(await readFile(join(folder, 'mine.sqlite'))).toEqual(before)
  })

  it('follows a link and leaves it in place', async () => {
    await writeFile(join(folder, 'target.jsonl'), '')
    await symlink('target.jsonl', join(folder, 'link.jsonl'))
    items.push(...pages(0, 3))
    const exported = await open('link.jsonl')
    items.change(1, page(9))
    await exported.finish()
    await exported.close()
    await expectFile('target.jsonl')
    expect((await readdir(folder)).toSorted()).toEqual(['link.jsonl', 'target.jsonl'])
  })

  it('names a folder, a file in place of a folder and an unknown ending in its error', async () => {
    await mkdir(join(folder, 'sub.jsonl'))
    await writeFile(join(folder, 'plain'), '')
    await expect(open('sub.jsonl')).rejects.toMatchObject({
      code: 'EXPORT_FAILED',
      message: expect.stringContaining('folder'),
    })
    await expect(open('plain/out.jsonl')).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    await expect(open('out.xlsx')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('.parquet'),
    })
    await expect(open('out')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('--format'),
    })
    const options = { task: 'default', items, state }
    await expect(openExport({ ...options, file: '-', format: 'sqlite' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
    await expect(openExport({ ...options, file: 'x.jsonl', format: 'xml' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
  })

  it('says that no space is left, and loses nothing', async () => {
    items.push(...pages(0, 10))
    const options = { task: 'default', items, state }
    await expect(openExport({ ...options, file: '/dev/full', format: 'jsonl' })).rejects.toMatchObject({
      code: 'EXPORT_FAILED',
      message: expect.stringContaining('no space is left'),
    })
  })

  it('goes on after an error that has passed', async () => {
    items.push(...pages(0, 10))
    const exported = await open('out.jsonl')
    const { read } = items
    items.read = () => Promise.reject(new Error('the store is away'))
    await expect(exported.pump()).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    items.read = read
    items.push(...pages(10, 20))
    await exported.finish()
    await exported.close()
    await expectFile('out.jsonl')
  })

  it('is forgotten with its task, and not with another', async () => {
    const exported = await open('out.jsonl')
    await exported.close()
    await forgetExports(state, 'def')
    expect(state.entries.size).toBe(1)
    await forgetExports(state, 'default')
    expect(state.entries.size).toBe(0)
  })
})

describe('two exports of one file', () => {
  it('take turns: the second takes over when the first has ended', async () => {
    const notes: string[] = []
    const log: Logger = { ...silentLogger, warn: (_fields, message) => notes.push(message) }
    const first = await open('out.jsonl')
    const second = await open('out.jsonl', { log })
    items.push(...pages(0, 5))
    await first.pump()
    await second.pump()
    const finished = second.finish()
    await first.close()
    await finished
    items.push(...pages(5, 8))
    await second.finish()
    await second.close()
    await expectFile('out.jsonl')
    expect(notes).toEqual(['another process exports to this file'])
  })

  it('do not wait for ever', async () => {
    let now = 0
    const clock: Clock = { ...systemClock, monotonicMs: () => now, sleep: async (ms) => void (now += ms) }
    const first = await open('out.jsonl')
    const second = await open('out.jsonl', { clock })
    await second.finish()
    expect(now).toBeGreaterThan(5000)
    await second.close()
    await first.close()
    expect(await readdir(folder)).toEqual(['out.jsonl'])
  })

  it('take over the lock of a process that is gone', async () => {
    await writeFile(
      join(folder, 'out.jsonl.lock'),
      JSON.stringify({ pid: 2 ** 22 + 1, host: (await import('node:os')).hostname(), started: '1' }),
    )
    items.push(page(1))
    const exported = await open('out.jsonl')
    await exported.finish()
    await exported.close()
    await expectFile('out.jsonl')
  })

  it('refuse exportAll while one is under way', async () => {
    const exported = await open('out.jsonl')
    await expect(exportAll({ file: join(folder, 'out.jsonl'), task: 'default', items })).rejects.toMatchObject({
      code: 'EXPORT_FAILED',
    })
    await exported.close()
  })
})

const runToStdout = async (format: string | undefined): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  const writeOutput = async (chunk: Uint8Array): Promise<void> => void chunks.push(chunk)
  const exported = await openExport({ file: '-', format, task: 'default', items, state, writeOutput })
  items.push(...pages(0, 3))
  await exported.pump()
  items.push({ ...page(3), extra: 'late' })
  await exported.finish()
  await exported.close()
  return Buffer.concat(chunks)
}

describe('an export to stdout', () => {
  it('writes JSON Lines as they come, and all of them again in the next run', async () => {
    const lines = (await runToStdout(undefined)).toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as JsonObject)).toEqual(items.all())
    expect((await runToStdout('jsonl')).toString().split('\n')).toHaveLength(9)
    expect(state.entries.size).toBe(0)
  })

  it('writes other kinds at the end, with every column', async () => {
    const text = (await runToStdout('csv')).toString()
    expect(text.split('\n').slice(0, 2)).toEqual(['url,status,depth,title,extra', 'http://site.test/0,200,0,page 0,'])
    await writeFile(join(folder, 'out.parquet'), await runToStdout('parquet'))
    await expectFile('out.parquet')
  })

  it('says that the reader has gone away', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    items.push(page(1))
    const options = { file: '-', task: 'default', items, state, writeOutput: () => Promise.reject(gone) }
    await expect(openExport(options)).rejects.toMatchObject({ message: expect.stringContaining('reader has gone') })
  })
})
