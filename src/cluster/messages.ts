/** What the process that leads a crawl and its worker processes say to each other. Sent by structured clone. */

import type { ResolvedOptions } from '../config/options.ts'
import type { EngineEvent, FinishReason } from '../crawler/contract.ts'
import type { RunFile, ScopeNews, Tuning } from '../crawler/contract.ts'

export type ToWorker =
  /** `worker`: from 1; the one that takes a dead one's place takes its number. */
  | {
      readonly type: 'start'
      readonly options: ResolvedOptions
      readonly worker: number
      /** The store is reached through the process that leads. */
      readonly served: boolean
      /** Of `spoor run`. */
      readonly file?: RunFile
    }
  | StoreMessage
  | { readonly type: 'learn'; readonly news: ScopeNews }
  /** No more seeds will come. */
  | { readonly type: 'fed' }
  | { readonly type: 'drain'; readonly reason: FinishReason }
  | { readonly type: 'tune'; readonly tuning: Tuning }
  | { readonly type: 'abort' }

/** What the two ends of a served store say to each other. */
export interface StoreMessage {
  readonly type: 'store'
  readonly message: unknown
}

export type FromWorker =
  | StoreMessage
  | { readonly type: 'news'; readonly news: ScopeNews }
  | { readonly type: 'events'; readonly events: readonly EngineEvent[]; readonly inFlight: number }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'done'; readonly reason: FinishReason }
  /** The crawl cannot go on: no other worker would do better. `code` of a CrawlError. */
  | {
      readonly type: 'fault'
      readonly code: string
      readonly context: Readonly<Record<string, string | number | boolean>>
    }
