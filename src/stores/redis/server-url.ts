/** The address of a Redis server as people write it, taken apart once. */

import { CrawlError } from '../../core/errors.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly db: number
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Begins the names of all keys, inside a hash tag. */
  readonly prefix: string
  /** For messages: without credentials. */
  readonly location: string
}

const DEFAULT_PREFIX = 'spoor_'

/**
 * `redis://[[user]:password@]host[:port][/db][?prefix=name_]`; `rediss:` and `valkeys:` speak TLS. Defaults: port 6379,
 * database 0, prefix `spoor_`. Throws CONFIG_INVALID, never with the credentials in its message.
 */
export function parseServerUrl(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(redis|valkey)s?:$/.test(url.protocol) || url.hostname === '') {
    throw invalid('expected redis://host:port/db or rediss://… as the address of the store')
  }
  const db = databaseOf(url)
  const prefix = prefixOf(url)
  const port = url.port === '' ? 6379 : Number(url.port)
  const shown = `${url.protocol}//${url.hostname}:${port}/${db}`
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    db,
    tls: /^(rediss|valkeys):$/.test(url.protocol),
    username: decoded(url.username),
    password: decoded(url.password),
    prefix,
    location: prefix === DEFAULT_PREFIX ? shown : `${shown}?prefix=${prefix}`,
  }
}

function databaseOf({ pathname, host }: URL): number {
  const text = pathname.slice(1)
  if (!/^\d{0,5}$/.test(text)) {
    throw invalid(`expected the number of a database after ${host}, found "${text}"`)
  }
  return Number(text)
}

function prefixOf({ searchParams }: URL): string {
  const other = [...searchParams.keys()].find((name) => name !== 'prefix')
  if (other !== undefined) {
    throw invalid(`expected only ?prefix= in the address of a Redis store, found "${other}"`)
  }
  const prefix = searchParams.get('prefix') ?? DEFAULT_PREFIX
  if (!/^[\w.:-]{1,64}$/.test(prefix)) {
    throw invalid('expected 1 to 64 letters, digits, "_", "-", "." or ":" as the prefix of a Redis store')
  }
  return prefix
}

/** Undefined: there is none. */
function decoded(part: string): string | undefined {
  try {
    return part === '' ? undefined : decodeURIComponent(part)
  } catch {
    throw invalid('expected the user and password of the store to be percent-encoded')
  }
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
