/** What one run of a crawl is started with. */

import type { ResolvedOptions } from '../config/options.ts'
import type { Logger } from '../core/logger.ts'
import type { EngineEvent, FailedContext, Middleware, PageHandler, TaskLimits } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import type { Fetcher } from '../fetch/contract.ts'
import type { UrlTest } from '../rules/contract.ts'
import type { ExportFormat } from '../items/contract.ts'
import type { PartsExtras } from './compose.ts'
import type { OpenForce } from './contract.ts'
import type { Rule } from './rule.ts'

/** One of the tasks that a run carries out. */
export interface LaunchTask {
  /** As they are for this task: `task` is its name. */
  readonly options: ResolvedOptions
  readonly seeds: Seeds
  readonly handler: PageHandler
  /** Where there are some, `handler` is not called. */
  readonly rules?: readonly Rule[]
  readonly middleware?: readonly Middleware[]
  /** Writes the output instead of the formats there are. */
  readonly exportFormat?: ExportFormat
  readonly onFailed?: (context: FailedContext) => unknown
  readonly handlerTimeoutMs: number
  /**
   * When the crawl is at its end as this run begins: true, all its pages are asked for once more, and those kept from before
   * are confirmed by their servers; false, those that failed. Default: nothing is to be done (`recrawl`: all pages, as the
   * cache has them).
   */
  readonly reload?: boolean
  /** Name of the file that describes a crawl without a name: another file's crawl of no name is not gone on with. */
  readonly namelessIn?: string
  /** Beside the regular expressions of the options. */
  readonly patterns?: { readonly match: readonly UrlTest[]; readonly exclude: readonly UrlTest[] }
  readonly limits?: TaskLimits
  readonly priority?: number
  /** Not closed. Default: the run's. */
  readonly fetcher?: Fetcher
}

export interface LaunchOptions extends Omit<PartsExtras, 'onFault' | 'room'> {
  /** Of the run: its store, its cache, its limits. */
  readonly options: ResolvedOptions
  /** At least one, each with a name of its own. */
  readonly tasks: readonly LaunchTask[]
  /** Another process has begun the run. */
  readonly joins?: true
  readonly log: Logger
  readonly onWarning: (message: string) => void
  /** Told while a full disk is waited for. Default: `onWarning`. */
  readonly onWait?: (message: string) => void
  /** Default: the engine of this process. */
  readonly openForce?: OpenForce
  readonly onEvent?: (event: EngineEvent) => void
}

/** What one task is opened with. */
export type TaskLaunch = LaunchTask & Pick<LaunchOptions, 'joins' | 'clock' | 'random' | 'log' | 'writeOutput'>
