/** Transactions on one connection: begun without blocking, committed as a whole, rolled back as a whole. */

import type { Clock } from '../../core/clock.ts'
import type { Connection } from './connection.ts'
import { busyError, isBusy, storeError } from './errors.ts'

/** What is done around the work of every transaction. */
export interface TransactionHooks {
  /** First thing of a transaction. */
  readonly onBegin: () => void
  /** Last thing before a commit. */
  readonly onFlush: () => void
  readonly onRollback: () => void
  /** After a transaction, whatever became of it. */
  readonly onCommit: () => void
}

export interface Transactions {
  /** Waits for the lock without blocking the event loop. Answers why it cannot be had, if it cannot. */
  begin(): Promise<unknown>
  /** Does not wait: false when another process holds the lock. */
  tryBegin(): boolean
  /** `work` and a commit. Throws what went wrong, after a rollback. To be called after a begin. */
  run<T>(work: () => T): T
  /** `work` on one snapshot. */
  read<T>(work: () => T): T
}

/** Another process may hold the lock for the few ms of its transaction; this long is not normal any more. */
const MAX_BUSY_MS = 30_000

export function createTransactions(
  { sql, clock, location }: { readonly sql: Connection; readonly clock: Clock; readonly location: string },
  hooks: TransactionHooks,
): Transactions {
  const tryBegin = (): boolean => {
    try {
      sql.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw storeError(error, location)
    }
  }
  return {
    tryBegin,
    begin: async () => {
      const sinceMs = clock.monotonicMs()
      try {
        for (let attempt = 0; !tryBegin(); attempt++) {
          const waitedMs = clock.monotonicMs() - sinceMs
          if (waitedMs >= MAX_BUSY_MS) return busyError(location, waitedMs)
          await clock.sleep(Math.min(1 + attempt * 2, 25))
        }
        return undefined
      } catch (error) {
        return error
      }
    },
    run: (work) => {
      try {
        hooks.onBegin()
        const result = work()
        hooks.onFlush()
        sql.exec('COMMIT')
        return result
      } catch (error) {
        hooks.onRollback()
        end(sql, 'ROLLBACK')
        throw error
      }
    },
    read: (work) => {
      try {
        return readOnce(sql, hooks, work)
      } catch (error) {
        if (!isBusy(error)) throw storeError(error, location)
      }
      // Another process puts the log in order after a crash: rare, short, and worth waiting for on the spot.
      sql.exec(`PRAGMA busy_timeout = ${MAX_READ_BUSY_MS}`)
      try {
        return readOnce(sql, hooks, work)
      } catch (error) {
        throw isBusy(error) ? busyError(location, MAX_READ_BUSY_MS) : storeError(error, location)
      } finally {
        sql.exec('PRAGMA busy_timeout = 0')
      }
    },
  }
}

const MAX_READ_BUSY_MS = 5000

function readOnce<T>(sql: Connection, hooks: TransactionHooks, work: () => T): T {
  try {
    sql.exec('BEGIN')
    hooks.onBegin()
    return work()
  } finally {
    end(sql, 'COMMIT')
  }
}

function end(sql: Connection, statement: 'COMMIT' | 'ROLLBACK'): void {
  try {
    sql.exec(statement)
  } catch {
    // it did not even begin, or SQLite has rolled back by itself after a fault of the disk
  }
}
