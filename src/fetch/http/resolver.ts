/** Names to addresses with a TTL cache: one question a name at a time, few at once on the thread pool. */

import dns from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import { faultError } from './faults.ts'

export interface Resolver {
  /** Addresses of both families, IPv4 first; rejects with a `dns` fault when there is none. Literals resolve to themselves. */
  resolve(host: string): Promise<readonly string[]>
}

/** What asks the network: replaced in tests by a table. */
export interface NameSource {
  /** Answers of one record type, or a rejection with `code`. */
  query(host: string, family: 4 | 6): Promise<readonly { readonly address: string; readonly ttl: number }[]>
  /** The operating system's own answer: hosts file, search domains, mDNS. Runs on the thread pool. */
  lookup(host: string): Promise<readonly string[]>
  /** The hosts file, or '' where there is none. */
  hostsFile(): Promise<string>
}

export interface ResolverOptions {
  readonly clock: Clock
  readonly source?: NameSource
  /** Names kept. Default 10,000; the least recently asked go first. */
  readonly maxEntries?: number
}

// A record may ask for less or more; a crawl needs neither a question a second nor an address of yesterday.
const MIN_TTL_MS = 30_000
const MAX_TTL_MS = 3_600_000
/** The operating system does not say how long its answer holds. */
const LOOKUP_TTL_MS = 60_000
const NEGATIVE_TTL_MS = 10_000
/** getaddrinfo holds a thread of the pool of four, which files and zlib need too. */
const MAX_LOOKUPS = 2

interface Entry {
  readonly expiresMs: number
  readonly answer: Promise<readonly string[]>
}

interface Answer {
  readonly addresses: readonly string[]
  readonly ttlMs: number
}

export function createResolver(options: ResolverOptions): Resolver {
  const { clock } = options
  const source = options.source ?? systemSource()
  const maxEntries = options.maxEntries ?? 10_000
  const cache = new Map<string, Entry>()
  const withSlot = limiter(MAX_LOOKUPS)
  let hosts: Promise<ReadonlyMap<string, readonly string[]>> | undefined

  const store = (host: string, entry: Entry): void => {
    cache.delete(host)
    cache.set(host, entry)
    for (const oldest of cache.keys()) {
      if (cache.size <= maxEntries) break
      cache.delete(oldest)
    }
  }
  const ask = async (host: string): Promise<readonly string[]> => {
    hosts ??= source.hostsFile().then(parseHostsFile)
    const keep = ({ addresses, ttlMs }: Answer): readonly string[] => {
      store(host, { expiresMs: clock.monotonicMs() + ttlMs, answer: Promise.resolve(addresses) })
      return addresses
    }
    const fixed = (await hosts).get(host)
    if (fixed !== undefined) return keep({ addresses: fixed, ttlMs: MAX_TTL_MS })
    return keep((await queryBoth(source, host)) ?? (await withSlot(() => lookup(source, host))))
  }
  return {
    resolve: async (asked) => {
      const host = asked.toLowerCase().replace(/\.$/, '')
      if (isIP(host) !== 0) return [host]
      const known = cache.get(host)
      if (known !== undefined && known.expiresMs > clock.monotonicMs()) {
        store(host, known)
        return await known.answer
      }
      const answer = ask(host)
      // In flight it never expires: all who ask share it. Its failure is kept a short while.
      store(host, { expiresMs: Number.POSITIVE_INFINITY, answer })
      answer.catch(() => {
        store(host, { expiresMs: clock.monotonicMs() + NEGATIVE_TTL_MS, answer })
      })
      return await answer
    },
  }
}

async function queryBoth(source: NameSource, host: string): Promise<Answer | undefined> {
  // Names without a dot and names of this machine are the operating system's business.
  if (!host.replace(/\.$/, '').includes('.') || /\.(?:localhost|local)\.?$/.test(host)) return undefined
  const answers = await Promise.allSettled([source.query(host, 4), source.query(host, 6)])
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (records.length === 0) return undefined
  const ttlMs = Math.min(...records.map((record) => record.ttl)) * 1000
  return {
    addresses: records.map((record) => record.address).slice(0, 16),
    ttlMs: Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs)),
  }
}

async function lookup(source: NameSource, host: string): Promise<Answer> {
  try {
    const addresses = await source.lookup(host)
    if (addresses.length > 0) return { addresses: addresses.slice(0, 16), ttlMs: LOOKUP_TTL_MS }
  } catch (error) {
    const code = String((error as { readonly code?: unknown } | null)?.code ?? 'no answer')
    throw faultError({ failure: 'dns', error: `the name ${host} does not resolve (${code})` }, error)
  }
  throw faultError({ failure: 'dns', error: `the name ${host} has no address` })
}

/** Name to addresses. Comments, blank lines and lines that are none are passed over. */
export function parseHostsFile(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.slice(0, 1_000_000).split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? []
      if (!known.includes(address)) known.push(address)
      hosts.set(name.toLowerCase(), known)
    }
  }
  return hosts
}

function limiter(max: number): <T>(run: () => Promise<T>) => Promise<T> {
  let free = max
  const waiting: (() => void)[] = []
  return async (run) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

function systemSource(): NameSource {
  // c-ares asks over its own sockets: thousands of names need no thread. Two tries of two seconds, then the system is asked.
  const resolver = new dns.promises.Resolver({ timeout: 2000, tries: 2 })
  return {
    query: (host, family) =>
      family === 4 ? resolver.resolve4(host, { ttl: true }) : resolver.resolve6(host, { ttl: true }),
    lookup: async (host) => {
      const found = await dns.promises.lookup(host, { all: true, verbatim: false })
      return found.map((each) => each.address)
    },
    hostsFile: async () => await readFile('/etc/hosts', 'utf8').catch(() => ''),
  }
}
