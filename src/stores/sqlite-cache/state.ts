/** What the parts of an open packed cache share. */

import type { Clock } from '../../core/clock.ts'
import type { BatchWriter } from './batch.ts'
import type { SqlDatabase } from './driver.ts'
import type { Statements } from './rows.ts'
import { pragma } from './schema.ts'

export interface CacheState {
  readonly database: SqlDatabase
  readonly file: string
  readonly sql: Statements
  readonly writer: BatchWriter
  readonly clock: Clock
}

/** Bytes of the file that hold something. */
export function usedBytes(database: SqlDatabase): number {
  return (pragma(database, 'page_count') - pragma(database, 'freelist_count')) * pragma(database, 'page_size')
}

export function fileBytes(database: SqlDatabase): number {
  return pragma(database, 'page_count') * pragma(database, 'page_size')
}

/** Lets everything else on the event loop have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
