/** What the driver and the server say, in the words of this package. */

import { CrawlError, isCrawlError } from '../../core/errors.ts'
import type { Place } from './place.ts'

const DUPLICATE_KEY = 11_000
const UNAUTHORIZED = 13
const AUTHENTICATION_FAILED = 18
/** Server codes after which the same command may succeed: elections, shutdowns, lost connections, time-outs. */
const PASSING = new Set([
  6, 7, 24, 50, 64, 89, 91, 112, 133, 134, 189, 202, 262, 317, 358, 9001, 10_058, 10_107, 11_600,
])
const PASSING_TOO = new Set([11_602, 13_388, 13_435, 13_436, 46_841])
const OUT_OF_DISK = 14_031
const NOT_IMPLEMENTED = 238

/** Names of the driver's errors that tell of the connection, not of the command. */
const CONNECTION_ERRORS = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'PoolClearedError',
  'MongoPoolClosedError',
  'MongoConnectionPoolClosedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'WaitQueueTimeoutError',
  'MongoNotConnectedError',
  'MongoServerClosedError',
  'ConnectionPoolClearedError',
])

function codeOf(error: unknown): number | undefined {
  // The errors inside a MongoBulkWriteError are none by their class.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'number' ? error.code : undefined
}

export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY
}

/** Of FerretDB. */
export function isNotImplemented(error: unknown): boolean {
  return codeOf(error) === NOT_IMPLEMENTED
}

/** Whether to try again may help: the connection is lost, or the server is about to come back. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code === UNAUTHORIZED || code === AUTHENTICATION_FAILED) return false
  if (isLoginError(error)) return false
  if (CONNECTION_ERRORS.has(error.name)) return true
  if (code !== undefined && (PASSING.has(code) || PASSING_TOO.has(code))) return true
  // A bulk write that loses its connection says so in its words or in its cause only; FerretDB, when it is stopped.
  return PASSING_WORDS.test(error.message) || isPassing(error.cause)
}

const PASSING_WORDS =
  /E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT)|connection .*(closed|reset|timed out)|context canceled|socket hang up|database is locked|interrupted/i

/** A server that cannot be selected because nobody is let in says so in the cause only. */
function isLoginError(error: Error): boolean {
  return /authentication failed|auth(entication)? failed|SCRAM|sasl/i.test(error.message)
}

/** Foreign errors become STORE_UNAVAILABLE or STORE_FULL; what is wrong in this code comes back as it is. */
export function storeError(error: unknown, place: Pick<Place, 'location' | 'secrets'>): unknown {
  if (isCrawlError(error) || !(error instanceof Error) || !error.name.startsWith('Mongo')) return error
  const { location } = place
  const code = codeOf(error)
  if (code === OUT_OF_DISK) {
    const problem = 'the server says that its disk is full'
    return new CrawlError('STORE_FULL', { cause: hushed(error, place), context: { location, problem } })
  }
  const problem = problemOf(error, code, place)
  return new CrawlError('STORE_UNAVAILABLE', { cause: hushed(error, place), context: { location, problem } })
}

function problemOf(error: Error, code: number | undefined, place: Pick<Place, 'secrets'>): string {
  const said = hush(error.message, place)
  if (code === AUTHENTICATION_FAILED || isLoginError(error)) {
    return `expected a user and password that the server accepts, found: ${said}. Check the URL, and authSource in it`
  }
  if (code === UNAUTHORIZED) return `expected the right to read and write this database, found: ${said}`
  if (error.name === 'MongoCompatibilityError') return `expected MongoDB 4.4 or newer, found: ${said}`
  if (CONNECTION_ERRORS.has(error.name)) return `expected a server to answer there, found: ${said}`
  return said
}

export function unavailable(place: Pick<Place, 'location'>, problem: string, cause?: unknown): CrawlError {
  return new CrawlError('STORE_UNAVAILABLE', { cause, context: { location: place.location, problem } })
}

export function closedError({ location }: Pick<Place, 'location'>): CrawlError {
  return new CrawlError('STORE_CLOSED', { context: { location } })
}

/** Without anything that must not be seen. */
export function hush(message: string, { secrets }: Pick<Place, 'secrets'>): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
}

/** A cause is printed, too: only its name and words are kept. */
function hushed(error: Error, place: Pick<Place, 'secrets'>): Error {
  const cause = new Error(hush(error.message, place))
  cause.name = error.name
  return cause
}
