/** Items: what a crawl is for. Settled with their page, read back in order, exported exactly once. */

import type { JsonObject } from '../core/json.ts'

/** An item as a page's handler gave it. */
export interface ItemDraft {
  readonly data: JsonObject
  /** The item is the page's own record: its `depth` follows the request's, also when that is lowered later. */
  readonly isPage?: boolean
}

export interface StoredItem {
  /** Position in the task's list: grows with every settled item, never reused, gaps allowed. */
  readonly seq: number
  /** One line of JSON. */
  readonly json: string
}

export interface ItemStore {
  /** Items in order of `seq`, those after `after` (0: from the start). */
  read(task: string, after: number, max: number): Promise<readonly StoredItem[]>
  /**
   * Counts changes to items that had been readable before (a page's depth lowered). An export that was written at
   * another count must be written anew.
   */
  revision(task: string): Promise<number>
}

/** Writes items to one destination. `position` is opaque, small, and kept in the store. */
export interface Exporter {
  /** Appends; resolves when the bytes are handed to the operating system. */
  write(items: readonly StoredItem[]): Promise<void>
  /** Where the destination stands now; a later open with it cuts off whatever came after. */
  position(): string
  close(): Promise<void>
}
