/** Entries of the cache as rows of a server, and back. */

import type { HeaderList } from '../../fetch/contract.ts'
import type { CacheEntry, NewCacheEntry } from '../contract.ts'
import { hostOf } from '../key.ts'
import type { CacheRow } from './tables.ts'

const HOUR_MS = 3_600_000

export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS)
}

interface Meta {
  readonly wireUrl?: string
  readonly method: string
  readonly status: number
  readonly fetchedAtMs: number
  readonly varied?: Readonly<Record<string, string>>
  readonly wireBytes: number
}

export interface RowBody {
  readonly bytes: number
  readonly digest: string | undefined
}

export function rowOf(entry: NewCacheEntry, body: RowBody, nowMs: number): CacheRow {
  const { key, url, wireUrl, method, status, headers, fetchedAtMs, checkedAtMs, varied, wireBytes } = entry
  const meta: Meta = {
    ...(wireUrl === undefined ? {} : { wireUrl }),
    method,
    status,
    fetchedAtMs: wholeMs(fetchedAtMs),
    ...(varied === undefined ? {} : { varied }),
    wireBytes,
  }
  return {
    key,
    url,
    host: hostOf(url),
    meta: JSON.stringify(meta),
    headers: formatHeaders(headers),
    checkedAtMs: wholeMs(checkedAtMs),
    usedHour: hourOf(nowMs),
    bodyBytes: body.bytes,
    digest: body.digest,
  }
}

/** Archives hold dates that no calendar has. */
export function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.round(ms) : 0
}

/** Undefined: somebody else has written the row. */
export function entryOf(row: CacheRow): CacheEntry | undefined {
  const { key, url, checkedAtMs, bodyBytes } = row
  const headers = parseHeaders(row.headers)
  const meta = parse(row.meta) as Meta | undefined
  if (headers === undefined || typeof meta !== 'object' || meta === null) return undefined
  return { key, url, ...meta, headers, checkedAtMs, bodyBytes }
}

/** Name, value, name, value: a third shorter than pairs. */
export function formatHeaders(headers: HeaderList): string {
  return JSON.stringify(headers.flat())
}

function parseHeaders(text: string): HeaderList | undefined {
  const flat = parse(text)
  if (!Array.isArray(flat)) return undefined
  const headers: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) headers.push([String(flat[at]), String(flat[at + 1])])
  return headers
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
