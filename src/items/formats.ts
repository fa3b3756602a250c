/** The kinds of files that items can be exported to, and how one is chosen by a file's ending. */

import { CrawlError } from '../core/errors.ts'
import { type ByteFormat, byteFormat } from './byte-exporter.ts'
import type { ExportFormat } from './contract.ts'
import { createCsvEncoder } from './csv.ts'
import type { ItemEncoder } from './encoder.ts'
import { createJsonlEncoder } from './jsonl.ts'
import { type OpenSqliteDatabase, sqliteFormat } from './sqlite.ts'

export const EXPORT_FORMAT_NAMES = ['jsonl', 'csv', 'sqlite', 'parquet'] as const
export type ExportFormatName = (typeof EXPORT_FORMAT_NAMES)[number]

/** In `-o -`: to stdout. */
export const STDOUT = '-'

const ENDINGS: Readonly<Record<string, ExportFormatName>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.sqlite': 'sqlite',
  '.sqlite3': 'sqlite',
  '.db': 'sqlite',
  '.parquet': 'parquet',
}

/**
 * Told by the ending; `format` overrules it. Stdout is JSON Lines by default.
 * Throws CONFIG_INVALID, naming the endings, for an ending or a format that is none of ours, and for SQLite to stdout.
 */
export function exportFormatOf(file: string, format?: string): ExportFormatName {
  const name = format ?? formatOfEnding(file)
  if (!isFormatName(name)) {
    throw invalid(`--format takes one of ${EXPORT_FORMAT_NAMES.join(', ')}; found ${JSON.stringify(name)}`)
  }
  if (file === STDOUT && name === 'sqlite') {
    throw invalid('a database cannot be written to stdout: name a file, or take jsonl, csv or parquet')
  }
  return name
}

function formatOfEnding(file: string): ExportFormatName {
  if (file === STDOUT) return 'jsonl'
  const ending = /\.[^./\\]*$/.exec(file)?.[0].toLowerCase() ?? ''
  const name = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined
  if (name !== undefined) return name
  const expected = Object.keys(ENDINGS).join(', ')
  throw invalid(
    `the output file must end in ${expected}, or be - for stdout, or --format must name its kind; found ${JSON.stringify(file)}`,
  )
}

function isFormatName(name: string): name is ExportFormatName {
  return (EXPORT_FORMAT_NAMES as readonly string[]).includes(name)
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}

async function createParquet(): Promise<ItemEncoder> {
  const { createParquetEncoder } = await import('./parquet.ts')
  return createParquetEncoder()
}

export const byteFormats: Readonly<Record<Exclude<ExportFormatName, 'sqlite'>, ByteFormat>> = {
  jsonl: byteFormat({ name: 'jsonl', live: true, createEncoder: createJsonlEncoder }),
  csv: byteFormat({ name: 'csv', live: true, createEncoder: createCsvEncoder }),
  parquet: byteFormat({ name: 'parquet', live: false, createEncoder: createParquet }),
}

/** `openDatabase` is only called when a database is exported to. */
export function formatNamed(name: ExportFormatName, openDatabase?: OpenSqliteDatabase): ExportFormat {
  if (name !== 'sqlite') return byteFormats[name]
  if (openDatabase === undefined) throw invalid('an export to SQLite needs openDatabase')
  return sqliteFormat(openDatabase)
}
