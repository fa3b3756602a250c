import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { exportAll, openExport } from '../../../src/items/export.ts'
import { formatNamed } from '../../../src/items/formats.ts'
import { partName, type RotateLimit } from '../../../src/items/rotate.ts'
import { createMemoryItems, createMemoryState } from './memory-items.ts'
import { openDatabase, readCsv, readJsonl, readParquet, readSqlite } from './read-export.ts'

const READERS = { jsonl: readJsonl, csv: readCsv, sqlite: readSqlite, parquet: readParquet } as const
type Format = keyof typeof READERS
const FORMATS = Object.keys(READERS) as Format[]

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-rotate-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function partNames(): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => !/-(?:wal|shm|journal)$/.test(name)).toSorted()
}

async function readParts(file: string, format: Format): Promise<JsonObject[][]> {
  const parts: JsonObject[][] = []
  for (let part = 1; ; part++) {
    if (!existsSync(partName(file, part))) return parts
    parts.push([...(await READERS[format](partName(file, part)))])
  }
}

const page = (n: number): JsonObject => ({ url: `http://site.test/${n}`, status: 200, depth: 0, title: `page ${n}` })

describe('an export in parts', () => {
  it.each(FORMATS)('has so many items in each, in %s', async (format) => {
    const items = createMemoryItems()
    items.push(...Array.from({ length: 7 }, (_, index) => page(index)))
    const file = join(folder, `items.${format}`)
    const rotate = { items: 3 }
    expect(await exportAll({ file, task: 'default', items, openDatabase, rotate })).toBe(7)
    const parts = await readParts(file, format)
    expect(parts.map((part) => part.length)).toEqual([3, 3, 1])
    expect(parts.flat()).toEqual(items.all())
    expect(await partNames()).toEqual(['1', '2', '3'].map((n) => `items-0000${n}.${format}`))
  })

  it('has so many bytes in each, and an item that is larger alone in one', async () => {
    const items = createMemoryItems()
    items.push(page(1), page(2), { ...page(3), title: 'x'.repeat(500) }, page(4))
    const file = join(folder, 'items.jsonl')
    await exportAll({ file, task: 'default', items, rotate: { bytes: 200 } })
    const parts = await readParts(file, 'jsonl')
    expect(parts.map((part) => part.length)).toEqual([2, 1, 1])
    expect((await readFile(partName(file, 1))).length).toBeLessThanOrEqual(200)
  })

  it('begins a new part for a column that came late, in CSV', async () => {
    const items = createMemoryItems()
    const state = createMemoryState()
    const file = join(folder, 'items.csv')
    const exported = await openExport({ file, task: 'default', items, state, rotate: { items: 10 } })
    for (let n = 0; n < 8; n++) {
      items.push(n < 3 ? page(n) : { ...page(n), fields: { price: String(n) } })
      await exported.pump()
    }
    await exported.finish()
    await exported.close()
    const parts = await readParts(file, 'csv')
    expect(parts.map((part) => part.length)).toEqual([3, 5])
    expect(parts.flat()).toHaveLength(8)
    expect(await readFile(partName(file, 2), 'utf8')).toMatch(/^url,.*,fields\.price\n/)
  })

  it('replaces the parts of an export that was there before, and leaves other files alone', async () => {
    const items = createMemoryItems()
    items.push(page(1))
    const file = join(folder, 'items.jsonl')
    for (const name of ['items-00001.jsonl', 'items-00007.jsonl', 'items-1.jsonl', 'items-x.jsonl', 'items.jsonl'])
      await writeFile(join(folder, name), 'old\n')
    const exported = await openExport({
      file,
      task: 'default',
      items,
      state: createMemoryState(),
      rotate: { items: 5 },
    })
    await exported.finish()
    await exported.close()
    expect(await partNames()).toEqual(['items-00001.jsonl', 'items-1.jsonl', 'items-x.jsonl', 'items.jsonl'])
    expect(await readJsonl(partName(file, 1))).toEqual([page(1)])
  })

  it('is written by a format of the user’s own', async () => {
    const items = createMemoryItems()
    items.push(page(1), page(2))
    const file = join(folder, 'items.mine')
    const custom = { ...formatNamed('jsonl'), name: 'mine' }
    const options = { file, task: 'default', items, state: createMemoryState(), custom, rotate: { items: 1 } }
    const exported = await openExport(options)
    await exported.finish()
    await exported.close()
    expect(await partNames()).toEqual(['items-00001.mine', 'items-00002.mine'])
    expect(await readJsonl(partName(file, 2))).toEqual([page(2)])
  })

  it('comes out byte for byte the same however often its process is gone and in whatever batches items come', async () => {
    const step = fc.record({ added: fc.integer({ min: 0, max: 9 }), dies: fc.boolean() })
    const limits = fc.constantFrom<RotateLimit>({ items: 1 }, { items: 4 }, { bytes: 300 }, { items: 3, bytes: 250 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('jsonl', 'csv', 'sqlite' as const),
        limits,
        fc.array(step, { maxLength: 8 }),
        async (format, rotate, steps) => {
          const inside = await mkdtemp(join(folder, 'run-'))
          const items = createMemoryItems()
          const state = createMemoryState()
          const file = join(inside, `items.${format}`)
          const open = () => openExport({ file, task: 'default', items, state, openDatabase, rotate })
          let exported = await open()
          for (const { added, dies } of steps) {
            items.push(...Array.from({ length: added }, () => page(items.all().length)))
            await exported.pump()
            if (!dies) continue
            await exported.close()
            exported = await open()
          }
          await exported.finish()
          await exported.close()
          const whole = join(inside, `whole.${format}`)
          await exportAll({ file: whole, task: 'default', items, openDatabase, rotate })
          expect(await readParts(file, format as Format)).toEqual(await readParts(whole, format as Format))
          if (format === 'jsonl') expect(await readFile(partName(file, 1))).toEqual(await readFile(partName(whole, 1)))
        },
      ),
      { numRuns: 25 },
    )
  })
})
