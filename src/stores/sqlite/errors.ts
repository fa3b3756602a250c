/** What SQLite and the file system say, in the words of this package. */

import { CrawlError, isCrawlError } from '../../core/errors.ts'

/** Primary result codes of SQLite; see https://www.sqlite.org/rescode.html */
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

/** One driver leaves the code out when a statement that answers many rows goes wrong; SQLite's own words tell it. */
const CODE_OF_MESSAGE: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'attempt to write a readonly database': READONLY,
  'disk I/O error': IOERR,
  'database disk image is malformed': CORRUPT,
  'database or disk is full': FULL,
  'unable to open database file': CANTOPEN,
  'file is not a database': NOTADB,
}

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? CODE_OF_MESSAGE[error.message] : undefined
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === BUSY || code === LOCKED
}

/** The file or the disk is at fault, not what was asked: everything that is tried now ends the same way. */
export function isStorageFault(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && [READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB].includes(code)
}

/** Never loses what it does not know: a foreign error comes back as it is. */
export function storeError(error: unknown, location: string): unknown {
  if (isCrawlError(error)) return error
  const said = error instanceof Error ? error.message : String(error)
  const make = (code: 'STORE_FULL' | 'STORE_CORRUPT' | 'STORE_UNAVAILABLE', problem: string): CrawlError =>
    new CrawlError(code, { cause: error, context: { location, problem } })
  switch (sqliteCode(error)) {
    case FULL:
    case IOERR:
      return make('STORE_FULL', `${said}. Free some room on its disk and run the same command again: nothing is lost`)
    case CORRUPT:
    case NOTADB:
      return make(
        'STORE_CORRUPT',
        `${said}. Nothing was changed; restore a copy, or move the folder away and begin anew`,
      )
    case READONLY:
    case CANTOPEN:
      return make('STORE_UNAVAILABLE', `${said}. Check that the folder exists and that you may write to it`)
    default:
      return error
  }
}

/** Of the file system, before SQLite is asked. */
export function folderError(error: unknown, location: string): CrawlError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown'
  const known: Readonly<Record<string, string>> = {
    EACCES: 'you may not write there. Choose another folder or change its permissions',
    EPERM: 'you may not write there. Choose another folder or change its permissions',
    EROFS: 'its file system is read-only. Choose another folder',
    ENOTDIR: 'it is not a folder. Choose another name',
    EEXIST: 'it is not a folder. Choose another name',
    ENOENT: 'it does not exist',
  }
  const problem = known[code] ?? (error instanceof Error ? error.message : String(error))
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CrawlError('STORE_FULL', { cause: error, context: { location, problem: 'the disk is full' } })
  }
  return new CrawlError('STORE_UNAVAILABLE', { cause: error, context: { location, problem } })
}

export function busyError(location: string, waitedMs: number): CrawlError {
  return new CrawlError('STORE_BUSY', { context: { location, waitedMs: Math.round(waitedMs) } })
}

export function closedError(location: string): CrawlError {
  return new CrawlError('STORE_CLOSED', { context: { location } })
}
