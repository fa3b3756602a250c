/** What a database server brings to hold a cache: small steps that may be done twice. All else is the same for all servers. */

import type { CacheCounts } from '../contract.ts'

/** A page as a row of the server. Texts hold no line end. */
export interface CacheRow {
  /** 32 hexadecimal digits: rows are in their order. */
  readonly key: string
  readonly url: string
  readonly host: string
  /** JSON of what only readers of the page need. */
  readonly meta: string
  /** JSON: apart from `meta`, because a 304 changes it. */
  readonly headers: string
  readonly checkedAtMs: number
  /** Hours since the epoch: uses are dated by the hour, so that a hit hardly ever writes. */
  readonly usedHour: number
  readonly bodyBytes: number
  /** Names the blob that is the page's body, in hexadecimal digits. Undefined: the body is empty. */
  readonly digest: string | undefined
}

/** A body as it was packed; pages with the same body have one blob. */
export interface Blob {
  readonly codec: number
  /** Of the packed data. */
  readonly crc: number
  readonly packedBytes: number
  /** What is kept in one piece. */
  readonly data: Uint8Array | undefined
  /** Where the parts are of what is not; each but the last has PART_BYTES. */
  readonly upload: string | undefined
}

export interface FoundRow {
  readonly row: CacheRow
  /** Undefined: the body is empty, or is not what was put. */
  readonly blob: Blob | undefined
}

/** What a 304 changes. */
export interface RowRefresh {
  readonly headers: string
  readonly checkedAtMs: number
  readonly usedHour: number
}

/** Only rows to which all of it applies at the moment of their removal. */
export interface RowCondition {
  readonly checkedBeforeMs?: number
  readonly usedHourAtMost?: number
}

export interface CacheSize {
  readonly rows: number
  /** What rows and blobs take up. */
  readonly bytes: number
}

export interface CacheTotals extends CacheSize {
  readonly blobs: number
  /** Of all rows. */
  readonly bodyBytes: number
  /** Of all blobs. */
  readonly packedBytes: number
  readonly oldestMs: number | undefined
  readonly newestMs: number | undefined
  readonly counts: CacheCounts
  /** Those with most rows, at most 100. */
  readonly hosts: readonly { readonly host: string; readonly entries: number; readonly bodyBytes: number }[]
}

/** Longest piece of a blob that is sent at once. */
export const PART_BYTES = 512 * 1024
/** An upload that was begun so long ago has lost its writer. */
export const UPLOAD_MS = 3_600_000

/** A lost connection is ridden out; what it rejects with is a CrawlError. */
export interface CacheTables {
  /** Where it is, for messages; without credentials. */
  readonly location: string
  find(key: string): Promise<FoundRow | undefined>
  head(key: string): Promise<CacheRow | undefined>
  hasBlob(digest: string): Promise<boolean>
  /** For a blob of more than PART_BYTES: a place for its parts, which are nothing before a `put` names it. */
  beginUpload(nowMs: number): Promise<string>
  writePart(upload: string, number: number, data: Uint8Array): Promise<void>
  /** Undefined: it is not there. */
  readPart(upload: string, number: number): Promise<Uint8Array | undefined>
  /**
   * Inserts or replaces a row, with its blob; what nobody uses any more of what was there goes. Without a blob it must be
   * there already. False: it is not (or the upload is gone), and nothing was changed that anybody may rely on.
   */
  put(row: CacheRow, blob: Blob | undefined): Promise<boolean>
  /** False: there is no such row. */
  refresh(key: string, change: RowRefresh): Promise<boolean>
  /** Answers how many rows went; blobs that nobody uses any more go too. */
  remove(keys: readonly string[], condition: RowCondition): Promise<number>
  /** The row's blob is damaged: the next `put` of the same body must write it anew. One that was put since then, with another upload, stays. */
  forgetBlob(row: CacheRow, blob: Blob | undefined): Promise<void>
  /** Rows with `after` < key <= `upTo`, in order. */
  range(bounds: { readonly after: string; readonly upTo: string; readonly limit: number }): Promise<readonly CacheRow[]>
  checkedBefore(ms: number, limit: number): Promise<readonly string[]>
  leastUsed(limit: number): Promise<readonly { readonly key: string; readonly usedHour: number }[]>
  /** Uses, by key, and counts to add. May be lost. */
  note(uses: ReadonlyMap<string, number>, counts: Partial<CacheCounts>): Promise<void>
  size(): Promise<CacheSize>
  totals(): Promise<CacheTotals>
  /** Removes what writers that died have left: blobs without a row, old uploads. Goes on the next time where it stopped. */
  sweep(sweeping: { readonly nowMs: number; readonly isOver: () => boolean }): Promise<void>
  close(): Promise<void>
}
