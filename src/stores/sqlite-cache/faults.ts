/** What went wrong in SQLite, said in the words of this package. */

import { CrawlError, isCrawlError } from '../../core/errors.ts'
import { SQLITE, sqliteCodeOf } from './driver.ts'

/** Of a file that is damaged as a whole. */
export const ADVICE = 'Delete the file (its pages are downloaded again) or use --cache off'

export function storeError(error: unknown, location: string): CrawlError {
  if (isCrawlError(error)) return error
  const problem = error instanceof Error ? error.message : String(error)
  const options = { cause: error, context: { location, problem } }
  switch (sqliteCodeOf(error)) {
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return new CrawlError('STORE_CORRUPT', {
        cause: error,
        context: { location, problem: `${problem}. ${ADVICE}` },
      })
    case SQLITE.FULL:
      return new CrawlError('STORE_FULL', options)
    case SQLITE.IOERR:
      return new CrawlError(/ENOSPC|full/i.test(problem) ? 'STORE_FULL' : 'STORE_UNAVAILABLE', options)
    default:
      return new CrawlError('STORE_UNAVAILABLE', options)
  }
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === SQLITE.BUSY || code === SQLITE.LOCKED
}

export function closedError(location: string): CrawlError {
  return new CrawlError('STORE_CLOSED', { context: { location } })
}
