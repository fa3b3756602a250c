/** The error of an export, with what can be done about it. */

import { CrawlError, isCrawlError } from '../core/errors.ts'

const GOES_ON = 'nothing is lost: the same command goes on from there'

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: `no space is left there; make room, and ${GOES_ON}`,
  EDQUOT: `the quota is used up; make room, and ${GOES_ON}`,
  EFBIG: 'the file may not grow that large; choose another place with -o',
  EACCES: 'permission is denied; allow it, or choose another place with -o',
  EPERM: 'permission is denied; allow it, or choose another place with -o',
  EROFS: 'it is on a file system that can only be read; choose another place with -o',
  EISDIR: 'it is a folder: name a file in it',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: `too many files are open; ${GOES_ON}`,
  EPIPE: 'the reader has gone away',
  EIO: `the disk reports an error; ${GOES_ON}`,
}

const SQLITE_FULL = 13
/** SQLite's own codes: the low byte of what its driver gives. */
const SQLITE_CODES: Readonly<Record<number, string>> = { 10: 'EIO', 13: 'ENOSPC' }

/** Told by what the system said, however it was wrapped. */
export function isDiskFull(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code, errcode } = one as { code?: unknown; errcode?: unknown }
    if (code === 'ENOSPC' || code === 'EDQUOT' || (typeof errcode === 'number' && (errcode & 0xff) === SQLITE_FULL))
      return true
  }
  return false
}

export function exportFailed(file: string, cause: unknown): CrawlError {
  if (isCrawlError(cause)) return cause
  const { code, errcode, message } = cause as { code?: unknown; errcode?: unknown; message?: unknown }
  const name = (typeof errcode === 'number' ? SQLITE_CODES[errcode & 0xff] : undefined) ?? String(code)
  const known = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name] : undefined
  const problem = known ?? String(message)
  return new CrawlError('EXPORT_FAILED', { context: { file: file === '-' ? 'stdout' : file, problem }, cause })
}
