/** SQLite as the embedded stores use it: built into Node where it is, from a package with the same interface elsewhere. */

import { createRequire } from 'node:module'
// oxlint-disable-next-line node/no-restricted-import, no-restricted-globals -- asks Node for a built-in module and hushes its notice
import process from 'node:process'

export type SqlValue = string | number | bigint | Uint8Array | null

export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface Driver {
  readonly name: string
  /** `timeout`: how long a statement blocks on a lock, in milliseconds. */
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly readOnly?: boolean; readonly timeout?: number },
  ) => Database
}

let loaded: Driver | undefined

export function loadDriver(): Driver {
  loaded ??= builtIn() ?? packaged()
  return loaded
}

/** Needed in places that cannot import: the code of a worker thread. */
export const driverRequire = createRequire(import.meta.url)

const PACKAGE = '@photostructure/sqlite'

function packaged(): Driver {
  const { DatabaseSync } = driverRequire(PACKAGE) as Pick<Driver, 'DatabaseSync'>
  return { name: PACKAGE, DatabaseSync }
}

/** Node 22.13 and later. Its notice that the module is experimental is no news to the users of a crawler. */
function builtIn(): Driver | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13)) return undefined
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    const { DatabaseSync } = driverRequire('node:sqlite') as Pick<Driver, 'DatabaseSync'>
    return { name: 'node:sqlite', DatabaseSync }
  } catch {
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
