/** The reading steps of the packed cache. */

import { stat } from 'node:fs/promises'
import { checkReadable, type PackedBody, unpackBody } from '../../cache/codec.ts'
import type {
  CacheCounts,
  CachedAnswer,
  CacheFilter,
  CacheId,
  CacheListPage,
  CacheStats,
} from '../../cache/contract.ts'
import { hostOf, hostPrefixOf } from '../../cache/key.ts'
import type { FindRow } from './finder.ts'
import { type EntryRow, entryOf, type FoundRow, keyBytes, PARTS, type Statements } from './rows.ts'
import { type CacheState, nextTurn } from './state.ts'
import { checksumOf, PART_BYTES } from './write.ts'

export type Found =
  | { readonly kind: 'answer'; readonly id: number; readonly usedHour: number; readonly answer: CachedAnswer }
  | { readonly kind: 'missing' }
  /** The body is not what was written. */
  | { readonly kind: 'damaged'; readonly body: number; readonly crc: number }

export interface Reading {
  readonly sql: Statements
  readonly find: FindRow
}

export async function readAnswer({ sql, find }: Reading, { key, url }: CacheId): Promise<Found> {
  const row = await find(key)
  const entry = row === undefined || row.url !== url ? undefined : entryOf(key, row)
  if (row === undefined || entry === undefined) return { kind: 'missing' }
  const found = (body: Uint8Array): Found => ({
    kind: 'answer',
    id: row.id,
    usedHour: row.used_h,
    answer: { entry, body },
  })
  if (row.body === null) return found(new Uint8Array(0))
  const { codec, crc } = row
  if (codec === null || crc === null) return { kind: 'missing' }
  checkReadable(codec, url)
  const data = await readParts(sql, row)
  const body = data === undefined ? undefined : await unpackChecked({ codec, data }, { crc, bodyBytes: row.body_bytes })
  return body === undefined ? { kind: 'damaged', body: row.body, crc } : found(body)
}

function unpackChecked(
  packed: PackedBody,
  expected: { readonly crc: number; readonly bodyBytes: number },
): ReturnType<typeof unpackBody> {
  return checksumOf(packed.data) === expected.crc ? unpackBody(packed, expected.bodyBytes) : undefined
}

async function readParts(sql: Statements, row: FoundRow): Promise<Uint8Array | undefined> {
  const { body, data, packed_bytes: bytes } = row
  if (body === null || data === null || bytes === null) return undefined
  if (bytes <= data.length) return data.length === bytes ? data : undefined
  const parts = [data]
  for (let number = 1; number * PART_BYTES < bytes; number += 1) {
    await nextTurn()
    const part = sql.part.get(body * PARTS + number) as { data: Uint8Array } | undefined
    if (part === undefined) return undefined
    parts.push(part.data)
  }
  const whole = Buffer.concat(parts)
  return whole.length === bytes ? whole : undefined
}

const SCAN_ROWS = 200
const LAST_KEY = 'f'.repeat(32)

export async function listEntries(
  sql: Statements,
  filter: CacheFilter,
  { cursor, max = 100 }: { readonly cursor?: string; readonly max?: number } = {},
): Promise<CacheListPage> {
  const host = filter.host ?? hostOfPrefix(filter.urlPrefix)
  const prefix = host === undefined ? '' : hostPrefixOf(host)
  const upper = keyBytes(prefix + LAST_KEY.slice(prefix.length))
  const entries = []
  let after = cursor ?? prefix
  for (;;) {
    const rows = sql.range.all(keyBytes(after), upper, SCAN_ROWS) as (EntryRow & { readonly key: Uint8Array })[]
    for (const row of rows) {
      after = Buffer.from(row.key).toString('hex')
      const entry = fits(row.url, filter) ? entryOf(after, row) : undefined
      if (entry !== undefined && entries.push(entry) >= max) return { entries, cursor: after }
    }
    if (rows.length < SCAN_ROWS) return { entries, cursor: undefined }
    await nextTurn()
  }
}

/** Only a prefix that goes beyond the host tells it. */
function hostOfPrefix(prefix: string | undefined): string | undefined {
  const match = prefix === undefined ? null : /^https?:\/\/[^/?#]+[/?#]/.exec(prefix)
  return match === null ? undefined : hostOf(match[0])
}

function fits(url: string, { host, urlPrefix }: CacheFilter): boolean {
  return (host === undefined || hostOf(url) === host) && (urlPrefix === undefined || url.startsWith(urlPrefix))
}

export async function readStats({ sql, file }: CacheState): Promise<CacheStats> {
  const entries = sql.entryTotals.get() as { entries: number; bytes: number }
  await nextTurn()
  const bodies = sql.bodyTotals.get() as { bodies: number; bytes: number }
  await nextTurn()
  const range = sql.ageRange.get() as { oldest: number | null; newest: number | null }
  await nextTurn()
  const hosts = sql.hosts.all() as { entries: number; bytes: number; url: string }[]
  return {
    entries: entries.entries,
    bodies: bodies.bodies,
    bodyBytes: entries.bytes,
    packedBytes: bodies.bytes,
    diskBytes: await diskBytesOf(file),
    oldestMs: range.oldest ?? undefined,
    newestMs: range.newest ?? undefined,
    counts: readCounts(sql),
    hosts: hosts.map(({ url, entries: n, bytes }) => ({ host: hostOf(url), entries: n, bodyBytes: bytes })),
  }
}

function readCounts(sql: Statements): CacheCounts {
  const rows = sql.counts.all() as { name: string; n: number }[]
  const of = (name: keyof CacheCounts): number => rows.find((row) => row.name === name)?.n ?? 0
  return { hits: of('hits'), revalidated: of('revalidated'), misses: of('misses'), savedBytes: of('savedBytes') }
}

async function diskBytesOf(file: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal', '-shm'].map(async (ending) => {
      try {
        return (await stat(file + ending)).size
      } catch {
        return 0
      }
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
