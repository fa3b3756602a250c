/** SQLite for the cache, and the result codes that it looks at. */

import { type Database, loadDriver, type Statement } from '../sqlite-driver.ts'

export type { Database as SqlDatabase, Statement as SqlStatement }

/** Throws the driver's own error. */
export function openDatabase(file: string): Database {
  const { DatabaseSync } = loadDriver()
  return new DatabaseSync(file)
}

/** SQLite's result code, without the extension; undefined: not SQLite's error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined
  const { errcode } = error
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

export const SQLITE = { BUSY: 5, LOCKED: 6, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 }
