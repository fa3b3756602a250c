/** What PostgreSQL, the driver and the network say, in the words of this package. */

import { CrawlError, isCrawlError } from '../../core/errors.ts'

/** See https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const LOCK_TIMEOUT = '55P03'
/** Of a session that may only read, or a primary that has become a standby. */
export const READ_ONLY = '25006'

/** The server ends sessions with these, or takes none for the moment. */
const LOST_STATES: ReadonlySet<string> = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25P03', // idle_in_transaction_session_timeout
  READ_ONLY,
  '53300', // too_many_connections
])

const LOST_ERRNOS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // the file of a local socket
])

/** The driver gives these no code. */
const LOST_WORDS =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|timeout exceeded)/

export function stateOf(error: unknown): string | undefined {
  const code: unknown = Object(error).code
  return typeof code === 'string' ? code : undefined
}

/** The connection is at fault, not what was asked: the same may work on another one, in a while. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLoss)
  const code = stateOf(error)
  if (code !== undefined && (LOST_STATES.has(code) || LOST_ERRNOS.has(code) || code.startsWith('08'))) return true
  return error instanceof Error && LOST_WORDS.test(error.message)
}

/** The server was there and went, or is about to come. */
export function isRestart(error: unknown): boolean {
  const code = stateOf(error)
  if (code !== undefined) return ['57P01', '57P02', '57P03', 'ECONNRESET'].includes(code)
  return error instanceof Error && error.message === 'Connection terminated unexpectedly'
}

/** Another transaction was in the way; this one was undone and may be tried again. */
export function isCollision(error: unknown): boolean {
  const code = stateOf(error)
  return code === DEADLOCK || code === SERIALIZATION || code === LOCK_TIMEOUT
}

const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'expected a user and a password that the server accepts, found that it refuses them',
  '28000': 'expected a user whom the server lets in from this machine, found that it refuses it (see its pg_hba.conf)',
  '3D000': 'expected the database that the URL names, found that there is none. Create it with `createdb`',
  '3F000': 'expected a schema to make tables in, found none in the search path',
  '42501':
    'expected the right to create and use tables in the current schema, found that it is missing. ' +
    'Let the owner run `GRANT CREATE, USAGE ON SCHEMA public TO` this user, or use a database of your own',
  '53300': 'expected a free connection, found that the server has none left',
  '57P03': 'expected a server that answers, found one that is starting or stopping',
  ECONNREFUSED: 'expected a server that listens there, found that the connection is refused',
  ENOTFOUND: 'expected the name of a host, found that it is not known',
  EAI_AGAIN: 'expected the name of a host, found that it cannot be looked up just now',
}

/** Never loses what it does not know: a foreign error comes back as it is. */
export function storeError(error: unknown, location: string): unknown {
  if (isCrawlError(error)) return error
  const code = stateOf(error) ?? firstStateOf(error)
  if (code === '53100') {
    const problem = 'the disk of the database server is full. Free some room and run the same command again'
    return new CrawlError('STORE_FULL', { cause: error, context: { location, problem } })
  }
  if (code === 'XX001' || code === 'XX002') {
    const problem = 'the server finds damaged data. Restore a copy'
    return new CrawlError('STORE_CORRUPT', { cause: error, context: { location, problem } })
  }
  const hint = tlsHint(error) ?? (code === undefined ? undefined : HINTS[code])
  if (hint === undefined && !isConnectionLoss(error)) return error
  return unavailable(location, { problem: hint ?? `expected an answer, found: ${wordsOf(error)}`, cause: error })
}

/** The driver and Node.js tell of TLS by words and by codes of their own. */
const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(VERIFY|GET)_)/

function tlsHint(error: unknown): string | undefined {
  const said = wordsOf(error)
  if (said.includes('does not support SSL')) {
    return 'expected a server that speaks TLS, as the URL asks for it (sslmode), found one that does not'
  }
  if (!TLS_CODES.test(stateOf(error) ?? '')) return undefined
  return `expected a certificate that this machine trusts, found: ${said}. See sslmode and sslrootcert of the URL`
}

function firstStateOf(error: unknown): string | undefined {
  return error instanceof AggregateError ? stateOf(error.errors[0]) : undefined
}

function wordsOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}

export function unavailable(
  location: string,
  { problem, cause }: { readonly problem: string; readonly cause?: unknown },
): CrawlError {
  return new CrawlError('STORE_UNAVAILABLE', { cause, context: { location, problem } })
}

export function closedError(location: string): CrawlError {
  return new CrawlError('STORE_CLOSED', { context: { location } })
}
