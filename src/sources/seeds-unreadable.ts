/** The error of a seed source, in one line. */

import { CrawlError, isCrawlError } from '../core/errors.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder, not a file',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  Z_BUF_ERROR: 'its packed data ends too early',
  Z_DATA_ERROR: 'its packed data is damaged',
}

export function seedsUnreadable(source: string, cause: unknown): CrawlError {
  if (isCrawlError(cause)) return cause
  const { code, message } = cause as { code?: unknown; message?: unknown }
  const name = String(code)
  const problem = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name] : String(message)
  return new CrawlError('SEEDS_UNREADABLE', { context: { source, problem: problem ?? name }, cause })
}
