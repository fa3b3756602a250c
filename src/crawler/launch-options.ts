/** What one run of a crawl is started with. */

import type { ResolvedOptions } from '../config/options.ts'
import type { Logger } from '../core/logger.ts'
import type { EngineEvent, FailedContext, PageHandler } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import type { PartsExtras } from './compose.ts'
import type { OpenForce } from './contract.ts'

export interface LaunchOptions extends Omit<PartsExtras, 'onFault'> {
  readonly options: ResolvedOptions
  readonly seeds: Seeds
  readonly handler: PageHandler
  readonly onFailed?: (context: FailedContext) => unknown
  readonly handlerTimeoutMs: number
  /**
   * When the crawl is at its end as this run begins: true, all its pages are asked for once more, and those kept from before
   * are confirmed by their servers; false, those that failed. Default: nothing is to be done (`recrawl`: all pages, as the
   * cache has them).
   */
  readonly reload?: boolean
  /** Another process has begun the run. */
  readonly joins?: true
  readonly log: Logger
  readonly onWarning: (message: string) => void
  /** Default: the engine of this process. */
  readonly openForce?: OpenForce
  readonly onEvent?: (event: EngineEvent) => void
}
