/** WARC 1.1 (ISO 28500): the records that are read and written. */

import type { HeaderList } from '../fetch/contract.ts'

/** A record as it was read. */
export interface WarcRecord {
  /** `1.0`, `1.1`. */
  readonly version: string
  /** `response`, `request`, `revisit`, `warcinfo`, …: lower case; '' when the record does not say. */
  readonly type: string
  /** Lower-case names, in order. */
  readonly headers: HeaderList
  /** Without the angle brackets that some writers put around it. */
  readonly targetUri: string | undefined
  readonly dateMs: number | undefined
  /** The block, or its first bytes when it is longer than the reader's bound. */
  readonly block: Uint8Array
  /** What the record says. */
  readonly blockBytes: number
  /** The block is not all there: the file ended, or it is longer than the bound. */
  readonly partial: boolean
}

/** One request and its answer, to be written. */
export interface WarcExchange {
  readonly url: string
  readonly dateMs: number
  readonly method: string
  /** Credentials (authorization, cookies) are left out. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBody?: Uint8Array | string
  readonly status: number
  readonly headers: HeaderList
  /** Decoded of its codings; the fields that speak of them are renamed to `x-orig-…`. */
  readonly body: Uint8Array
  readonly truncated?: 'length' | 'time' | 'disconnect' | 'unspecified'
  readonly ip?: string
  /** Fields of a metadata record beside: `fetchTimeMs`, `via`, `hopsFromSeed`. */
  readonly metadata?: Readonly<Record<string, string>>
}

/**
 * Writes WARC files. 1. `write` keeps the records of an exchange together, and resolves when the operating system has
 * them. 2. After kill -9 an `open` cuts off what is not whole and goes on there. 3. A payload that was written before
 * becomes a revisit record. 4. Each record is a gzip member of its own, each file begins with a warcinfo record.
 */
export interface WarcWriter {
  write(exchange: WarcExchange): Promise<void>
  /** Where the next record goes. */
  position(): { readonly file: string; readonly bytes: number }
  /** Writes what waits, sorts the index. Idempotent. */
  close(): Promise<void>
}
