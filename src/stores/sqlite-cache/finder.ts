/** Group reading: what is looked up in one stretch of the event loop is read on one snapshot. */

import type { SqlDatabase } from './driver.ts'
import { type FoundRow, keyBytes, type Statements } from './rows.ts'

/** The row of a key; rejects with the driver's own error. */
export type FindRow = (key: string) => Promise<FoundRow | undefined>

interface Waiting {
  readonly key: string
  readonly resolve: (row: FoundRow | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Rows read in one step: some tenths of a millisecond, a few with the largest bodies. */
const MAX_BATCH = 16

/** A read by itself takes and gives back a lock on the file, a third of its time: those of one group share that. */
export function createFinder(database: SqlDatabase, sql: Statements): FindRow {
  let waiting: Waiting[] = []
  const flush = (): void => {
    const all = waiting
    waiting = []
    for (let at = 0; at < all.length; at += MAX_BATCH) readBatch({ database, sql }, all.slice(at, at + MAX_BATCH))
  }
  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ key, resolve, reject }) === 1) queueMicrotask(flush)
    })
}

interface Reading {
  readonly database: SqlDatabase
  readonly sql: Statements
}

function readBatch({ database, sql }: Reading, batch: readonly Waiting[]): void {
  const isGroup = batch.length > 1
  try {
    if (isGroup) database.exec('BEGIN')
    for (const { key, resolve } of batch) resolve(sql.find.get(keyBytes(key)) as FoundRow | undefined)
  } catch (error) {
    // those that were answered stay answered
    for (const { reject } of batch) reject(error)
  } finally {
    if (isGroup) endReading(database)
  }
}

/** Whatever has happened: a transaction that stayed open would be in the way of every write. */
function endReading(database: SqlDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // it did not begin, or SQLite has ended it already
  }
}
