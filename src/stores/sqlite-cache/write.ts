/** The writing steps of the packed cache; each runs inside a transaction. */

import { crc32 as nodeCrc32 } from 'node:zlib'
import type { PackedBody } from '../../cache/codec.ts'
import type { CacheRefresh, NewCacheEntry } from '../../cache/contract.ts'
import { entryValues, formatHeaders, keyBytes, PARTS, type Statements } from './rows.ts'

/** Bytes of one part: what one transaction writes of a large body. */
export const PART_BYTES = 512 * 1024

const MINUTE_MS = 60_000

/** Hours since the epoch, in steps of a minute: a page that is used all the time is not written all the time. */
export function hourOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS) / 60
}

export function checksumOf(data: Uint8Array): number {
  return nodeCrc32(data)
}

export interface NewBody {
  readonly hash: Uint8Array
  readonly packed: PackedBody
  readonly bodyBytes: number
  readonly nowMs: number
}

/** The id of a body that is there already, whole. */
export function findBody(sql: Statements, hash: Uint8Array): number | undefined {
  const row = sql.bodyOfHash.get(hash) as { id: number } | undefined
  return row?.id
}

/** A body of one part, unless it is there already. */
export function putBody(sql: Statements, body: NewBody): number {
  const found = findBody(sql, body.hash)
  if (found !== undefined) return found
  const id = beginBody(sql, body, body.hash)
  putPart(sql, { id, number: 0, data: body.packed.data })
  return id
}

/** With hash null it counts as unfinished, and nobody finds it. */
export function beginBody(sql: Statements, body: NewBody, hash: Uint8Array | null): number {
  const { packed, bodyBytes, nowMs } = body
  const crc = checksumOf(packed.data)
  const result = sql.insertBody.run(hash, packed.codec, crc, bodyBytes, packed.data.length, Math.round(nowMs))
  return Number(result.lastInsertRowid)
}

export function putPart(sql: Statements, part: { id: number; number: number; data: Uint8Array }): void {
  sql.insertPart.run(part.id * PARTS + part.number, part.data)
}

/** Makes an unfinished body one that is found; or gives the id of the same body that another finished meanwhile. */
export function finishBody(sql: Statements, id: number, hash: Uint8Array): number {
  const found = findBody(sql, hash)
  if (found === undefined) sql.finishBody.run(hash, id)
  else removeBody(sql, id)
  return found ?? id
}

export interface EntryPut {
  readonly entry: NewCacheEntry
  readonly body: number | null
  readonly bodyBytes: number
  readonly nowMs: number
}

/** Inserts or replaces; the replaced entry's body goes when nobody else has it. */
export function putEntry(sql: Statements, { entry, body, bodyBytes, nowMs }: EntryPut): void {
  const key = keyBytes(entry.key)
  const before = sql.idOfKey.get(key) as { id: number; body: number | null } | undefined
  const values = entryValues(entry, body, bodyBytes)
  let id: number
  if (before === undefined) {
    id = Number(sql.insertEntry.run(key, ...values).lastInsertRowid)
  } else {
    id = before.id
    sql.updateEntry.run(...values, id)
    if (before.body !== null && before.body !== body) removeUnusedBody(sql, before.body)
  }
  sql.setAge.run(id, Math.round(entry.checkedAtMs), hourOf(nowMs))
}

export function refreshEntry(sql: Statements, key: string, change: CacheRefresh & { readonly nowMs: number }): boolean {
  const found = sql.idOfKey.get(keyBytes(key)) as { id: number } | undefined
  if (found === undefined) return false
  sql.setHeaders.run(formatHeaders(change.headers), found.id)
  sql.setChecked.run(Math.round(change.checkedAtMs), hourOf(change.nowMs), found.id)
  return true
}

export function removeByKey(sql: Statements, key: string): boolean {
  const found = sql.idOfKey.get(keyBytes(key)) as { id: number; body: number | null } | undefined
  if (found === undefined) return false
  removeEntry(sql, found.id, found.body)
  return true
}

export function removeEntry(sql: Statements, id: number, body: number | null): void {
  sql.deleteEntry.run(id)
  sql.deleteAge.run(id)
  if (body !== null) removeUnusedBody(sql, body)
}

/** A damaged body takes all its entries along: none of them can be answered. */
export function removeDamaged(sql: Statements, body: number, crc: number): void {
  // The id may be another body's by now.
  if ((sql.crcOfBody.get(body) as { crc: number } | undefined)?.crc !== crc) return
  for (const { id } of sql.entriesOfBody.all(body) as { id: number }[]) {
    sql.deleteEntry.run(id)
    sql.deleteAge.run(id)
  }
  removeBody(sql, body)
}

function removeUnusedBody(sql: Statements, body: number): void {
  if (sql.isBodyUsed.get(body) === undefined) removeBody(sql, body)
}

export function removeBody(sql: Statements, body: number): void {
  sql.deleteBody.run(body)
  sql.deleteParts.run(body * PARTS, (body + 1) * PARTS)
}
