/** Opens SQLite: Node's own where it has one, else the same interface from a package with the engine inside. */

import { versions } from 'node:process'

export type SqlValue = string | number | bigint | null | Uint8Array
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqlStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

export interface SqlDatabase {
  exec(sql: string): void
  prepare(sql: string): SqlStatement
  close(): void
}

interface SqliteModule {
  readonly DatabaseSync: new (file: string, options?: { readonly timeout?: number }) => SqlDatabase
}

/** Throws the driver's own error. */
export async function openDatabase(file: string): Promise<SqlDatabase> {
  const { DatabaseSync } = await loadSqlite()
  return new DatabaseSync(file)
}

/** `node:sqlite` can be used without a flag since 22.13. */
async function loadSqlite(): Promise<SqliteModule> {
  const [major = 0, minor = 0] = versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) {
    // A name in a variable: the types of Node 20 do not have it.
    const name: string = 'node:sqlite'
    return (await import(name)) as SqliteModule
  }
  return (await import('@photostructure/sqlite')) as unknown as SqliteModule
}

/** SQLite's result code, without the extension; undefined: not SQLite's error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined
  const { errcode } = error
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

export const SQLITE = { BUSY: 5, LOCKED: 6, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 }
