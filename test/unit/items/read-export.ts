/** Reads exported files back with readers that are not ours. */

import { readFile } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { parse } from 'csv-parse/sync'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import type { JsonObject, JsonValue } from '../../../src/core/json.ts'
import type { OpenSqliteDatabase } from '../../../src/items/sqlite.ts'

export const openDatabase: OpenSqliteDatabase = (file) => new DatabaseSync(file)

const NUMBERS = new Set(['status', 'depth', 'bytes', 'links'])

export async function readJsonl(file: string): Promise<JsonObject[]> {
  const text = await readFile(file, 'utf8')
  if (text !== '' && !text.endsWith('\n')) throw new Error('the file does not end in a whole line')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JsonObject)
}

export async function readCsv(file: string): Promise<JsonObject[]> {
  const rows = parse(await readFile(file), { columns: true, record_delimiter: '\n' }) as Record<string, string>[]
  return rows.map((row) =>
    nest(
      Object.entries(row).filter(([, cell]) => cell !== ''),
      csvValue,
    ),
  )
}

function csvValue(path: string, cell: string): JsonValue {
  if (NUMBERS.has(path)) return Number(cell)
  return path === 'fromCache' ? cell === 'true' : cell
}

export async function readSqlite(file: string): Promise<JsonObject[]> {
  const database = new DatabaseSync(file)
  try {
    const rows = database.prepare('SELECT * FROM items ORDER BY seq').all() as Record<string, string | number | null>[]
    return rows.map((row) => {
      const cells = Object.entries(row).filter(([name, cell]) => name !== 'seq' && cell !== null)
      return nest(cells as [string, string][], (path, cell) => (path === 'fromCache' ? Boolean(cell) : cell))
    })
  } finally {
    database.close()
  }
}

export async function readParquet(file: string): Promise<JsonObject[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file) })
  return rows.map((row) => {
    const { _more: more, ...own } = row as Record<string, JsonValue | Date | bigint>
    const cells = Object.entries(own).filter(([, cell]) => cell !== null && cell !== undefined)
    const values = cells.map(([name, cell]) => [name, plain(cell)])
    return { ...(Object.fromEntries(values) as JsonObject), ...(more as JsonObject | null) }
  })
}

function plain(cell: JsonValue | Date | bigint | undefined): JsonValue | undefined {
  if (cell instanceof Date) return cell.toISOString()
  return typeof cell === 'bigint' ? Number(cell) : cell
}

/** Paths with dots back into objects. */
function nest(
  cells: readonly (readonly [string, string])[],
  valueOf: (path: string, cell: string) => JsonValue,
): JsonObject {
  const item: Record<string, JsonValue> = {}
  for (const [path, cell] of cells) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    let at = item
    for (const key of keys) at = (at[key] ??= {}) as Record<string, JsonValue>
    at[last] = valueOf(path, cell)
  }
  return item
}
