/** The tables and functions of the download cache in PostgreSQL, and how they are made and brought up to date. */

import { CrawlError } from '../../../core/errors.ts'
import type { Connection } from '../connection.ts'
import { unavailable } from '../errors.ts'
import { lockOf } from '../locks.ts'
import { checkServer, type SchemaPlace } from '../schema.ts'
import { FUNCTIONS } from './functions.ts'

/** Grows with every change of TABLES or FUNCTIONS. */
const FORMAT = 1

/**
 * pages   one row a page; `bytes`: what it is counted for in `sums`
 * blobs   packed bodies, each once; one of more than a part has its data in `parts`
 * uploads whose parts belong to no blob yet
 * sums    over all slots they are true; sessions are spread over the slots, so that they do not wait for each other
 */
const TABLES = `
CREATE TABLE @cache_format(version int NOT NULL);
CREATE TABLE @cache_blobs(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest bytea NOT NULL UNIQUE,
  codec int NOT NULL, crc bigint NOT NULL, packed_bytes bigint NOT NULL, data bytea, upload bigint);
ALTER TABLE @cache_blobs ALTER data SET STORAGE EXTERNAL;
CREATE TABLE @cache_parts(upload bigint, number int, data bytea NOT NULL, PRIMARY KEY(upload, number));
ALTER TABLE @cache_parts ALTER data SET STORAGE EXTERNAL;
CREATE TABLE @cache_uploads(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, begun_ms float8 NOT NULL);
CREATE TABLE @cache_pages(key bytea PRIMARY KEY, url text NOT NULL, host text NOT NULL, meta text NOT NULL,
  headers text NOT NULL, checked_ms float8 NOT NULL, used_h int NOT NULL, body_bytes bigint NOT NULL,
  digest bytea, blob bigint, bytes int NOT NULL);
CREATE INDEX @cache_pages_checked ON @cache_pages(checked_ms);
CREATE INDEX @cache_pages_used ON @cache_pages(used_h, key);
CREATE INDEX @cache_pages_blob ON @cache_pages(blob);
CREATE TABLE @cache_sums(slot int PRIMARY KEY, pages bigint NOT NULL DEFAULT 0, blobs bigint NOT NULL DEFAULT 0,
  body_bytes bigint NOT NULL DEFAULT 0, packed_bytes bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0,
  hits bigint NOT NULL DEFAULT 0, revalidated bigint NOT NULL DEFAULT 0, misses bigint NOT NULL DEFAULT 0,
  saved_bytes bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
INSERT INTO @cache_sums(slot) SELECT generate_series(0, 15);
INSERT INTO @cache_format VALUES (${FORMAT});
`

/** Makes the tables where there are none. Throws STORE_UNAVAILABLE, STORE_FORMAT_MISMATCH. */
export async function prepareCache(connection: Connection, place: SchemaPlace): Promise<void> {
  await checkServer(connection, place)
  if (await isThere(connection, place)) return
  try {
    // Others may be making the same tables.
    await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(${lockOf(place.prefix, 'schema')}, 1)`)
    if (!(await isThere(connection, place))) await connection.script(`${TABLES} ${FUNCTIONS}`)
    await connection.script('COMMIT')
  } catch (error) {
    await connection.script('ROLLBACK').catch(() => connection.close())
    throw error
  }
}

/** Of a cache that is only to be used when it is there. */
export async function requireCache(connection: Connection, place: SchemaPlace): Promise<void> {
  await checkServer(connection, place)
  if (await isThere(connection, place)) return
  const problem = 'it holds no download cache; spoor crawl makes one, and so does spoor cache import'
  throw unavailable(place.location, { problem })
}

async function isThere(connection: Connection, { location, prefix }: SchemaPlace): Promise<boolean> {
  const tables = await connection.rows(
    'SELECT 1 FROM pg_catalog.pg_class WHERE relname = $1 AND pg_table_is_visible(oid)',
    `${prefix}cache_format`,
  )
  if (tables.length === 0) return false
  const [row] = await connection.rows<{ readonly version: number }>('SELECT version FROM @cache_format')
  if (row?.version === FORMAT) return true
  throw new CrawlError('STORE_FORMAT_MISMATCH', {
    context: { location, found: `${row?.version ?? 'none'} of its download cache`, expected: FORMAT },
  })
}
