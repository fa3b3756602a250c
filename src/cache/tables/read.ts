/** Reading from a server: what is found is checked, and what is damaged is a miss. */

import { crc32 } from 'node:zlib'
import { checkReadable, unpackBody } from '../codec.ts'
import type { CachedAnswer, CacheFilter, CacheId, CacheListPage } from '../contract.ts'
import { hostOf, hostPrefixOf } from '../key.ts'
import { entryOf } from './rows.ts'
import { type Blob, type CacheRow, type CacheTables, type FoundRow, PART_BYTES } from './tables.ts'

export interface ReadAnswer {
  readonly answer: CachedAnswer
  readonly usedHour: number
}

/** Parts that are asked for at once. */
const PARTS_AT_ONCE = 4
const MAX_LOOKS = 5

export async function readAnswer(tables: CacheTables, { key, url }: CacheId): Promise<ReadAnswer | undefined> {
  // what is replaced while it is read seems to be damaged: only what is the same at two looks is
  let before: { readonly blob: Blob | undefined } | undefined
  for (let looks = 1; ; looks++) {
    const found = await tables.find(key)
    const entry = found === undefined || found.row.url !== url ? undefined : entryOf(found.row)
    if (found === undefined || entry === undefined) return undefined
    const { row, blob } = found
    if (blob !== undefined) checkReadable(blob.codec, url)
    const body = await readBody(tables, found)
    if (body !== undefined) return { answer: { entry, body }, usedHour: row.usedHour }
    if (before !== undefined && isSame(before.blob, blob)) {
      await tables.forgetBlob(row, blob)
      return undefined
    }
    if (looks === MAX_LOOKS) return undefined
    before = { blob }
  }
}

function isSame(one: Blob | undefined, other: Blob | undefined): boolean {
  return one?.upload === other?.upload && one?.crc === other?.crc
}

async function readBody(tables: CacheTables, { row, blob }: FoundRow): Promise<Uint8Array | undefined> {
  if (row.digest === undefined) return new Uint8Array(0)
  const data = blob === undefined ? undefined : (blob.data ?? (await readParts(tables, blob)))
  if (blob === undefined || data === undefined || data.length !== blob.packedBytes || crc32(data) !== blob.crc) {
    return undefined
  }
  return unpackBody({ codec: blob.codec, data }, row.bodyBytes)
}

async function readParts(tables: CacheTables, { upload, packedBytes }: Blob): Promise<Uint8Array | undefined> {
  if (upload === undefined) return undefined
  const parts: Uint8Array[] = []
  const count = Math.ceil(packedBytes / PART_BYTES)
  for (let from = 0; from < count; from += PARTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(PARTS_AT_ONCE, count - from) }, (_, n) => from + n)
    for (const part of await Promise.all(numbers.map((number) => tables.readPart(upload, number)))) {
      if (part === undefined) return undefined
      parts.push(part)
    }
  }
  return Buffer.concat(parts)
}

const SCAN_ROWS = 200
const LAST_KEY = 'f'.repeat(32)

export async function listEntries(
  tables: CacheTables,
  filter: CacheFilter,
  { cursor, max = 100 }: { readonly cursor?: string; readonly max?: number } = {},
): Promise<CacheListPage> {
  const host = filter.host ?? hostOfPrefix(filter.urlPrefix)
  const prefix = host === undefined ? '' : hostPrefixOf(host)
  const upTo = prefix + LAST_KEY.slice(prefix.length)
  const entries = []
  let after = cursor ?? prefix
  for (;;) {
    const rows = await tables.range({ after, upTo, limit: SCAN_ROWS })
    for (const row of rows) {
      after = row.key
      const entry = fits(row, filter) ? entryOf(row) : undefined
      if (entry !== undefined && entries.push(entry) >= max) return { entries, cursor: after }
    }
    if (rows.length < SCAN_ROWS) return { entries, cursor: undefined }
  }
}

/** Only a prefix that goes beyond the host tells it. */
function hostOfPrefix(prefix: string | undefined): string | undefined {
  const match = prefix === undefined ? null : /^https?:\/\/[^/?#]+[/?#]/.exec(prefix)
  return match === null ? undefined : hostOf(match[0])
}

function fits({ url, host }: CacheRow, filter: CacheFilter): boolean {
  return (
    (filter.host === undefined || host === filter.host) &&
    (filter.urlPrefix === undefined || url.startsWith(filter.urlPrefix))
  )
}
