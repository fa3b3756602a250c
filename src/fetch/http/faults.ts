/** Foreign errors of sockets, TLS, DNS and the HTTP parser, classified once into failure classes with words for people. */

import type { FailureClass } from '../../core/outcome.ts'

export interface Fault {
  readonly failure: FailureClass
  /** For people; never with credentials. */
  readonly error: string
  readonly guarded?: boolean
}

/** Where an exchange was when it failed: the same code means different things before and after the head. */
export type Phase = 'connect' | 'waiting' | 'body'

/** An error whose class is already known: made by the connector, carried through undici, read back by `classifyFault`. */
export function faultError(fault: Fault, cause?: unknown): Error {
  return Object.assign(new Error(fault.error, { cause }), { fault })
}

interface Clue {
  readonly fault?: Fault
  readonly code?: unknown
  readonly message?: unknown
  readonly syscall?: unknown
}

const DNS_CODES: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ENODATA',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'EBADNAME',
])

const CONNECT_CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'the host cannot be reached',
  EHOSTDOWN: 'the host is down',
  ENETUNREACH: 'the network cannot be reached',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'no local address is free',
  EACCES: 'the connection is not permitted',
  EPERM: 'the connection is not permitted',
  EINVAL: 'the address cannot be connected to',
  EMFILE: 'too many open sockets',
  ENFILE: 'too many open sockets',
}

const RESET_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'UND_ERR_SOCKET',
  'UND_ERR_INFO',
])

export function classifyFault(error: unknown, phase: Phase): Fault {
  const clue = (typeof error === 'object' && error !== null ? error : {}) as Clue
  if (clue.fault !== undefined) return clue.fault
  const code = typeof clue.code === 'string' ? clue.code : ''
  return byNetwork(code, phase) ?? byProtocol(code, clue, phase) ?? unknown(code, clue, phase)
}

function byNetwork(code: string, phase: Phase): Fault | undefined {
  if (DNS_CODES.has(code)) return { failure: 'dns', error: `the name does not resolve (${code})` }
  const connect = Object.hasOwn(CONNECT_CODES, code) ? CONNECT_CODES[code] : undefined
  if (connect !== undefined) return { failure: 'connect', error: `${connect} (${code})` }
  if (code !== 'ETIMEDOUT') return undefined
  return { failure: phase === 'connect' ? 'connect' : 'timeout', error: `the network timed out (${code})` }
}

function byProtocol(code: string, clue: Clue, phase: Phase): Fault | undefined {
  if (TLS_CODE.test(code)) return { failure: 'tls', error: `TLS failed: ${wordsOf(clue)} (${code})` }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return { failure: 'protocol', error: `the request cannot be sent: ${wordsOf(clue)}` }
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { failure: 'incomplete', error: 'the body is not as long as its Content-Length says' }
  }
  if (code === 'HPE_INVALID_EOF_STATE') return { failure: 'incomplete', error: 'the answer ended before it was whole' }
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { failure: 'protocol', error: `expected an HTTP answer, found other bytes (${code})` }
  }
  return RESET_CODES.has(code) || code.startsWith('ERR_HTTP2') ? lostConnection(code, phase) : undefined
}

function unknown(code: string, clue: Clue, phase: Phase): Fault {
  const error = `${wordsOf(clue)}${code === '' ? '' : ` (${code})`}`
  return { failure: phase === 'connect' ? 'connect' : 'protocol', error }
}

function lostConnection(code: string, phase: Phase): Fault {
  if (phase === 'body')
    return { failure: 'incomplete', error: `the connection was lost before the body was whole (${code})` }
  if (phase === 'connect') return { failure: 'connect', error: `the connection was lost before it was made (${code})` }
  return { failure: 'reset', error: `the connection was lost before an answer came (${code})` }
}

const TLS_CODE =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH|CRL_|ERROR_IN_CERT|EPROTO$)/

function wordsOf(clue: Clue): string {
  const message = typeof clue.message === 'string' && clue.message !== '' ? clue.message : 'an unknown fault'
  return message
    .replace(/\s+/g, ' ')
    .replace(/\/\/[^/\s@]*@/g, '//')
    .slice(0, 200)
}
