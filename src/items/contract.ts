/** Items: what a crawl is for. Settled with their page, read back in order, exported exactly once. */

import type { JsonObject } from '../core/json.ts'

/** An item as a page's handler gave it. */
export interface ItemDraft {
  readonly data: JsonObject
  /** The item is the page's own record: its `depth` follows the request's, also when that is lowered later. */
  readonly isPage?: boolean
  /** `data` as one line of JSON, where that is written already, and the depth that stands in it. */
  readonly written?: { readonly json: string; readonly depth: number }
}

export interface StoredItem {
  /** Position in the task's list: grows with every settled item, never reused, gaps allowed. */
  readonly seq: number
  /** One line of JSON. */
  readonly json: string
}

export interface ItemStore {
  /**
   * Items in order of `seq`, those after `after` (0: from the start). Once an item has been read, none with a smaller
   * `seq` ever appears.
   */
  read(task: string, after: number, max: number): Promise<readonly StoredItem[]>
  /**
   * Counts changes to items that had been readable before (a page's depth lowered). An export that was written at
   * another count must be written anew.
   */
  revision(task: string): Promise<number>
}

/**
 * Writes items to one destination. Invariants, each one a test of the published suite:
 * 1. `write` keeps the order and loses nothing of an item, whatever its JSON holds; no items are fine.
 * 2. What was written before a `position` is there after a crash and an `open` at it; whatever came after is gone.
 * 3. A rejected `write` leaves nothing that an `open` at the position before it does not cut off. The exporter itself is
 *    good for nothing but `close` then.
 * 4. When `outdated` says true, an `open` with `like` this exporter's position holds everything.
 */
export interface Exporter {
  /** Appends; resolves when the bytes are handed to the operating system. */
  write(items: readonly StoredItem[]): Promise<void>
  /** Where the destination stands now: opaque, kept in the store. */
  position(): string
  /** True: what has come does not fit into what was begun (a CSV header lacks a column); it must be written anew. */
  outdated(): boolean
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>
  /** Writes what belongs at the end. Nothing may be written after it, but by an `open` at a later position. */
  finish(): Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}

export interface OpenExporterOptions {
  /** Path of a file in a folder that exists. */
  readonly file: string
  /** Go on there: whatever comes after it is cut off. Otherwise the file is begun anew. */
  readonly position?: string
  /** With no `position`: position of an exporter whose layout (columns) the new file is to have. */
  readonly like?: string
}

/** One kind of file. */
export interface ExportFormat {
  readonly name: string
  /** False: cannot be appended to, so it is written as a whole when the crawl ends. */
  readonly live: boolean
  /** Endings of files that stand beside an open one and must not outlive it. */
  readonly sidecars: readonly string[]
  /** Undefined: what is at `file` is not what stood there at `position` (missing, shorter, something else). */
  open(options: OpenExporterOptions): Promise<Exporter | undefined>
  /** Puts what was written at `from` in the place of what is at `to`. Default: one rename. */
  readonly replace?: (from: string, to: string) => Promise<void>
  /** Removes what was written at `file`. Default: that file and its sidecars. */
  readonly remove?: (file: string) => Promise<void>
}
