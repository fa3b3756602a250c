/** What the server says of itself: whether it will do, and how much it keeps. */

import type { FrontierCapabilities } from '../../frontier/contract.ts'
import { unavailable } from './errors.ts'

export interface ServerFacts {
  readonly version: string
  readonly appendOnly: boolean
  /** Undefined: the server does not tell. Only with `always` every acknowledged write is in a file before its answer goes out. */
  readonly fsync: string | undefined
  /** What happens when `maxmemory` is reached; empty: there is no such limit. */
  readonly evicts: string
  /** `maxmemory`; undefined: there is no such limit. */
  readonly maxMemoryBytes: number | undefined
  readonly capabilities: FrontierCapabilities
}

/** Older servers lack options of commands that the scripts use. */
const LEAST_MAJOR = 6
const LEAST_MINOR = 2

/** Asks the server. Throws STORE_UNAVAILABLE when it is too old. */
export async function askServerFacts(
  connection: { ask(command: string, args: readonly string[]): Promise<unknown> },
  location: string,
): Promise<ServerFacts> {
  const facts = readServerFacts(String(await connection.ask('INFO', [])), location)
  // hosted servers refuse it
  const answer = await connection.ask('CONFIG', ['GET', 'appendfsync']).catch(() => undefined)
  const fsync = Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined
  return { ...facts, fsync }
}

/** From the answer to INFO. Throws STORE_UNAVAILABLE when the server is too old. */
export function readServerFacts(info: string, location: string): ServerFacts {
  const fields = parseInfo(info)
  const field = (name: string): string => fields.get(name) ?? ''
  // Valkey calls itself by the version of Redis that it is compatible with, and by its own in another field.
  const version = field('redis_version')
  if (!isNewEnough(version)) {
    const found = version === '' ? 'a server that tells no version' : version
    throw unavailable(location, `expected Redis ${LEAST_MAJOR}.${LEAST_MINOR} or newer, or Valkey, found ${found}`)
  }
  const appendOnly = field('aof_enabled') === '1'
  // None of our keys has a time to live: policies that evict only such keys cannot touch them.
  const limit = Number(field('maxmemory'))
  const mayEvict = limit > 0 && field('maxmemory_policy').startsWith('allkeys')
  const evicts = mayEvict ? field('maxmemory_policy') : ''
  const durable = appendOnly && !mayEvict
  const maxMemoryBytes = limit > 0 ? limit : undefined
  return {
    version,
    appendOnly,
    fsync: undefined,
    evicts,
    maxMemoryBytes,
    capabilities: { durable, shared: true, transactional: true, unpaced: true },
  }
}

function parseInfo(info: string): Map<string, string> {
  const lines = info.split(/\r?\n/).filter((line) => line.includes(':'))
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)]
    }),
  )
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)
}

/** Each a sentence for people who would otherwise lose a crawl. */
export function warningsOf({ appendOnly, fsync, evicts }: ServerFacts, location: string): string[] {
  const warnings: string[] = []
  if (!appendOnly) {
    warnings.push(
      `The server at ${location} keeps no append-only file: a crawl is lost when it stops. Set "appendonly yes" there`,
    )
  } else if (fsync !== undefined && fsync !== 'always') {
    warnings.push(
      `The server at ${location} answers before it has written (appendfsync ${fsync}): when it is killed, the last two ` +
        'seconds of a crawl may be lost and done again. Set "appendfsync always" there',
    )
  }
  if (evicts !== '') {
    warnings.push(
      `The server at ${location} throws keys away when its memory is full (maxmemory-policy ${evicts}): a crawl may lose ` +
        'pages. Set "maxmemory-policy noeviction" there',
    )
  }
  return warnings
}
