/** Many small writes made in one turn of the event loop become one transaction. */

import type { Clock } from '../../core/clock.ts'
import type { Connection } from './connection.ts'
import { closedError, isStorageFault, storeError } from './errors.ts'
import { createTransactions } from './transaction.ts'
import type { TransactionHooks, Transactions } from './transaction.ts'

export interface WriteQueue {
  /** Runs `work` inside a transaction; resolves when that is committed. `work` may run twice: the first time in vain. */
  write<T>(work: () => T): Promise<T>
  /** Runs `work` at once on one snapshot of the file. */
  read<T>(work: () => T): T
  /** No transaction begins while the promise is open: for a checkpoint that needs the file to itself. */
  pauseFor(pause: Promise<void>): void
  /** Everything asked for so far is written; whatever comes later is refused. */
  close(): Promise<void>
}

interface Job {
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A transaction takes in no further job after this long; the rest follows in the next turn. */
const MAX_TRANSACTION_MS = 8

export interface WriteQueueOptions {
  readonly sql: Connection
  readonly clock: Clock
  readonly location: string
}

export function createWriteQueue(options: WriteQueueOptions, hooks: TransactionHooks): WriteQueue {
  const { location } = options
  const transactions = createTransactions(options, hooks)
  const jobs: Job[] = []
  const pauses = new Set<Promise<void>>()
  let draining: Promise<void> | undefined
  let closed = false

  async function drain(): Promise<void> {
    while (jobs.length > 0) {
      await nextTurn()
      for (const pause of pauses) await pause
      const refused = await transactions.begin()
      if (refused === undefined) takeBatch({ transactions, jobs, ...options })
      else for (const job of jobs.splice(0)) job.reject(refused)
      hooks.onCommit()
    }
    draining = undefined
  }

  return {
    write: (work) => {
      if (closed) return Promise.reject(closedError(location))
      const done = new Promise<unknown>((resolve, reject) => {
        jobs.push({ work, resolve, reject })
      })
      draining ??= drain()
      return done as Promise<never>
    },
    read: (work) => {
      if (closed) throw closedError(location)
      return transactions.read(work)
    },
    pauseFor: (pause) => {
      pauses.add(pause)
      void pause.finally(() => pauses.delete(pause))
    },
    close: async () => {
      closed = true
      await draining
    },
  }
}

interface BatchOptions extends WriteQueueOptions {
  readonly transactions: Transactions
  readonly jobs: Job[]
}

/** One transaction of as many jobs as fit. Of jobs that fail together, only the guilty one fails in the end. */
function takeBatch({ transactions, jobs, clock, location }: BatchOptions): void {
  const batch: Job[] = []
  const untilMs = clock.monotonicMs() + MAX_TRANSACTION_MS
  try {
    const results = transactions.run(() => {
      const answers: unknown[] = []
      do {
        const job = jobs.shift()
        if (job === undefined) break
        batch.push(job)
        answers.push(job.work())
      } while (clock.monotonicMs() < untilMs)
      return answers
    })
    for (const [index, job] of batch.entries()) job.resolve(results[index])
  } catch (error) {
    // nothing was begun: the file is at fault, for all of them
    if (batch.length === 0) batch.push(...jobs.splice(0))
    if (batch.length === 1 || isStorageFault(error)) {
      for (const job of batch) job.reject(storeError(error, location))
      return
    }
    jobs.push(...batch.filter((job) => !runAlone(transactions, job, location)))
  }
}

/** False when the lock could not be had at once. */
function runAlone(transactions: Transactions, job: Job, location: string): boolean {
  try {
    if (!transactions.tryBegin()) return false
    job.resolve(transactions.run(job.work))
  } catch (error) {
    job.reject(storeError(error, location))
  }
  return true
}

/** The next turn of the event loop: whatever is called in this one is taken together. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
