/** What the command needs to look at a download cache, to tidy it, to fill it and to take it elsewhere. */

import type { CachedAnswer, CacheEntry, CacheFilter, CacheStats, PruneResult } from '../cache/contract.ts'
import type { ResolvedOptions } from '../config/options.ts'

export type CacheKind = NonNullable<ResolvedOptions['cacheStore']>

export interface CacheLocation extends Pick<ResolvedOptions, 'dir' | 'store' | 'cacheMaxBytes'> {
  /** How what is put in is packed. Default: brotli in a store, else as `--cache-codec`. */
  readonly cacheCodec?: ResolvedOptions['cacheCodec']
  /** Undefined: that of the store when there is one, else whichever is in `dir`, the packed one first. */
  readonly cacheStore: CacheKind | undefined
  /** Make one where there is none. Default: that is STORE_UNAVAILABLE. */
  readonly create?: boolean
}

export interface ArchiveImport {
  readonly records: number
  readonly imported: number
  /** Reason and number of the answers that were not taken. */
  readonly passedOver: Readonly<Record<string, number>>
}

export interface CachePruning {
  /** Age from the last download or confirmation. 0: all. */
  readonly ttlMs: number
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

export interface ArchiveExport {
  /** Ends in `.warc` or `.warc.gz`; is there only when it is whole. */
  readonly file: string
  readonly filter: CacheFilter
  readonly onEntry?: () => void
  readonly signal?: AbortSignal
}

export interface CacheAccess {
  readonly kind: CacheKind
  readonly location: string
  entries(filter: CacheFilter): AsyncGenerator<CacheEntry>
  /** The answer to a GET of this URL. */
  get(url: string): Promise<CachedAnswer | undefined>
  /** Every answer kept of these URLs. Answers how many, in the order of the URLs. */
  remove(urls: readonly string[]): Promise<readonly number[]>
  removeAll(filter: CacheFilter): Promise<number>
  prune(options: CachePruning): Promise<PruneResult>
  stats(): Promise<CacheStats>
  /** `onFault` hears of what is not as it should be, and where: bytes from the start, unpacked. */
  importWarc(
    source: AsyncIterable<Uint8Array>,
    onFault: (problem: string, offset: number) => void,
  ): Promise<ArchiveImport>
  /** Answers how many entries were written. Rejects with EXPORT_FAILED, CRAWL_ABORTED. */
  exportWarc(target: ArchiveExport): Promise<number>
  close(): Promise<void>
}
