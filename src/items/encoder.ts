/** What turns items into the bytes of one kind of file. Pure: the sink does the writing. */

import type { StoredItem } from './contract.ts'

export interface ItemEncoder {
  /** Bytes to append; may hold some back for the end (a row group). */
  encode(items: readonly StoredItem[]): Uint8Array
  /** See `Exporter.outdated`. */
  outdated(): boolean
  /** What must be known to go on in another process, and to begin a file of the same columns. */
  layout(): string
  /** Bytes that end the file. */
  end(): Uint8Array
}

export interface EncoderStart {
  /** The layout to go on with; without it the file is empty. */
  readonly layout?: string
  /** The layout that a new file is to take over. */
  readonly like?: string
}

export const NO_BYTES: Uint8Array = new Uint8Array(0)
