/** The library as the command uses it. */

import { systemClock } from '../core/clock.ts'
import { createLogger } from '../core/logger.ts'
import { systemRandom } from '../util/random.ts'
import type { ResolvedOptions } from '../config/options.ts'
import type { CrawlOptions, CrawlRun } from './contract.ts'
import { launch } from './launch.ts'
import type { RunPlan } from './run-file.ts'

export { openCacheAccess } from './cache-access.ts'
export { clearCrawl } from './forget-task.ts'
export { openPageFetcher } from './page-fetcher.ts'
export { openForReading } from './read-crawl.ts'

/** The command's own handler runs no user code: its deadline is only there because everything has one. */
const HANDLER_TIMEOUT_MS = 600_000

export function startCrawl(options: CrawlOptions): CrawlRun {
  const handler = { kind: 'page-record' } as const
  return startRun(
    { options, tasks: [{ options, seeds: options.seeds, handler, handlerTimeoutMs: HANDLER_TIMEOUT_MS }] },
    options,
  )
}

type RunExtras = Omit<CrawlOptions, keyof ResolvedOptions | 'seeds'>

/** What the crawler of the file listens to hears of it as well. */
export function startRun(plan: RunPlan, options: RunExtras): CrawlRun {
  const { onLog } = options
  return launch({
    options: plan.options,
    tasks: plan.tasks,
    ...(plan.opened === undefined ? {} : { opened: plan.opened }),
    onEvent: (event) => {
      plan.onEvent?.(event)
      options.onEvent?.(event)
    },
    clock: systemClock,
    random: systemRandom,
    log: createLogger({
      level: onLog === undefined ? 'silent' : plan.options.logLevel,
      nowMs: () => systemClock.nowMs(),
      write: (line) => onLog?.(line),
    }),
    onWarning: (message) => {
      options.onWarning(message)
      plan.onWarning?.(message)
    },
    onWait: (message) => {
      const tell = options.onWait ?? options.onWarning
      tell(message)
      plan.onWarning?.(message)
    },
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    ...(options.openForce === undefined ? {} : { openForce: options.openForce }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.writeOutput === undefined ? {} : { writeOutput: options.writeOutput }),
  })
}
