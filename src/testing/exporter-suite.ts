/** What every exporter must do, as tests that anybody can run on one of their own. */

import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { appendFile, mkdtemp, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../core/json.ts'
import type { Exporter, ExportFormat, OpenExporterOptions, StoredItem } from '../items/contract.ts'

export interface ExporterSuiteRunner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

export interface ExporterSuiteOptions {
  readonly runner: ExporterSuiteRunner
  readonly format: ExportFormat
  /** The items in a finished file, in order, keys that are null or missing left out. */
  readonly read: (file: string) => Promise<readonly JsonObject[]>
  /** The file may be damaged by appending to it or cutting it, as a crash of the machine would. Default true. */
  readonly isRowOfBytes?: boolean
}

const ITEMS: readonly JsonObject[] = [
  { url: 'http://site.test/', status: 200, depth: 0, title: 'plain', fromCache: false },
  { url: 'http://site.test/a?x=1,2;3', status: 200, depth: 1, title: 'a, "b"\nand\r\n\tc  ', fromCache: true },
  { url: 'http://site.test/b', status: 404, depth: 2, title: 'Grüße 北京 \u{1f600} \u2028', fromCache: false },
  { url: 'http://site.test/c', status: 200, depth: 3, title: "'=1+1", fromCache: false },
]

export function exporterSuite({ runner, format, read, isRowOfBytes = true }: ExporterSuiteOptions): void {
  const { describe, it } = runner
  const kit = createKit(format, read)
  describe(`Exporter contract: ${format.name}`, () => {
    it('1. keeps the order and the values of items, in any batches', () =>
      kit.inFolder(async (file) => {
        const exporter = await kit.open({ file })
        await exporter.write(kit.items.slice(0, 1))
        await exporter.write([])
        await exporter.write(kit.items.slice(1))
        await kit.end(exporter)
        await kit.expect(file, ITEMS)
      }))
    it('1. writes a sound file of no items', () =>
      kit.inFolder(async (file) => {
        await kit.end(await kit.open({ file }))
        await kit.expect(file, [])
      }))
    it('1. begins a file anew, whatever stands there', () =>
      kit.inFolder(async (file) => {
        await kit.end(await kit.open({ file }), kit.items)
        await kit.end(await kit.open({ file }), kit.items.slice(0, 1))
        await kit.expect(file, ITEMS.slice(0, 1))
      }))
    it('closes twice without harm', () =>
      kit.inFolder(async (file) => {
        const exporter = await kit.open({ file })
        await exporter.close()
        await exporter.close()
      }))
    it('4. holds everything when begun like an exporter that is outdated', () => columnsTest(kit))
    if (format.live) liveTests(runner, kit, isRowOfBytes)
  })
}

function liveTests({ it }: ExporterSuiteRunner, kit: Kit, isRowOfBytes: boolean): void {
  it('2. goes on at a position', () =>
    kit.inFolder(async (file) => {
      const position = await kit.begin(file, kit.items.slice(0, 2))
      await kit.end(await kit.open({ file, position }), kit.items.slice(2))
      await kit.expect(file, ITEMS)
    }))
  it('2. cuts off what came after a position: a crash after the bytes and before the record of them', () =>
    kit.inFolder(async (file) => {
      const exporter = await kit.open({ file })
      await exporter.write(kit.items.slice(0, 1))
      const older = exporter.position()
      await exporter.write(kit.items.slice(1, 3))
      await exporter.sync()
      await exporter.close()
      await kit.end(await kit.open({ file, position: older }), kit.items.slice(1))
      await kit.expect(file, ITEMS)
    }))
  it('2. goes on at the same position again and again', () =>
    kit.inFolder(async (file) => {
      const position = await kit.begin(file, kit.items.slice(0, 1))
      for (let crash = 0; crash < 3; crash += 1) {
        const exporter = await kit.open({ file, position })
        await exporter.write(kit.items.slice(1, 2 + crash))
        await exporter.close()
      }
      await kit.end(await kit.open({ file, position }), kit.items.slice(1))
      await kit.expect(file, ITEMS)
    }))
  it('2. answers nothing for a file that is gone, and for a position of another kind', () =>
    kit.inFolder(async (file) => {
      const position = await kit.begin(file, kit.items)
      strictEqual(await kit.format.open({ file, position: 'no position' }), undefined)
      await (kit.format.remove?.(file) ?? rm(file))
      strictEqual(await kit.format.open({ file, position }), undefined)
    }))
  if (isRowOfBytes) byteTests(it, kit)
}

function byteTests(it: ExporterSuiteRunner['it'], kit: Kit): void {
  it('2. cuts off a torn end', () =>
    kit.inFolder(async (file) => {
      const position = await kit.begin(file, kit.items.slice(0, 2))
      await appendFile(file, '{"url":"http://site.te')
      await kit.end(await kit.open({ file, position }), kit.items.slice(2))
      await kit.expect(file, ITEMS)
    }))
  it('2. answers nothing for a file that is shorter than it was, or another', () =>
    kit.inFolder(async (file) => {
      const position = await kit.begin(file, kit.items)
      const { size } = await stat(file)
      await truncate(file, size - 1)
      strictEqual(await kit.format.open({ file, position }), undefined)
      await appendFile(file, '#')
      strictEqual(await kit.format.open({ file, position }), undefined)
    }))
}

async function columnsTest(kit: Kit): Promise<void> {
  const late: readonly JsonObject[] = [...ITEMS, { url: 'http://site.test/d', price: 'new', fields: { name: 'late' } }]
  await kit.inFolder(async (file) => {
    const first = await kit.open({ file })
    await first.write(kit.items)
    await first.write(stored(late).slice(ITEMS.length))
    const isOutdated = first.outdated()
    const like = first.position()
    await kit.end(first)
    if (isOutdated) {
      const second = await kit.open({ file, like })
      await kit.end(second, stored(late))
      ok(!second.outdated())
    }
    await kit.expect(file, late)
  })
}

interface Kit {
  readonly format: ExportFormat
  readonly items: readonly StoredItem[]
  readonly open: (options: OpenExporterOptions) => Promise<Exporter>
  /** Writes and goes away without an end, as a killed process does; answers where it stood. */
  readonly begin: (file: string, items: readonly StoredItem[]) => Promise<string>
  readonly end: (exporter: Exporter, items?: readonly StoredItem[]) => Promise<void>
  readonly expect: (file: string, items: readonly JsonObject[]) => Promise<void>
  readonly inFolder: (body: (file: string) => Promise<void>) => Promise<void>
}

function createKit(format: ExportFormat, read: ExporterSuiteOptions['read']): Kit {
  const open = async (options: OpenExporterOptions): Promise<Exporter> => {
    const exporter = await format.open(options)
    if (exporter === undefined) throw new Error('the exporter does not open at this position')
    return exporter
  }
  return {
    format,
    items: stored(ITEMS),
    open,
    begin: async (file, items) => {
      const exporter = await open({ file })
      await exporter.write(items)
      const position = exporter.position()
      await exporter.close()
      return position
    },
    end: async (exporter, items = []) => {
      await exporter.write(items)
      await exporter.finish()
      await exporter.close()
    },
    expect: async (file, items) => {
      deepStrictEqual(await read(file), items)
    },
    inFolder,
  }
}

async function inFolder(body: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'spoor-exporter-'))
  try {
    await body(join(folder, 'items'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function stored(items: readonly JsonObject[]): StoredItem[] {
  return items.map((item, index) => ({ seq: index + 1, json: JSON.stringify(item) }))
}
