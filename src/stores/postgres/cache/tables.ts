/** The download cache in PostgreSQL: what each of its steps asks of the server. */

import type { CacheTables, CacheTotals, FoundRow, CacheRow } from '../../../cache/tables/tables.ts'
import { UPLOAD_MS } from '../../../cache/tables/tables.ts'
import type { Connection } from '../connection.ts'
import type { Link } from '../link.ts'

const PAGE = `p.key, p.url, p.host, p.meta, p.headers, p.checked_ms AS "checkedAtMs", p.used_h AS "usedHour",
  p.body_bytes AS "bodyBytes", p.digest`
const BLOB = 'b.codec, b.crc, b.packed_bytes AS "packedBytes", b.data, b.upload'

const SQL = {
  find: `SELECT ${PAGE}, ${BLOB} FROM @cache_pages p LEFT JOIN @cache_blobs b ON b.id = p.blob WHERE p.key = $1::bytea`,
  head: `SELECT ${PAGE} FROM @cache_pages p WHERE p.key = $1::bytea`,
  hasBlob: 'SELECT 1 FROM @cache_blobs WHERE digest = $1::bytea',
  begin: 'INSERT INTO @cache_uploads(begun_ms) VALUES ($1::float8) RETURNING id',
  writePart: `INSERT INTO @cache_parts VALUES ($1::bigint, $2::int, $3::bytea) ON CONFLICT (upload, number) DO UPDATE
    SET data = excluded.data`,
  readPart: 'SELECT data FROM @cache_parts WHERE upload = $1::bigint AND number = $2::int',
  put: `SELECT @cache_put($1::bytea, $2, $3, $4, $5, $6::float8, $7::int, $8::bigint, $9::bytea, $10::int, $11::bigint,
    $12::bigint, $13::bytea, $14::bigint) AS done`,
  refresh: `UPDATE @cache_pages SET headers = $2, checked_ms = $3::float8, used_h = greatest(used_h, $4::int)
    WHERE key = $1::bytea RETURNING 1`,
  remove: 'SELECT @cache_remove($1::text[], $2::float8, $3::int) AS n',
  // the blob is locked before the function looks: one that was put since then stays
  forget: `SELECT @cache_forget($1::bytea, $2::bytea, $3::bigint) FROM (SELECT 1 FROM @cache_blobs
    WHERE digest = $2::bytea AND upload IS NOT DISTINCT FROM $4::bigint FOR UPDATE) b`,
  forgetPage: 'SELECT @cache_forget($1::bytea, $2::bytea, NULL)',
  range: `SELECT ${PAGE} FROM @cache_pages p WHERE p.key > $1::bytea AND p.key <= $2::bytea ORDER BY p.key LIMIT $3::int`,
  checkedBefore: `SELECT encode(key, 'hex') AS key FROM @cache_pages WHERE checked_ms < $1::float8 ORDER BY checked_ms
    LIMIT $2::int`,
  leastUsed: `SELECT encode(key, 'hex') AS key, used_h AS "usedHour" FROM @cache_pages ORDER BY used_h, key LIMIT $1::int`,
  use: `UPDATE @cache_pages p SET used_h = n.h FROM (SELECT p.key, x.h FROM json_to_recordset($1::json) AS x(k text, h int)
    JOIN @cache_pages p ON p.key = decode(x.k, 'hex') AND p.used_h < x.h FOR UPDATE OF p SKIP LOCKED) n WHERE p.key = n.key`,
  count: `UPDATE @cache_sums SET hits = hits + $1::bigint, revalidated = revalidated + $2::bigint,
    misses = misses + $3::bigint, saved_bytes = saved_bytes + $4::bigint WHERE slot = pg_backend_pid() % 16`,
  size: 'SELECT sum(pages)::bigint AS rows, sum(bytes)::bigint AS bytes FROM @cache_sums',
  sums: `SELECT sum(pages)::bigint AS rows, sum(blobs)::bigint AS blobs, sum(body_bytes)::bigint AS "bodyBytes",
    sum(packed_bytes)::bigint AS "packedBytes", sum(bytes)::bigint AS bytes, sum(hits)::bigint AS hits,
    sum(revalidated)::bigint AS revalidated, sum(misses)::bigint AS misses, sum(saved_bytes)::bigint AS "savedBytes"
    FROM @cache_sums`,
  ages: 'SELECT min(checked_ms) AS oldest, max(checked_ms) AS newest FROM @cache_pages',
  hosts: `SELECT host, count(*) AS entries, sum(body_bytes)::bigint AS "bodyBytes" FROM @cache_pages GROUP BY host
    ORDER BY count(*) DESC, host LIMIT 100`,
  someBlobs: 'SELECT id FROM @cache_blobs WHERE id > $1::bigint ORDER BY id LIMIT $2::int',
  dropUnused: `SELECT @cache_drop(ARRAY(SELECT b.id FROM @cache_blobs b WHERE b.id > $1::bigint AND b.id <= $2::bigint
    AND NOT EXISTS (SELECT 1 FROM @cache_pages p WHERE p.blob = b.id)))`,
  dropUploads: `WITH old AS (DELETE FROM @cache_uploads WHERE begun_ms < $1::float8 RETURNING id)
    DELETE FROM @cache_parts p USING old WHERE p.upload = old.id`,
} as const

/** Blobs that are looked at in one step of a sweep: some milliseconds. */
const SWEPT_BLOBS = 1000

export function createPostgresTables(link: Link, location: string): CacheTables {
  const rows = <Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> =>
    link.run((connection: Connection) => connection.rows<Row>(sql, ...values))
  let sweptTo = 0
  return {
    location,
    find: async (key) => {
      const [row] = await rows<FoundColumns>(SQL.find, bytesOf(key))
      return row === undefined ? undefined : foundOf(row)
    },
    head: async (key) => (await rows<PageColumns>(SQL.head, bytesOf(key))).map(rowOf)[0],
    hasBlob: async (digest) => (await rows(SQL.hasBlob, bytesOf(digest))).length > 0,
    beginUpload: async (nowMs) => String((await rows<{ readonly id: number }>(SQL.begin, nowMs))[0]?.id),
    writePart: async (upload, number, data) => {
      await rows(SQL.writePart, upload, number, data)
    },
    readPart: async (upload, number) => {
      const [row] = await rows<{ readonly data: string }>(SQL.readPart, upload, number)
      return row === undefined ? undefined : bytesIn(row.data)
    },
    put: async (row, blob) => {
      const { key, url, host, meta, headers, checkedAtMs, usedHour, bodyBytes, digest } = row
      const page = [bytesOf(key), url, host, meta, headers, checkedAtMs, usedHour, bodyBytes]
      const body = [digest === undefined ? null : bytesOf(digest), blob?.codec, blob?.crc, blob?.packedBytes]
      const [answer] = await rows<{ readonly done: boolean }>(SQL.put, ...page, ...body, blob?.data, blob?.upload)
      return answer?.done === true
    },
    refresh: async (key, { headers, checkedAtMs, usedHour }) =>
      (await rows(SQL.refresh, bytesOf(key), headers, checkedAtMs, usedHour)).length > 0,
    remove: async (keys, { checkedBeforeMs = null, usedHourAtMost = null }) => {
      const [row] = await rows<{ readonly n: number }>(SQL.remove, [...keys], checkedBeforeMs, usedHourAtMost)
      return row?.n ?? 0
    },
    forgetBlob: async ({ key, digest = '' }, blob) => {
      if (blob === undefined) await rows(SQL.forgetPage, bytesOf(key), bytesOf(digest))
      else await rows(SQL.forget, bytesOf(key), bytesOf(digest), blob.crc, blob.upload ?? null)
    },
    range: async ({ after, upTo, limit }) =>
      (await rows<PageColumns>(SQL.range, bytesOf(after), bytesOf(upTo), limit)).map(rowOf),
    checkedBefore: async (ms, limit) =>
      (await rows<{ readonly key: string }>(SQL.checkedBefore, ms, limit)).map(({ key }) => key),
    leastUsed: (limit) => rows(SQL.leastUsed, limit),
    note: async (uses, { hits = 0, revalidated = 0, misses = 0, savedBytes = 0 }) => {
      if (uses.size > 0) await rows(SQL.use, JSON.stringify([...uses].map(([k, h]) => ({ k, h }))))
      if (hits + revalidated + misses + savedBytes > 0) await rows(SQL.count, hits, revalidated, misses, savedBytes)
    },
    size: async () => (await rows<{ readonly rows: number; readonly bytes: number }>(SQL.size))[0] ?? NOTHING,
    totals: () => readTotals(rows),
    sweep: async ({ nowMs, isOver }) => {
      await rows(SQL.dropUploads, nowMs - UPLOAD_MS)
      while (!isOver()) {
        const last = (await rows<{ readonly id: number }>(SQL.someBlobs, sweptTo, SWEPT_BLOBS)).at(-1)
        if (last !== undefined) await rows(SQL.dropUnused, sweptTo, last.id)
        sweptTo = last?.id ?? 0
        if (last === undefined) break
      }
    },
    close: () => link.close(),
  }
}

const NOTHING = { rows: 0, bytes: 0 }

/** A `bytea` comes as text. */
interface PageColumns extends Omit<CacheRow, 'digest'> {
  readonly digest: string | null
}

interface FoundColumns extends PageColumns {
  readonly codec: number | null
  readonly crc: number
  readonly packedBytes: number
  readonly data: string | null
  readonly upload: number | null
}

function rowOf(columns: PageColumns): CacheRow {
  const { url, host, meta, headers, checkedAtMs, usedHour, bodyBytes } = columns
  const key = columns.key.slice(HEX_MARK.length)
  const digest = columns.digest?.slice(HEX_MARK.length)
  return { key, url, host, meta, headers, checkedAtMs, usedHour, bodyBytes, digest }
}

function foundOf(columns: FoundColumns): FoundRow {
  const { codec, crc, packedBytes, data, upload } = columns
  if (codec === null) return { row: rowOf(columns), blob: undefined }
  const blob = {
    codec,
    crc,
    packedBytes,
    data: data === null ? undefined : bytesIn(data),
    upload: upload === null ? undefined : String(upload),
  }
  return { row: rowOf(columns), blob }
}

const HEX_MARK = '\\x'

function bytesIn(text: string): Uint8Array {
  return Buffer.from(text.slice(HEX_MARK.length), 'hex')
}

function bytesOf(digits: string): Buffer {
  return Buffer.from(digits, 'hex')
}

type Rows = <Row>(sql: string, ...values: readonly unknown[]) => Promise<Row[]>

async function readTotals(rows: Rows): Promise<CacheTotals> {
  const [sums] = await rows<Record<string, number>>(SQL.sums)
  const [ages] = await rows<{ readonly oldest: number | null; readonly newest: number | null }>(SQL.ages)
  const hosts = await rows<CacheTotals['hosts'][number]>(SQL.hosts)
  const of = (name: string): number => sums?.[name] ?? 0
  return {
    rows: of('rows'),
    blobs: of('blobs'),
    bodyBytes: of('bodyBytes'),
    packedBytes: of('packedBytes'),
    bytes: of('bytes'),
    oldestMs: ages?.oldest ?? undefined,
    newestMs: ages?.newest ?? undefined,
    counts: {
      hits: of('hits'),
      revalidated: of('revalidated'),
      misses: of('misses'),
      savedBytes: of('savedBytes'),
    },
    hosts,
  }
}
