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
  readonly log: Logger
  readonly onWarning: (message: string) => void
  /** Default: the engine of this process. */
  readonly openForce?: OpenForce
  readonly onEvent?: (event: EngineEvent) => void
}
