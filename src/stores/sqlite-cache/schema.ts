/** The file of the packed cache: its tables, its settings, and how it is opened without harm to what is there. */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import { makeFolder } from '../../util/make-folder.ts'
import { openDatabase, type SqlDatabase } from './driver.ts'
import { ADVICE, isBusy, storeError } from './faults.ts'

/** "SpCa" in the header: what tells a cache from a database that is somebody's own. */
const APPLICATION_ID = 0x53_70_43_61
const FORMAT = 1
const PAGE_BYTES = 8192
const CACHE_KIB = 16 * 1024
const WAL_LIMIT_BYTES = 16 * 1024 * 1024
/** Calls wait this long for another process, on the thread; longer waits are done by the event loop. */
const BUSY_TIMEOUT_MS = 25

/*
 * entry: what was answered; ids grow, so that writing appends. age: what changes often, in rows of a few bytes, so that
 * a pass over all of them reads little. body: one row a distinct body; hash null: its parts are still being written.
 * part: the packed bytes, in pieces; id = body × 1024 + number of the piece.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS entry(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  url TEXT NOT NULL,
  wire_url TEXT,
  method TEXT NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  varied TEXT,
  fetched_ms INTEGER NOT NULL,
  body INTEGER,
  body_bytes INTEGER NOT NULL,
  wire_bytes INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_body ON entry(body) WHERE body IS NOT NULL;
CREATE TABLE IF NOT EXISTS age(id INTEGER PRIMARY KEY, checked_ms INTEGER NOT NULL, used_h INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS body(
  id INTEGER PRIMARY KEY,
  hash BLOB UNIQUE,
  codec INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  body_bytes INTEGER NOT NULL,
  packed_bytes INTEGER NOT NULL,
  begun_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS part(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS count(name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
`

export interface OpenedFile {
  readonly database: SqlDatabase
  readonly file: string
}

/** Opens or makes `cache.sqlite` in `dir`. Rejects with STORE_CORRUPT, STORE_FORMAT_MISMATCH, STORE_BUSY, STORE_UNAVAILABLE. */
export async function openCacheFile(dir: string, clock: Clock): Promise<OpenedFile> {
  const file = join(dir, 'cache.sqlite')
  const untilMs = clock.monotonicMs() + OPEN_TIMEOUT_MS
  for (;;) {
    let database: SqlDatabase | undefined
    try {
      makeFolder(dir)
      await checkLength(file)
      database = openDatabase(file)
      prepareFile(database, file)
      return { database, file }
    } catch (error) {
      database?.close()
      if (!isBusy(error)) throw storeError(error, file)
      if (clock.monotonicMs() >= untilMs) {
        throw new CrawlError('STORE_BUSY', { cause: error, context: { location: file, waitedMs: OPEN_TIMEOUT_MS } })
      }
      // The change to a write-ahead log does not wait for others by itself.
      await clock.sleep(20)
    }
  }
}

/** How long one step waits for a lock on the spot, and how long opening waits all in all: who holds it may be stopped. */
const STEP_TIMEOUT_MS = 250
const OPEN_TIMEOUT_MS = 30_000

function prepareFile(database: SqlDatabase, file: string): void {
  database.exec(`PRAGMA busy_timeout = ${STEP_TIMEOUT_MS}`)
  // These two take effect on a new file only, and before anything else is said to it.
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
  if (identify(database, file) === 'new') createTables(database, file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  `)
}

/** Before anything is written: whose file is it? */
function identify(database: SqlDatabase, file: string): 'new' | 'ours' {
  const owner = pragma(database, 'application_id')
  if (owner === APPLICATION_ID) {
    checkFormat(pragma(database, 'user_version'), file)
    return 'ours'
  }
  const tables = (database.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }).n
  if (owner === 0 && tables === 0) return 'new'
  throw new CrawlError('STORE_FORMAT_MISMATCH', {
    context: { location: file, found: 'a database that is no cache', expected: `format ${FORMAT}` },
  })
}

function createTables(database: SqlDatabase, file: string): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    // Two processes may begin at once: the second finds the first one's tables.
    if (identify(database, file) === 'new') {
      database.exec(`${TABLES}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`)
    }
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

function checkFormat(found: number, file: string): void {
  if (found === FORMAT) return
  throw new CrawlError('STORE_FORMAT_MISMATCH', { context: { location: file, found, expected: FORMAT } })
}

export function pragma(database: SqlDatabase, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, unknown>> | undefined
  return Number(Object.values(row ?? {})[0] ?? 0)
}

/** SQLite would notice a file that was cut only when it needs the lost pages, and would write to it until then. */
async function checkLength(file: string): Promise<void> {
  const head = await readHead(file)
  if (head === undefined || head.bytes.length < 32 || !head.bytes.toString('latin1').startsWith('SQLite format 3\0'))
    return
  const pageBytes = head.bytes.readUInt16BE(16) === 1 ? 65_536 : head.bytes.readUInt16BE(16)
  const expected = pageBytes * head.bytes.readUInt32BE(28)
  // With a write-ahead log beside it the file may lawfully lag behind.
  if (head.fileBytes >= expected || ((await readHead(`${file}-wal`))?.fileBytes ?? 0) > 0) return
  const problem = `expected ${expected} bytes, found ${head.fileBytes}: its end is missing. ${ADVICE}`
  throw new CrawlError('STORE_CORRUPT', { context: { location: file, problem } })
}

async function readHead(file: string): Promise<{ bytes: Buffer; fileBytes: number } | undefined> {
  try {
    const handle = await open(file, 'r')
    try {
      const { size } = await handle.stat()
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(100), 0, 100, 0)
      return { bytes: buffer.subarray(0, bytesRead), fileBytes: size }
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
