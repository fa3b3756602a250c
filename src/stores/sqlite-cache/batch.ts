/** Group commit: what is written in one stretch of the event loop goes into one transaction. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { SqlDatabase } from './driver.ts'
import { isBusy, storeError } from './faults.ts'

/** A piece of writing. Runs inside a transaction, again when that has to be repeated. */
export type Work<T> = () => T

export interface BatchWriter {
  /** Resolves when the work's transaction is committed. `bytes`: how much it writes, about. */
  write<T>(work: Work<T>, bytes: number): Promise<T>
  /** Resolves when everything that was handed in before is committed or refused. */
  drain(): Promise<void>
}

export interface BatchWriterOptions {
  readonly database: SqlDatabase
  readonly clock: Clock
  readonly location: string
  /** Other work to go into a transaction that is made anyway. */
  readonly rideAlong?: () => void
}

interface Waiting {
  readonly work: Work<unknown>
  readonly bytes: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What one transaction takes: some milliseconds. */
const MAX_BATCH = 64
const MAX_BATCH_BYTES = 1024 * 1024
/** Another process may hold the lock so long before a write is refused. */
const LOCK_TIMEOUT_MS = 30_000
const LOCK_RETRY_MS = 5

export function createBatchWriter(options: BatchWriterOptions): BatchWriter {
  const queue: Waiting[] = []
  let running: Promise<void> | undefined

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      await nextBatchTime(queue)
      const batch = takeBatch(queue)
      try {
        const results = await commit(options, batch)
        batch.forEach(({ resolve }, index) => resolve(results[index]))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = undefined
  }

  return {
    write: (work, bytes) => {
      const done = new Promise<unknown>((resolve, reject) => {
        queue.push({ work, bytes, resolve, reject })
      })
      running ??= run()
      return done as Promise<ReturnType<typeof work>>
    },
    drain: async () => {
      await running
    },
  }
}

/** Waits while more comes with every turn of the loop, up to a full batch: the busier the crawl, the larger. */
async function nextBatchTime(queue: readonly Waiting[]): Promise<void> {
  let before = 0
  while (queue.length > before && queue.length < MAX_BATCH) {
    before = queue.length
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}

function takeBatch(queue: Waiting[]): Waiting[] {
  let bytes = 0
  let count = 0
  for (const waiting of queue) {
    if (count === MAX_BATCH || (count > 0 && bytes + waiting.bytes > MAX_BATCH_BYTES)) break
    bytes += waiting.bytes
    count += 1
  }
  return queue.splice(0, count)
}

/** All or nothing. Waits for another process's transaction without holding up the loop. */
async function commit(options: BatchWriterOptions, batch: readonly Waiting[]): Promise<unknown[]> {
  const { clock, location } = options
  const sinceMs = clock.monotonicMs()
  for (;;) {
    try {
      return transact(options, batch)
    } catch (error) {
      if (!isBusy(error)) throw storeError(error, location)
      const waitedMs = Math.round(clock.monotonicMs() - sinceMs)
      if (waitedMs > LOCK_TIMEOUT_MS) {
        throw new CrawlError('STORE_BUSY', { cause: error, context: { location, waitedMs } })
      }
      await clock.sleep(LOCK_RETRY_MS)
    }
  }
}

function transact({ database, rideAlong }: BatchWriterOptions, batch: readonly Waiting[]): unknown[] {
  database.exec('BEGIN IMMEDIATE')
  try {
    const results = batch.map(({ work }) => work())
    rideAlong?.()
    database.exec('COMMIT')
    return results
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function rollBack(database: SqlDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has rolled back already, as it does when the disk is full
  }
}
