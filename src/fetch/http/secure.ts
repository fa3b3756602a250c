/** TLS over a connected socket: one context and one session cache for all connections of a fetcher. */

import { readFileSync } from 'node:fs'
import net from 'node:net'
import type { Socket } from 'node:net'
import tls from 'node:tls'
import type { Certificate, PeerCertificate, TLSSocket } from 'node:tls'

import { CrawlError } from '../../core/errors.ts'
import type { TlsFacts } from '../contract.ts'
import { faultError } from './faults.ts'

export interface SecureOptions {
  /** Accept any certificate for any name. Default false. */
  readonly insecure?: boolean
  /** PEM file with further authorities, beside those of Node. */
  readonly caFile?: string
}

export interface SecureRequest {
  readonly socket: Socket
  /** Host of the URL: the name asked for and checked, wherever the connection goes. */
  readonly host: string
  readonly port: number
  readonly http2: boolean
  readonly signal: AbortSignal
}

export type Secure = (request: SecureRequest) => Promise<TLSSocket>

/** Sessions kept for resumption; a resumed handshake costs half. */
const MAX_SESSIONS = 1000

/** Throws CONFIG_INVALID when the CA file cannot be read. */
export function createSecure(options: SecureOptions): Secure {
  const rejectUnauthorized = options.insecure !== true
  const secureContext = tls.createSecureContext(options.caFile === undefined ? {} : { ca: authorities(options.caFile) })
  const sessions = new Map<string, Buffer>()
  const remember = (key: string, session: Buffer): void => {
    sessions.delete(key)
    sessions.set(key, session)
    for (const oldest of sessions.keys()) {
      if (sessions.size <= MAX_SESSIONS) break
      sessions.delete(oldest)
    }
  }
  return async ({ socket, host, port, http2, signal }) => {
    const key = `${host}:${port}:${String(http2)}`
    const session = sessions.get(key)
    const secured = tls.connect({
      socket,
      host,
      // RFC 6066, 3: literals are not sent as server names
      servername: net.isIP(host) === 0 ? host.replace(/\.$/, '') : '',
      secureContext,
      rejectUnauthorized,
      ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      ...(session === undefined ? {} : { session }),
    })
    secured.on('session', (fresh: Buffer) => {
      remember(key, fresh)
    })
    return await handshake(secured, signal)
  }
}

async function handshake(secured: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  return await new Promise<TLSSocket>((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener('abort', onAbort)
      secured.removeListener('error', onError)
      secured.removeListener('close', onClose)
    }
    const fail = (error: unknown): void => {
      done()
      secured.on('error', () => {})
      secured.destroy()
      reject(error as Error)
    }
    const onAbort = (): void => {
      fail(signal.reason)
    }
    const onError = (error: Error & { readonly code?: string }): void => {
      const code = error.code === undefined ? '' : ` (${error.code})`
      fail(faultError({ failure: 'tls', error: `TLS failed: ${oneLine(error.message)}${code}` }, error))
    }
    const onClose = (): void => {
      fail(faultError({ failure: 'tls', error: 'TLS failed: the connection was closed during the handshake' }))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    secured.on('error', onError)
    secured.on('close', onClose)
    secured.once('secureConnect', () => {
      done()
      secured.on('error', () => {})
      resolve(secured)
    })
    if (signal.aborted) onAbort()
  })
}

/** What was agreed upon, once the handshake is over. */
export function tlsFactsOf(socket: TLSSocket): TlsFacts {
  const { subject, issuer, valid_to: validTo } = socket.getPeerCertificate() as Partial<PeerCertificate>
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().name,
    ...(typeof socket.alpnProtocol === 'string' ? { alpn: socket.alpnProtocol } : {}),
    resumed: socket.isSessionReused(),
    verified: socket.authorized,
    ...(validTo === undefined ? {} : { certificate: { subject: nameOf(subject), issuer: nameOf(issuer), validTo } }),
  }
}

function nameOf(party: Certificate | undefined): string {
  const name: unknown = party?.CN ?? party?.O ?? ''
  return String(name).slice(0, 200)
}

/** OpenSSL writes its file and line into messages; people need the reason. */
function oneLine(message: string): string {
  const reason = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1]
  return (reason ?? message).replace(/\s+/g, ' ').trim().slice(0, 200)
}

function authorities(file: string): string[] {
  try {
    const pem = readFileSync(file, 'utf8')
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no PEM certificate')
    return [...tls.rootCertificates, pem]
  } catch (cause) {
    const problem = `expected a readable PEM file of certificates, found ${file}: ${(cause as Error).message}`
    throw new CrawlError('CONFIG_INVALID', { cause, context: { problem } })
  }
}
