/** Asks a proxy for a way to a host: HTTP CONNECT (RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, RFC 1929). */

import net from 'node:net'
import type { Socket } from 'node:net'

import type { Endpoint } from './connect-to.ts'
import { faultError } from './faults.ts'
import { basicCredentials, type Proxy } from './proxy-url.ts'

export interface TunnelRequest {
  /** Connected to the proxy. Destroyed on failure. */
  readonly socket: Socket
  readonly proxy: Proxy
  readonly target: Endpoint
  readonly signal: AbortSignal
}

/** Afterwards the socket speaks with the target. Rejects with a `proxy` fault, or with the signal's reason. */
export async function openTunnel(request: TunnelRequest): Promise<void> {
  try {
    await (request.proxy.protocol === 'socks5' ? socks5(request) : connect(request))
  } catch (error) {
    request.socket.on('error', () => {})
    request.socket.destroy()
    throw error
  }
}

const MAX_ANSWER_BYTES = 16 * 1024

async function connect(request: TunnelRequest): Promise<void> {
  const { host, port } = request.target
  const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`
  const credentials = basicCredentials(request.proxy)
  const auth = credentials === undefined ? '' : `Proxy-Authorization: ${credentials}\r\n`
  request.socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Connection: keep-alive\r\n${auth}\r\n`,
    'latin1',
  )
  const head = await readSome(request, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n', 0, 'latin1')
    return end === -1 ? undefined : end + 4
  })
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, 64))?.[1]
  if (status?.startsWith('2') === true) return
  if (status === '407') throw refused(request, unauthorised(request.proxy))
  throw (TARGET_STATUSES.has(status ?? '') ? unreached : refused)(
    request,
    `answered CONNECT with ${status ?? 'no HTTP'}`,
  )
}

/** What 407 means, by whether credentials were given. */
export function unauthorised(proxy: Proxy): string {
  const words = proxy.username === undefined ? 'wants a user and a password' : 'refused the user and password given'
  return `${words} (407)`
}

const SOCKS_REPLIES: readonly string[] = [
  'succeeded',
  'a general failure',
  'not allowed by its rules',
  'the network cannot be reached',
  'the host cannot be reached',
  'the connection was refused',
  'the time to live expired',
  'the command is not known',
  'the address type is not known',
]

async function socks5(request: TunnelRequest): Promise<void> {
  const { socket, proxy } = request
  const withPassword = proxy.username !== undefined
  socket.write(Buffer.from(withPassword ? [5, 2, 0, 2] : [5, 1, 0]))
  const choice = await readSome(request, (bytes) => (bytes.length < 2 ? undefined : 2))
  if (choice[0] !== 5) throw refused(request, 'does not speak SOCKS5')
  if (choice[1] === 2 && withPassword) await socksPassword(request)
  else if (choice[1] !== 0) throw refused(request, unauthorised(proxy))
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), socksAddress(request)]))
  const reply = await readSome(request, socksReplyLength)
  const code = reply[1] ?? 1
  if (code === 0) return
  throw (code >= 3 && code <= 6 ? unreached : refused)(request, `answered: ${SOCKS_REPLIES[code] ?? `code ${code}`}`)
}

async function socksPassword(request: TunnelRequest): Promise<void> {
  const user = Buffer.from(request.proxy.username ?? '', 'utf8')
  const password = Buffer.from(request.proxy.password, 'utf8')
  if (user.length > 255 || password.length > 255) throw refused(request, 'takes at most 255 bytes of user and password')
  request.socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]))
  const verdict = await readSome(request, (bytes) => (bytes.length < 2 ? undefined : 2))
  if (verdict[1] !== 0) throw refused(request, unauthorised(request.proxy))
}

/** Names go as names: the proxy resolves them. */
function socksAddress(request: TunnelRequest): Buffer {
  const { host, port } = request.target
  const tail = Buffer.from([port >> 8, port & 0xff])
  if (net.isIPv4(host)) return Buffer.concat([Buffer.from([1, ...host.split('.').map(Number)]), tail])
  const name = Buffer.from(host, 'latin1')
  if (net.isIPv6(host)) return Buffer.concat([Buffer.from([4]), ipv6Bytes(host), tail])
  if (name.length > 255) throw refused(request, 'takes names of at most 255 bytes')
  return Buffer.concat([Buffer.from([3, name.length]), name, tail])
}

function ipv6Bytes(host: string): Buffer {
  const [left = '', right = ''] = new URL(`http://[${host}]/`).hostname.slice(1, -1).split('::')
  const zeros = Array.from({ length: 8 - groups(left).length - groups(right).length }, () => '0')
  const bytes = [...groups(left), ...zeros, ...groups(right)].map((group) => Number.parseInt(group, 16))
  return Buffer.from(bytes.flatMap((group) => [group >> 8, group & 0xff]))
}

function groups(text: string): string[] {
  return text.split(':').filter((group) => group !== '')
}

function socksReplyLength(bytes: Buffer): number | undefined {
  if (bytes.length < 5) return undefined
  const address = bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : 1 + (bytes[4] ?? 0)
  const length = 4 + address + 2
  return bytes.length < length ? undefined : length
}

/** Said of the target, not of the proxy, which is well. */
const TARGET_STATUSES: ReadonlySet<string> = new Set(['502', '503', '504'])

function unreached(request: TunnelRequest, words: string): Error {
  return faultError({ failure: 'connect', error: `the proxy ${request.proxy.label} ${words}` })
}

function refused(request: TunnelRequest, words: string): Error {
  return faultError({ failure: 'proxy', error: `the proxy ${request.proxy.label} ${words}` })
}

/** Reads until `enough` says how many bytes belong to the answer; what follows goes back into the socket. */
async function readSome(request: TunnelRequest, enough: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  const { socket, signal } = request
  signal.throwIfAborted()
  let held: Buffer = Buffer.alloc(0)
  return await new Promise<Buffer>((resolve, reject) => {
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort)
      socket.removeListener('readable', onReadable)
      for (const event of ['error', 'end', 'close']) socket.removeListener(event, onLost)
      settle()
    }
    const fail = (error: unknown): void => {
      finish(() => {
        reject(error as Error)
      })
    }
    const onAbort = (): void => {
      fail(signal.reason)
    }
    const onLost = (): void => {
      fail(refused(request, 'closed the connection'))
    }
    const onReadable = (): void => {
      for (let chunk: unknown = socket.read(); Buffer.isBuffer(chunk); chunk = socket.read())
        held = Buffer.concat([held, chunk])
      const length = enough(held)
      if (length !== undefined) {
        finish(() => {
          if (held.length > length) socket.unshift(held.subarray(length))
          resolve(held.subarray(0, length))
        })
      } else if (held.length > MAX_ANSWER_BYTES) fail(refused(request, 'answered with more than an answer'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.on('readable', onReadable)
    for (const event of ['error', 'end', 'close']) socket.on(event, onLost)
    onReadable()
  })
}
