/** The library as the command uses it. */

import { systemClock } from '../core/clock.ts'
import { createLogger } from '../core/logger.ts'
import { systemRandom } from '../util/random.ts'
import type { CrawlOptions, CrawlRun } from './contract.ts'
import { launch } from './launch.ts'

export { openCacheAccess } from './cache-access.ts'
export { clearCrawl } from './forget-task.ts'
export { openPageFetcher } from './page-fetcher.ts'
export { openForReading } from './read-crawl.ts'

/** The command's own handler runs no user code: its deadline is only there because everything has one. */
const HANDLER_TIMEOUT_MS = 600_000

export function startCrawl(options: CrawlOptions): CrawlRun {
  const { onLog } = options
  return launch({
    options,
    tasks: [
      {
        options,
        seeds: options.seeds,
        handler: { kind: 'page-record' },
        handlerTimeoutMs: HANDLER_TIMEOUT_MS,
      },
    ],
    clock: systemClock,
    random: systemRandom,
    log: createLogger({
      level: onLog === undefined ? 'silent' : options.logLevel,
      nowMs: () => systemClock.nowMs(),
      write: (line) => onLog?.(line),
    }),
    onWarning: options.onWarning,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    ...(options.openForce === undefined ? {} : { openForce: options.openForce }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.writeOutput === undefined ? {} : { writeOutput: options.writeOutput }),
  })
}
