/** Pieces of work that are run together in one transaction. */

import { isMissing } from './transaction.ts'
import type { Attempt, Transaction } from './transaction.ts'

/** One piece of work; it may be run several times, all but the last in vain. */
export interface Work<T> {
  readonly run: (tx: Transaction) => T
  /** Names what `run` will need, so that it is read in one go. May stop as `run` may. */
  readonly prepare?: (tx: Transaction) => void
  /** How much of a transaction it fills. Default 1. */
  readonly weight?: number
}

export interface Job {
  readonly work: Work<unknown>
  readonly kind: 'read' | 'write' | 'apply'
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A transaction takes in no further job beyond. */
const MAX_WEIGHT = 2500
/** Of jobs that are run together only the guilty one fails. */
export async function runBatch(
  batch: readonly Job[],
  transact: (batch: readonly Job[]) => Promise<unknown[]>,
  applyNow: () => Promise<void>,
): Promise<void> {
  const rest = [...batch]
  if (batch[0]?.kind === 'apply') {
    await applyNow()
    for (const job of rest.splice(0)) job.resolve(undefined)
  }
  while (rest.length > 0) {
    try {
      const results = await transact(rest)
      for (const [index, job] of rest.entries()) job.resolve(results[index])
      return
    } catch (error) {
      if (!isFailure(error)) throw error
      rest[error.index]?.reject(error.reason)
      rest.splice(error.index, 1)
    }
  }
}

/** A job that throws; the others are run again without it. */
export interface Failure {
  readonly index: number
  readonly reason: unknown
}
const failures = new WeakSet<object>()

export function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && failures.has(error)
}

/** Undefined: something has to be read first. */
export function runJobs(
  batch: readonly Job[],
  { tx, wanted }: Attempt,
  onFlush: (tx: Transaction) => void,
): unknown[] | undefined {
  const results: unknown[] = []
  let index = -1
  const step = (run: () => void): boolean => {
    try {
      run()
      return true
    } catch (error) {
      if (isMissing(error)) return false
      const failure: Failure = { index, reason: error }
      failures.add(failure)
      // oxlint-disable-next-line typescript/only-throw-error -- caught in runBatch, a few lines away
      throw failure
    }
  }
  let isReady = true
  for (const { work } of batch) {
    index++
    if (work.prepare !== undefined && !step(() => work.prepare?.(tx))) isReady = false
  }
  if (!isReady || wanted.ids.size > 0) return undefined
  index = -1
  for (const { work } of batch) {
    index++
    if (!step(() => results.push(work.run(tx)))) return undefined
  }
  if (batch[0]?.kind === 'read') return results
  index = batch.length - 1
  return step(() => {
    onFlush(tx)
  })
    ? results
    : undefined
}

/** Reads with reads, writes with writes. */
export function takeBatch(jobs: Job[]): Job[] {
  const batch: Job[] = []
  let weight = 0
  for (let next = jobs[0]; next !== undefined; next = jobs[0]) {
    if (batch.length > 0 && (next.kind !== batch[0]?.kind || weight >= MAX_WEIGHT)) break
    batch.push(next)
    weight += next.work.weight ?? 1
    jobs.shift()
  }
  return batch
}
