/** The Redis client as this store uses it: a package that is loaded when a Redis store is first opened. */

import { isIP } from 'node:net'
import { CrawlError } from '../../core/errors.ts'
import type { ServerAddress } from './server-url.ts'

/** What is used of the driver's client. */
export interface RedisClient {
  readonly status: string
  connect(): Promise<void>
  call(command: string, args: readonly string[]): Promise<unknown>
  /** Strings of the answer come as they are: as bytes. */
  callBuffer(command: string, args: readonly (string | Buffer)[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'message' | 'ready' | 'close', listener: () => void): unknown
  /** Rejects what is in flight; with `true` it connects again. */
  disconnect(reconnect?: boolean): void
}

interface ClientOptions {
  readonly lazyConnect: true
  readonly [option: string]: unknown
}

type ClientClass = new (options: ClientOptions) => RedisClient

const PACKAGE = 'ioredis'

/** A server that does not answer at all for so long is given up, for this connection. */
const COMMAND_TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_MS = 5000

/** Rejects with PEER_MISSING when the package is not installed. */
export async function loadClient(): Promise<(address: ServerAddress) => RedisClient> {
  const Client = await importClient()
  return (address) => {
    const client = new Client(optionsOf(address))
    // Every command says itself what became of it.
    client.on('error', () => undefined)
    return client
  }
}

async function importClient(): Promise<ClientClass> {
  try {
    const { Redis } = await import('ioredis')
    return Redis as unknown as ClientClass
  } catch (error) {
    const code = 'code' in Object(error) ? (error as { code: unknown }).code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
    const context = { feature: 'A Redis store', name: PACKAGE }
    throw new CrawlError('PEER_MISSING', { cause: error, context })
  }
}

/** Nothing is queued or sent again by the driver: only the store knows what may be repeated. */
function optionsOf({ host, port, db, tls, username, password }: ServerAddress): ClientOptions {
  return {
    host,
    port,
    db,
    ...(tls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(20 * 2 ** Math.min(times, 6), 500),
  }
}
