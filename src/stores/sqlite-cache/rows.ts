/** Every statement of the packed cache, and how rows become entries. */

import type { CacheEntry, NewCacheEntry } from '../../cache/contract.ts'
import type { HeaderList } from '../../fetch/contract.ts'
import type { SqlDatabase, SqlStatement } from './driver.ts'

/** `part.id = body × PARTS + number`: a body has at most so many parts. */
export const PARTS = 1024

/** Without the key, which who asks for one entry knows. */
const ENTRY_COLUMNS =
  'e.id, e.url, e.wire_url, e.method, e.status, e.headers, e.varied, e.fetched_ms, e.body, e.body_bytes, e.wire_bytes, a.checked_ms, a.used_h'

const SQL = {
  find: `SELECT ${ENTRY_COLUMNS}, b.codec, b.crc, b.packed_bytes, p.data FROM entry e JOIN age a ON a.id = e.id
    LEFT JOIN body b ON b.id = e.body LEFT JOIN part p ON p.id = e.body * ${PARTS} WHERE e.key = ?`,
  head: `SELECT ${ENTRY_COLUMNS} FROM entry e JOIN age a ON a.id = e.id WHERE e.key = ?`,
  range: `SELECT ${ENTRY_COLUMNS}, e.key FROM entry e JOIN age a ON a.id = e.id WHERE e.key > ? AND e.key <= ? ORDER BY e.key LIMIT ?`,
  part: 'SELECT data FROM part WHERE id = ?',
  idOfKey: 'SELECT id, body FROM entry WHERE key = ?',
  insertEntry: `INSERT INTO entry(key, url, wire_url, method, status, headers, varied, fetched_ms, body, body_bytes, wire_bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  updateEntry: `UPDATE entry SET url = ?, wire_url = ?, method = ?, status = ?, headers = ?, varied = ?, fetched_ms = ?, body = ?,
    body_bytes = ?, wire_bytes = ? WHERE id = ?`,
  setAge: `INSERT INTO age(id, checked_ms, used_h) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET checked_ms = excluded.checked_ms, used_h = excluded.used_h`,
  setUsed: 'UPDATE age SET used_h = ? WHERE id = ? AND used_h < ?',
  setHeaders: 'UPDATE entry SET headers = ? WHERE id = ?',
  setChecked: 'UPDATE age SET checked_ms = ?, used_h = max(used_h, ?) WHERE id = ?',
  bodyOfHash: 'SELECT id FROM body WHERE hash = ?',
  insertBody: 'INSERT INTO body(hash, codec, crc, body_bytes, packed_bytes, begun_ms) VALUES (?, ?, ?, ?, ?, ?)',
  finishBody: 'UPDATE body SET hash = ? WHERE id = ?',
  insertPart: 'INSERT INTO part(id, data) VALUES (?, ?)',
  deleteEntry: 'DELETE FROM entry WHERE id = ?',
  deleteAge: 'DELETE FROM age WHERE id = ?',
  isBodyUsed: 'SELECT 1 AS used FROM entry WHERE body = ? LIMIT 1',
  entriesOfBody: 'SELECT id FROM entry WHERE body = ?',
  deleteBody: 'DELETE FROM body WHERE id = ?',
  deleteParts: `DELETE FROM part WHERE id >= ? AND id < ?`,
  unfinished: 'SELECT id FROM body WHERE hash IS NULL AND begun_ms < ? LIMIT 100',
  ages: 'SELECT id, checked_ms, used_h FROM age WHERE id > ? ORDER BY id LIMIT ?',
  isOlder: 'SELECT e.body FROM entry e JOIN age a ON a.id = e.id WHERE e.id = ? AND a.checked_ms < ?',
  isIdle: 'SELECT e.body FROM entry e JOIN age a ON a.id = e.id WHERE e.id = ? AND a.used_h <= ?',
  crcOfBody: 'SELECT crc FROM body WHERE id = ?',
  addCount: 'INSERT INTO count(name, n) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET n = n + excluded.n',
  counts: 'SELECT name, n FROM count',
  entryTotals: 'SELECT count(*) AS entries, total(body_bytes) AS bytes FROM entry',
  ageRange: 'SELECT min(checked_ms) AS oldest, max(checked_ms) AS newest FROM age',
  bodyTotals: 'SELECT count(*) AS bodies, total(packed_bytes) AS bytes FROM body WHERE hash IS NOT NULL',
  hosts: `SELECT count(*) AS entries, total(body_bytes) AS bytes, min(url) AS url FROM entry
    GROUP BY substr(key, 1, 4) ORDER BY entries DESC LIMIT 100`,
} as const

export type Statements = Readonly<Record<keyof typeof SQL, SqlStatement>>

export function prepareStatements(database: SqlDatabase): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)])
  return Object.fromEntries(prepared) as Statements
}

export interface EntryRow {
  readonly id: number
  readonly url: string
  readonly wire_url: string | null
  readonly method: string
  readonly status: number
  readonly headers: string
  readonly varied: string | null
  readonly fetched_ms: number
  readonly body: number | null
  readonly body_bytes: number
  readonly wire_bytes: number
  readonly checked_ms: number
  readonly used_h: number
}

export interface FoundRow extends EntryRow {
  readonly codec: number | null
  readonly crc: number | null
  readonly packed_bytes: number | null
  readonly data: Uint8Array | null
}

export function entryOf(key: string, row: EntryRow): CacheEntry | undefined {
  const headers = parseHeaders(row.headers)
  if (headers === undefined) return undefined
  // filled one by one: nearly all entries then have one shape
  const entry: { -readonly [K in keyof CacheEntry]: CacheEntry[K] } = {
    key,
    url: row.url,
    method: row.method,
    status: row.status,
    headers,
    fetchedAtMs: row.fetched_ms,
    checkedAtMs: row.checked_ms,
    bodyBytes: row.body_bytes,
    wireBytes: row.wire_bytes,
  }
  if (row.wire_url !== null) entry.wireUrl = row.wire_url
  if (row.varied !== null) entry.varied = JSON.parse(row.varied) as Record<string, string>
  return entry
}

/** Name, value, name, value: a third shorter than pairs. */
export function formatHeaders(headers: HeaderList): string {
  return JSON.stringify(headers.flat())
}

function parseHeaders(text: string): HeaderList | undefined {
  try {
    const flat = JSON.parse(text) as readonly string[]
    const headers: [string, string][] = []
    for (let at = 0; at + 1 < flat.length; at += 2) headers.push([String(flat[at]), String(flat[at + 1])])
    return headers
  } catch {
    return undefined
  }
}

export function entryValues(entry: NewCacheEntry, body: number | null, bodyBytes: number): EntryValues {
  return [
    entry.url,
    entry.wireUrl ?? null,
    entry.method,
    entry.status,
    formatHeaders(entry.headers),
    entry.varied === undefined ? null : JSON.stringify(entry.varied),
    Math.round(entry.fetchedAtMs),
    body,
    bodyBytes,
    entry.wireBytes,
  ]
}

type EntryValues = (string | number | null)[]

/** 32 hexadecimal digits to 16 bytes. */
export function keyBytes(key: string): Uint8Array {
  return Buffer.from(key, 'hex')
}
