/** Parquet: the page's record as typed columns, everything else of an item as JSON text. Written in row groups. */

import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import type { JsonObject, JsonValue } from '../core/json.ts'
import type { StoredItem } from './contract.ts'
import { type ItemEncoder, NO_BYTES } from './encoder.ts'
import { parseItem } from './flatten.ts'
import { OTHER_COLUMN } from './columns.ts'
import { PAGE_COLUMNS, type PageColumn } from './page-item.ts'

/** A row group ends at whichever comes first: it is what is held in memory. */
const MAX_GROUP_ROWS = 5000
const MAX_GROUP_CHARS = 16 * 1024 * 1024

type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP' | 'BOOLEAN' | 'JSON'

const TYPES: Readonly<Record<PageColumn | 'fields' | typeof OTHER_COLUMN, ColumnType>> = {
  url: 'STRING',
  finalUrl: 'STRING',
  status: 'INT32',
  depth: 'INT32',
  title: 'STRING',
  contentType: 'STRING',
  bytes: 'INT64',
  links: 'INT32',
  fetchedAt: 'TIMESTAMP',
  fromCache: 'BOOLEAN',
  fields: 'JSON',
  [OTHER_COLUMN]: 'JSON',
}
const COLUMNS = [...PAGE_COLUMNS, 'fields', OTHER_COLUMN] as const

/** A value that is not of its column's type is kept in the last column, under its key. */
export function createParquetEncoder(): ItemEncoder {
  const bytes = new ByteWriter(1024 * 1024)
  const schema = schemaFromColumnData({ columnData: columnData([]) })
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'spoor' })
  let group: StoredItem[] = []
  let groupChars = 0

  const take = (): Uint8Array => {
    const taken = Uint8Array.from(bytes.getBytes())
    bytes.index = 0
    return taken
  }
  const endGroup = (): void => {
    if (group.length === 0) return
    // without a `flush` of its own the writer works synchronously
    void writer.write({ columnData: columnData(group), rowGroupSize: group.length })
    group = []
    groupChars = 0
  }
  const encode = (items: readonly StoredItem[]): Uint8Array => {
    for (const item of items) {
      group.push(item)
      groupChars += item.json.length
      if (group.length >= MAX_GROUP_ROWS || groupChars >= MAX_GROUP_CHARS) endGroup()
    }
    return bytes.index === 0 ? NO_BYTES : take()
  }
  const end = (): Uint8Array => {
    endGroup()
    void writer.finish()
    return take()
  }
  return { encode, outdated: () => false, layout: () => '', end }
}

interface ColumnData {
  readonly name: string
  readonly data: unknown[]
  readonly type: ColumnType
  readonly nullable: true
  readonly offsetIndex: false
}

function columnData(group: readonly StoredItem[]): ColumnData[] {
  const rows = group.map(({ json }) => rowOf(parseItem(json)))
  return COLUMNS.map((name) => ({
    name,
    data: rows.map((row) => row[name]),
    type: TYPES[name],
    nullable: true,
    offsetIndex: false,
  }))
}

function rowOf(item: JsonObject): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  const other: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(item)) {
    if (value === undefined) continue
    const type = isColumn(key) ? TYPES[key] : undefined
    const cell = type === undefined ? undefined : cellOf(value, type)
    if (cell === undefined) other[key] = value
    else row[key] = cell
  }
  for (const name of COLUMNS) row[name] ??= null
  row[OTHER_COLUMN] = Object.keys(other).length === 0 ? null : other
  return row
}

function isColumn(key: string): key is PageColumn | 'fields' {
  return key !== OTHER_COLUMN && Object.hasOwn(TYPES, key)
}

/** Undefined: not a value of that type. */
function cellOf(value: JsonValue, type: ColumnType): unknown {
  if (type === 'STRING') return typeof value === 'string' ? value : undefined
  if (type === 'BOOLEAN') return typeof value === 'boolean' ? value : undefined
  if (type === 'INT32') return isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined
  if (type === 'INT64') return isInteger(value) ? BigInt(value) : undefined
  if (type === 'TIMESTAMP') return timestampOf(value)
  return value === null ? undefined : value
}

function isInteger(value: JsonValue): value is number {
  return Number.isSafeInteger(value)
}

/** Only what comes back as the very same text. */
function timestampOf(value: JsonValue): Date | undefined {
  if (typeof value !== 'string') return undefined
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value ? date : undefined
}
