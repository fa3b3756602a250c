/** SQLite: a table `items` with a column for every key, widened as new ones are met; its driver is handed in. */

import { open as openFile, rm } from 'node:fs/promises'
import { MAX_COLUMNS, createColumnSet } from './columns.ts'
import type { Exporter, ExportFormat, StoredItem } from './contract.ts'
import { type Cell, type Row, flattenItem, parseItem } from './flatten.ts'
import { PAGE_COLUMNS, type PageColumn } from './page-item.ts'

/** The part of Node's `DatabaseSync` that is used here. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}
export interface SqliteStatement {
  run(...values: (string | number | bigint | null)[]): unknown
  all(...values: (string | number | bigint | null)[]): unknown[]
}
export type OpenSqliteDatabase = (file: string) => SqliteDatabase | Promise<SqliteDatabase>

/** "Spor" in the header of the file: what tells an export from a database that is somebody's own. */
const APPLICATION_ID = 0x53_70_6f_72
const APPLICATION_ID_OFFSET = 68
/** Affinities: a value of another kind is kept as it is. */
const COLUMN_TYPES: Readonly<Record<PageColumn, 'TEXT' | 'INTEGER'>> = {
  url: 'TEXT',
  finalUrl: 'TEXT',
  status: 'INTEGER',
  depth: 'INTEGER',
  title: 'TEXT',
  contentType: 'TEXT',
  bytes: 'INTEGER',
  links: 'INTEGER',
  fetchedAt: 'TEXT',
  fromCache: 'INTEGER',
}
const SIDECARS = ['-journal', '-wal', '-shm'] as const

interface TablePosition {
  readonly seq: number
  readonly rows: number
}

export function sqliteFormat(openDatabase: OpenSqliteDatabase): ExportFormat {
  return {
    name: 'sqlite',
    live: true,
    sidecars: SIDECARS,
    open: async ({ file, position }) => {
      if (position === undefined) {
        await Promise.all(['', ...SIDECARS].map((ending) => rm(file + ending, { force: true })))
        return createTableExporter(await openDatabase(file), { seq: 0, rows: 0 })
      }
      const at = parsePosition(position)
      if (at === undefined || (await kindOfFile(file)) !== 'export') return undefined
      return goOn(await openDatabase(file), at)
    },
  }
}

export type FileKind = 'missing' | 'empty' | 'export' | 'database' | 'other'

/** Told by its first bytes, without opening it as a database. Rejects with the error of the file system. */
export async function kindOfFile(file: string): Promise<FileKind> {
  const head = Buffer.alloc(APPLICATION_ID_OFFSET + 4)
  try {
    const handle = await openFile(file, 'r')
    try {
      const { bytesRead } = await handle.read(head, 0, head.length, 0)
      if (bytesRead === 0) return 'empty'
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw error
  }
  if (!head.toString('latin1').startsWith('SQLite format 3\0')) return 'other'
  return head.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID ? 'export' : 'database'
}

/** A damaged file is as good as a missing one: it is written anew from the store. */
function goOn(database: SqliteDatabase, at: TablePosition): Exporter | undefined {
  try {
    const [counted] = database.prepare('SELECT count(*) AS rows FROM items WHERE seq <= ?').all(at.seq)
    if (Number((counted as { rows: number }).rows) === at.rows) {
      database.exec(`DELETE FROM items WHERE seq > ${String(at.seq)}`)
      return createTableExporter(database, at)
    }
  } catch {
    // not a database any more, or another table
  }
  closeDatabase(database)
  return undefined
}

/**
 * The log is folded in and given up first: drivers keep a connection half open until its statements are collected, and
 * the file may be renamed before that. Somebody who reads it just now prevents it; then the log stays, which is sound.
 */
function closeDatabase(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA journal_mode = DELETE')
  } catch {
    // being read, or damaged
  }
  database.close()
}

function createTableExporter(database: SqliteDatabase, start: TablePosition): Exporter {
  let at = start
  let closed = false
  begin(database)
  const existing = columnsOf(database)
  const columns = createColumnSet(existing)
  const nameRow = createColumnNames(existing)
  const present = new Set(existing)
  let insert: SqliteStatement | undefined

  const write = (items: readonly StoredItem[]): void => {
    const rows = items.map(({ seq, json }) => ({ seq, row: nameRow(flattenItem(parseItem(json))) }))
    const added = rows.filter(({ row }) => columns.meet(row)).length > 0
    const { met } = columns
    database.exec('BEGIN IMMEDIATE')
    try {
      if (added || insert === undefined) insert = prepareInsert(database, met, present)
      for (const { seq, row } of rows) insert.run(seq, ...columns.cells(row, met).map(sqlValue))
      database.exec('COMMIT')
    } catch (error) {
      rollBack(database)
      throw error
    }
    at = { seq: items.at(-1)?.seq ?? at.seq, rows: at.rows + items.length }
  }
  return {
    write: async (items) => {
      if (items.length > 0) write(items)
    },
    position: () => JSON.stringify(at),
    outdated: () => false,
    sync: async () => {
      database.exec('PRAGMA wal_checkpoint(FULL)')
    },
    finish: async () => {
      // one file that can be carried away: the log is folded into it
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    close: async () => {
      if (closed) return
      closed = true
      closeDatabase(database)
    },
  }
}

/** A write-ahead log, so that people may read while the crawl goes on. */
function begin(database: SqliteDatabase): void {
  database.exec('PRAGMA busy_timeout = 1000')
  database.exec(`PRAGMA application_id = ${String(APPLICATION_ID)}`)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = NORMAL')
  const columns = PAGE_COLUMNS.map((name) => `, ${name} ${COLUMN_TYPES[name]}`)
  database.exec(`CREATE TABLE IF NOT EXISTS items (seq INTEGER PRIMARY KEY${columns.join('')})`)
}

function columnsOf(database: SqliteDatabase): string[] {
  const rows = database.prepare('SELECT name FROM pragma_table_info(?)').all('items')
  return rows.map((row) => String((row as { name: string }).name)).filter((name) => name !== 'seq')
}

/** Paths under the names of their columns: to SQLite `Title` and `title` are one name, and `seq` is ours. */
function createColumnNames(existing: readonly string[]): (row: Row) => Row {
  const free = new Set(existing)
  const taken = new Set(['seq', ...existing.map((name) => name.toLowerCase())])
  const names = new Map<string, string>()
  const nameOf = (path: string): string => {
    // more than there can be columns: kept together in the last one
    if (names.size >= 2 * MAX_COLUMNS) return path
    let name = path.replaceAll('\0', '_')
    while (taken.has(name.toLowerCase()) && !free.has(name)) name += '_'
    free.delete(name)
    taken.add(name.toLowerCase())
    names.set(path, name)
    return name
  }
  return (row) => new Map([...row].map(([path, cell]) => [names.get(path) ?? nameOf(path), cell]))
}

function prepareInsert(database: SqliteDatabase, met: readonly string[], present: Set<string>): SqliteStatement {
  for (const name of met) {
    if (present.has(name)) continue
    database.exec(`ALTER TABLE items ADD COLUMN ${quote(name)}`)
    present.add(name)
  }
  const names = ['seq', ...met].map(quote)
  return database.prepare(`INSERT INTO items (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // some errors (a full disk) have rolled back already
  }
}

function sqlValue(cell: Cell | undefined): string | number | bigint | null {
  if (cell === undefined) return null
  if (typeof cell === 'boolean') return cell ? 1n : 0n
  // drivers bind numbers as REAL
  return typeof cell === 'number' && Number.isSafeInteger(cell) ? BigInt(cell) : cell
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function parsePosition(text: string): TablePosition | undefined {
  try {
    const { seq, rows } = JSON.parse(text) as Partial<Record<string, unknown>>
    return Number.isSafeInteger(seq) && Number.isSafeInteger(rows)
      ? { seq: Number(seq), rows: Number(rows) }
      : undefined
  } catch {
    return undefined
  }
}
