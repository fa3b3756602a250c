/** Rules as people write them: what is done with the pages that they take, and how those are fetched. */

import type { CacheMode, CacheOverride } from '../core/request.ts'
import type { AnyLabels, RequestHandler } from '../engine/contract.ts'
import type { RenderMode } from '../fetch/contract.ts'
import type { UrlPattern } from '../rules/contract.ts'

/** How the pages of a rule are fetched and handled. Each default: as the task has it. */
export interface RuleSettings {
  /** Of the whole request, in milliseconds; 1 or more. */
  readonly timeoutMs?: number
  /** Of the handler, in milliseconds; 1 or more. A handler that takes longer fails its page. */
  readonly handlerTimeoutMs?: number
  /** Further tries after the first; 0 or more. */
  readonly retries?: number
  /** What the download cache does: a mode, or `{ mode, ttlMs }`. */
  readonly cache?: CacheMode | CacheOverride
  /** Whether a browser renders the page. */
  readonly render?: RenderMode
  /** Fields whose values are URLs of files to be kept: `'img@src'`, or many; an empty list: none. */
  readonly downloads?: string | readonly string[]
}

interface RuleFields extends RuleSettings {
  /** For messages. Default: its label or its pattern. */
  readonly name?: string
  readonly match?: UrlPattern | readonly UrlPattern[]
  readonly exclude?: UrlPattern | readonly UrlPattern[]
}

/**
 * What takes a page: by label, then by URL, in the order in which the rules stand (see `RuleMatch`). Without a handler the
 * page's record is its item and all its links are followed.
 */
export type Rule<L extends object = AnyLabels> = RuleFields &
  (string extends keyof L
    ? { readonly label?: string | readonly string[]; readonly handler?: RequestHandler<L> }
    : | { readonly label?: never; readonly handler?: RequestHandler<L> }
      | { [K in keyof L & string]: { readonly label: K; readonly handler?: RequestHandler<L, K> } }[keyof L & string])
