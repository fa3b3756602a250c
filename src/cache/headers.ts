/** Header lists of the cache: validators, merging a 304, what Vary names. */

import { createHash } from 'node:crypto'
import type { HeaderList } from '../fetch/contract.ts'

/** First value of a header, or undefined. `name` in lower case. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (const [key, value] of headers) if (key === name) return value
  return undefined
}

/** `If-None-Match` and `If-Modified-Since` with the values exactly as they came; empty: the server gave none. */
export function validatorsOf(headers: HeaderList): Readonly<Record<string, string>> {
  const etag = headerOf(headers, 'etag')
  const modified = headerOf(headers, 'last-modified')
  return {
    ...(etag === undefined || etag === '' ? {} : { 'if-none-match': etag }),
    ...(modified === undefined || modified === '' ? {} : { 'if-modified-since': modified }),
  }
}

/** Of one connection, or about the body that is kept: a 304 does not change them (RFC 9111, 3.2). */
const NOT_UPDATED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The kept headers with those that a 304 brought in place of their namesakes. */
export function mergeHeaders(kept: HeaderList, update: HeaderList): HeaderList {
  const fresh = update.filter(([name]) => !NOT_UPDATED.has(name))
  const names = new Set(fresh.map(([name]) => name))
  return [...kept.filter(([name]) => !names.has(name)), ...fresh]
}

/** One value a name, as http-cache-semantics wants them; repeated fields joined. */
export function headerRecord(headers: HeaderList): Record<string, string> {
  const record: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of headers) {
    const before = record[name]
    record[name] = before === undefined ? value : `${before}, ${value}`
  }
  return record
}

/** The fetcher decides these anew for every request, and undoes the coding: no reason to keep variants. */
const FETCHER_OWN = new Set(['accept-encoding', 'user-agent', 'host', 'connection'])
/** Pages seen with credentials are never shown to others, whatever Vary says. */
const CREDENTIALS = ['authorization', 'cookie'] as const

export interface VaryOptions {
  readonly headers: HeaderList
  readonly request: Readonly<Record<string, string>>
}

/** The request headers that an answer depended on: those that Vary names, and credentials. Undefined: none. */
export function variedOf({ headers, request }: VaryOptions): Readonly<Record<string, string>> | undefined {
  const names = new Set<string>()
  for (const [name, value] of headers) {
    if (name !== 'vary') continue
    for (const token of value.toLowerCase().split(',')) names.add(token.trim())
  }
  const varied: Record<string, string> = {}
  for (const name of [...names].filter(isVariant).toSorted()) varied[name] = digestOf(request[name])
  for (const name of CREDENTIALS) if (request[name] !== undefined) varied[name] = digestOf(request[name])
  return Object.keys(varied).length === 0 ? undefined : varied
}

function isVariant(name: string): boolean {
  return name !== '*' && !FETCHER_OWN.has(name) && /^[!#$%&'*+\-.^_`|~0-9a-z]{1,100}$/.test(name)
}

/** Does a request carry what the answer depended on, and no credentials beside? */
export function fitsVaried(
  varied: Readonly<Record<string, string>> | undefined,
  request: Readonly<Record<string, string>>,
): boolean {
  const wanted = varied ?? {}
  if (CREDENTIALS.some((name) => request[name] !== undefined && wanted[name] === undefined)) return false
  return Object.entries(wanted).every(([name, digest]) => digestOf(request[name]) === digest)
}

/** Stable text for the key of a variant. */
export function variantOf(names: readonly string[], request: Readonly<Record<string, string>>): string {
  const all = new Set([...names, ...CREDENTIALS.filter((name) => request[name] !== undefined)])
  return [...all]
    .toSorted()
    .map((name) => `${name}=${digestOf(request[name])}`)
    .join('&')
}

/** Not the value: a cache must not be a place to read passwords from. */
function digestOf(value: string | undefined): string {
  return value === undefined ? '' : createHash('sha256').update(value).digest('base64url').slice(0, 22)
}
