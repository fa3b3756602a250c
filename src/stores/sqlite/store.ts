/** Opens the embedded store: one SQLite file in the data folder. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { LinkStore } from '../../graph/contract.ts'
import { createBell } from '../../frontier/wait-for-work.ts'
import { makeFolder } from '../../util/make-folder.ts'
import type { Random } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { watchCommits } from './commit-watch.ts'
import { createCheckpointer } from './checkpoint.ts'
import { createConnection } from './connection.ts'
import type { Connection } from './connection.ts'
import { loadDriver } from '../sqlite-driver.ts'
import type { Database } from '../sqlite-driver.ts'
import { busyError, folderError, isBusy, storeError } from './errors.ts'
import { createSqliteFrontier } from './frontier.ts'
import { admitGuest } from './guest.ts'
import type { Guest } from './guest.ts'
import { createItems, createState } from './items-state.ts'
import { createLinks } from './links.ts'
import { createOwnerWatch } from './owner-watch.ts'
import { buryOwner, deadOwners, giveBack, lockOwner, registerOwner } from './owners.ts'
import type { OwnerLock } from './owners.ts'
import { CONNECTION, FORMAT, GRAPH_SCHEMA, SCHEMA } from './schema.ts'
import { flush, forget, refresh } from './session.ts'
import type { Session } from './session.ts'
import { openStoreClock } from './store-clock.ts'
import { sweep } from './tasks.ts'
import { verifyStore } from './verify.ts'
import { createWriteQueue } from './write-queue.ts'
import type { WriteQueue } from './write-queue.ts'

export interface SqliteStoreOptions {
  /** The data folder: made when it is not there, unless `readOnly`. */
  readonly dir: string
  readonly clock: Clock
  readonly random: Random
  /** Begins the name under which this process is listed. Default `worker`. */
  readonly owner?: string
  /** For looking at a crawl, also while it runs: nothing is written, no lease is taken. */
  readonly readOnly?: boolean
  /** Only for tests: called between the steps of `settle`, with their names. */
  readonly failpoint?: (name: string) => void
}

export interface SqliteStore extends Store {
  readonly links: LinkStore
  /** For a process that works through this one. Leaves with the store at the latest. */
  admit(name?: string): Promise<Guest>
}

/** How long one step of opening waits for a lock on the spot: another process may be making the same file. */
const OPEN_TIMEOUT_MS = 250
/** And how long all in all, between the steps: a process that was stopped in a transaction holds its lock until it goes on. */
const MAX_OPEN_MS = 30_000
const LOOK_AGAIN_MS = 25

/**
 * Leases of processes that have died are taken back. Rejects with STORE_UNAVAILABLE, STORE_CORRUPT, STORE_BUSY,
 * STORE_FORMAT_MISMATCH or STORE_FULL; nothing that was there is changed then.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { dir, readOnly = false } = options
  const path = join(dir, 'spoor.db')
  let lock: OwnerLock | undefined
  let sql: Connection | undefined
  try {
    prepareFolder(dir, { path, readOnly })
    lock = readOnly ? undefined : lockOwner(dir, options.owner)
    const opened = (sql = await whenUnlocked(() => connect(path, { dir, readOnly }), options))
    const ownerName = lock?.name ?? ''
    const session = await whenUnlocked(
      () => (readOnly ? openReader(opened, options) : openWriter(opened, { ...options, ownerName })),
      options,
    )
    const store = assemble(session, { path, dir, ...(lock === undefined ? {} : { lock }) })
    if (!readOnly) await store.sweep()
    return store
  } catch (error) {
    sql?.close()
    lock?.release()
    throw openError(error, dir)
  }
}

async function whenUnlocked<T>(work: () => T, { dir, clock }: Pick<SqliteStoreOptions, 'dir' | 'clock'>): Promise<T> {
  const sinceMs = clock.monotonicMs()
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      const waitedMs = clock.monotonicMs() - sinceMs
      if (waitedMs >= MAX_OPEN_MS) throw busyError(dir, waitedMs)
    }
    // oxlint-disable-next-line no-await-in-loop -- to look again later is the point
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

function openError(error: unknown, dir: string): unknown {
  return 'syscall' in Object(error) ? folderError(error, dir) : storeError(error, dir)
}

function prepareFolder(dir: string, { path, readOnly }: { readonly path: string; readonly readOnly: boolean }): void {
  if (!readOnly) {
    makeFolder(dir)
    return
  }
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    const problem = `there is no crawl in ${dir}. Begin one with \`spoor crawl\`, or name its folder with --dir`
    throw new CrawlError('STORE_UNAVAILABLE', { context: { location: dir, problem } })
  }
}

/** The format is looked at before anything is set, so that a newer file is left as it is. */
function connect(path: string, { dir, readOnly }: { readonly dir: string; readonly readOnly: boolean }): Connection {
  const sql = createConnection(openFile(path, readOnly))
  try {
    const found = formatOf(sql)
    if (found !== undefined && found !== FORMAT) {
      const context = { location: dir, found, expected: FORMAT }
      throw new CrawlError('STORE_FORMAT_MISMATCH', { context })
    }
    sql.exec(readOnly ? 'PRAGMA query_only = ON; PRAGMA cache_size = -16384' : CONNECTION)
    // From here on waiting is asynchronous: see write-queue.ts.
    if (!readOnly) sql.exec('PRAGMA busy_timeout = 0')
    return sql
  } catch (error) {
    sql.close()
    throw error
  }
}

/** A reader needs to write, too: the index of the write-ahead log. Where it may not, the file alone must do. */
function openFile(path: string, readOnly: boolean): Database {
  const { DatabaseSync } = loadDriver()
  try {
    return new DatabaseSync(path, { timeout: OPEN_TIMEOUT_MS })
  } catch (error) {
    if (!readOnly) throw error
    return new DatabaseSync(path, { readOnly: true, timeout: OPEN_TIMEOUT_MS })
  }
}

/** Undefined: the file is new. */
function formatOf(sql: Connection): number | undefined {
  const tables = sql.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
  if (tables.length === 0) return undefined
  if (!tables.some(({ name }) => name === 'meta')) return Number.NaN
  return sql.one<{ value: number }>("SELECT value FROM meta WHERE key = 'format'")?.value ?? Number.NaN
}

function openReader(sql: Connection, options: SqliteStoreOptions): Session {
  if (formatOf(sql) === undefined) {
    const problem = `there is no crawl in ${options.dir}`
    throw new CrawlError('STORE_UNAVAILABLE', { context: { location: options.dir, problem } })
  }
  const storeClock = openStoreClock(sql, options.clock, { readOnly: true })
  return createSession(sql, options, { ownerId: 0, ownerName: '', storeClock })
}

function openWriter(sql: Connection, options: SqliteStoreOptions & { readonly ownerName: string }): Session {
  sql.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`)
  sql.exec('BEGIN IMMEDIATE')
  try {
    if (formatOf(sql) === undefined) {
      sql.exec(SCHEMA)
      sql.run("INSERT INTO meta VALUES ('format', ?)", FORMAT)
    }
    sql.exec(GRAPH_SCHEMA)
    const { ownerName, clock, dir } = options
    const storeClock = openStoreClock(sql, clock, { readOnly: false })
    const ownerId = registerOwner(sql, ownerName, clock)
    const session = createSession(sql, options, { ownerId, ownerName, storeClock })
    for (const owner of deadOwners(session, dir)) buryOwner(session, dir, owner)
    flush(session)
    sql.exec('COMMIT')
    sql.exec('PRAGMA busy_timeout = 0')
    return session
  } catch (error) {
    try {
      sql.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself after some faults of the disk
    }
    throw error
  }
}

function createSession(
  sql: Connection,
  { dir, clock, random, failpoint }: SqliteStoreOptions,
  owner: Pick<Session, 'ownerId' | 'ownerName' | 'storeClock'>,
): Session {
  return {
    sql,
    location: dir,
    clock,
    random,
    ...owner,
    failpoint,
    tasksByName: new Map(),
    tasksById: new Map(),
    hostsByKey: new Map(),
    queuesById: new Map(),
    touched: { hosts: new Set(), queues: new Set(), tasks: new Set() },
    memory: { dataVersion: -1, lastRequestId: 0, lastToken: 0, nextExpiryMs: 0, hasReplaced: undefined },
  }
}

interface Place {
  readonly path: string
  readonly dir: string
  readonly lock?: OwnerLock
}

function assemble(session: Session, { path, dir, lock }: Place): SqliteStore & { sweep(): Promise<void> } {
  const { sql, clock } = session
  const bell = watchCommits(createBell(clock), clock, `${path}-wal`)
  const queue =
    lock === undefined
      ? createReadQueue(session)
      : createSessionQueue(session, () => {
          bell.ring()
          checkpointer?.afterCommit()
        })
  const checkpointer = lock === undefined ? undefined : createCheckpointer(path, queue.pauseFor)
  const owners = createOwnerWatch(session, dir)
  const parts = { session, queue, bell, owners, dir }
  const guests: Guest[] = []
  const end = async (): Promise<void> => {
    try {
      await Promise.all(guests.map((guest) => guest.leave({ died: true })))
      if (lock !== undefined) await queue.write(() => giveBack(session, session.ownerId, { charged: false }))
    } finally {
      // Whatever the disk says: the file is let go, and what was held comes back as from a process that died.
      await queue.close()
      bell.ring()
      bell.close()
      await checkpointer?.close()
      if (lock !== undefined) foldLog(sql)
      sql.close()
      lock?.release()
    }
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end())
  return {
    location: dir,
    owner: lock?.name,
    frontier: createSqliteFrontier(parts),
    items: createItems(session, queue),
    state: createState(session, queue),
    links: createLinks(session, queue),
    tasks: async () =>
      queue.read(() =>
        sql
          .all<{ name: string }>('SELECT name FROM tasks WHERE name IS NOT NULL ORDER BY name')
          .map(({ name }) => name),
      ),
    verify: async () => queue.read(() => verifyStore(session)),
    sweep: () => sweep({ session, queue }),
    admit: async (name) => {
      const guest = await admitGuest(parts, name)
      guests.push(guest)
      return guest
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The file alone then holds everything: not every driver does this by itself on close. In vain while others work on it. */
function foldLog(sql: Connection): void {
  try {
    sql.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // the log stays, and is as good as the file
  }
}

function createSessionQueue(session: Session, onCommit: () => void): WriteQueue {
  const { sql, clock, location } = session
  return createWriteQueue(
    { sql, clock, location },
    {
      onBegin: () => {
        refresh(session)
      },
      onFlush: () => {
        flush(session)
        session.storeClock.note()
      },
      onRollback: () => {
        forget(session)
      },
      onCommit,
    },
  )
}

/** Of a store that is only looked at. */
function createReadQueue(session: Session): WriteQueue {
  const queue = createSessionQueue(session, () => undefined)
  const problem = 'it was opened for reading only'
  const refused = (): Promise<never> =>
    Promise.reject(new CrawlError('STORE_UNAVAILABLE', { context: { location: session.location, problem } }))
  return { ...queue, write: refused }
}
