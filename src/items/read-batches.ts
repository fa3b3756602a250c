/** Items of a store in batches that are bounded in bytes, so that an export's memory does not grow with the crawl. */

import type { ItemStore, StoredItem } from './contract.ts'

const MAX_BATCH_ITEMS = 1000
/** Aimed at by the size of the items seen last; a batch exceeds it only when items suddenly grow. */
const BATCH_CHARS = 4 * 1024 * 1024

export interface ReadBatchesOptions {
  readonly items: ItemStore
  readonly task: string
  /** Those after this `seq`; 0: from the start. */
  readonly after: number
}

export async function* readBatches({ items, task, after }: ReadBatchesOptions): AsyncGenerator<readonly StoredItem[]> {
  let last = after
  let max = 100
  for (;;) {
    const batch = await items.read(task, last, max)
    const end = batch.at(-1)
    if (end === undefined) return
    last = end.seq
    yield batch
    const chars = batch.reduce((sum, { json }) => sum + json.length, 0)
    max = Math.min(MAX_BATCH_ITEMS, Math.max(1, Math.floor((BATCH_CHARS * batch.length) / chars)))
  }
}
