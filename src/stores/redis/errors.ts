/** What the server and the driver say, in the words of this package. */

import { CrawlError, isCrawlError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'

/** The first word of an answer that is an error; empty for errors of the connection. */
function replyCode(error: unknown): string {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return ''
  return /^[A-Z]+/.exec(error.message)?.[0] ?? ''
}

/** Passes by itself: the server loads its data, runs a long script, is being replaced, or the connection is gone. */
const PASSING = new Set([
  'LOADING',
  'BUSY',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'UNBLOCKED',
  'NOREPLICAS',
])

export function isUnknownScript(error: unknown): boolean {
  return replyCode(error) === 'NOSCRIPT'
}

/** Worth another try. What was asked may have been done, or not. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || isCrawlError(error)) return false
  if (error.name === 'ReplyError') return PASSING.has(replyCode(error))
  return !('code' in error) || !['ENOTFOUND', 'EACCES', 'EPERM'].includes(String(error.code))
}

/** The connection does not answer any more: it is to be made anew. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out'
}

/** What an answer means that is known by its first word: the code, and the sentence when it is always the same. */
const MEANINGS: Readonly<Record<string, readonly ['STORE_FULL' | 'STORE_CORRUPT' | 'STORE_UNAVAILABLE', string]>> = {
  OOM: [
    'STORE_FULL',
    'the server has reached its maxmemory. Give it more memory and run the same command again: nothing is lost',
  ],
  MISCONF: [
    'STORE_FULL',
    'the server refuses writes because it cannot save them. Free some room on its disk and run the same command again',
  ],
  WRONGTYPE: ['STORE_CORRUPT', 'a key of the store holds something else. Choose another ?prefix='],
  MOVED: ['STORE_UNAVAILABLE', 'expected the node of the cluster that holds its keys, found another one'],
  NOAUTH: ['STORE_UNAVAILABLE', 'expected a password in its address (redis://:password@host), found none'],
  WRONGPASS: ['STORE_UNAVAILABLE', 'expected a user and password that the server knows, found that it refuses them'],
}

/** Never loses what it does not know. No cause carries a command of the driver: one of them holds the password. */
export function storeError(error: unknown, location: string): unknown {
  if (isCrawlError(error) || !(error instanceof Error)) return error
  const said = error.message
  const code = replyCode(error)
  const make = (as: ErrorCode, problem: string): CrawlError =>
    new CrawlError(as, { cause: new Error(said), context: { location, problem } })
  const meaning = MEANINGS[code]
  if (meaning !== undefined) return make(...meaning)
  if (code === '') return make('STORE_UNAVAILABLE', connectionProblem(error))
  if (code === 'NOPERM') {
    return make('STORE_UNAVAILABLE', `expected the right to run scripts on the keys of the store, found: ${said}`)
  }
  if (/unknown command|DB index|DENIED/i.test(said)) return make('STORE_UNAVAILABLE', said)
  return new Error(said)
}

function connectionProblem(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'ECONNREFUSED':
      return 'expected a Redis server there, found that nothing listens'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'expected the name of a host, found none by that name'
    default:
      return `expected an answer, found that the connection fails (${error.message})`
  }
}

export function unavailable(location: string, problem: string): CrawlError {
  return new CrawlError('STORE_UNAVAILABLE', { context: { location, problem } })
}

export function closedError(location: string): CrawlError {
  return new CrawlError('STORE_CLOSED', { context: { location } })
}
