/** One of several processes of a crawl: its engine over the shared store, led by the process that started it. */

import { join } from 'node:path'
import type { ResolvedOptions } from '../config/options.ts'
import { systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import type { EngineEvent, FinishReason } from '../engine/contract.ts'
import { systemRandom } from '../util/random.ts'
import type { CrawlForce, StorePort } from './contract.ts'
import { openParts } from './compose.ts'
import { startEngineForce } from './force.ts'
import { admitKnownSeeds } from './seeds.ts'
import { openTask } from './task.ts'
import type { ScopeNews } from './task-scope.ts'

export interface WorkerStart {
  readonly options: ResolvedOptions
  /** From 1: of all that work at the same time each has another. */
  readonly number: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fed: Promise<unknown>
  readonly onEvent: (event: EngineEvent) => void
  readonly onWarning: (message: string) => void
  /** This process has learnt that the scope is larger: the others should know. */
  readonly onNews: (news: ScopeNews) => void
  /** The process that leads keeps the store. Undefined: it is opened here. */
  readonly storePort?: StorePort | undefined
}

export interface CrawlWorker extends CrawlForce {
  /** Resolves after the store is closed. */
  readonly closed: Promise<FinishReason>
}

/** The command's own handler runs no user code: its deadline is only there because everything has one. */
const HANDLER_TIMEOUT_MS = 600_000

/** A file of its own: `pages.warc.gz` is `pages-w1.warc.gz` for the first worker, a folder gets `spoor-w1.warc.gz`. */
export function warcPathOf(path: string, worker: number): string {
  const ending = /\.warc(?:\.gz)?$/i.exec(path)?.[0]
  const name = `w${worker}`
  if (ending === undefined) return join(path, `spoor-${name}.warc.gz`)
  return `${path.slice(0, -ending.length)}-${name}${ending}`
}

/** Rejects as `openParts` does. */
export async function startWorker(start: WorkerStart): Promise<CrawlWorker> {
  // limits of the whole crawl are kept by the process that leads; what is exported, forgotten or fed is its business too
  const { output: _output, maxTimeMs: _maxTimeMs, maxBytes: _maxBytes, warc, ...rest } = start.options
  const options: ResolvedOptions = {
    ...rest,
    output: undefined,
    maxTimeMs: undefined,
    maxBytes: undefined,
    fresh: false,
    recrawl: false,
    saveCookies: undefined,
    warc: warc === undefined ? undefined : warcPathOf(warc, start.number),
  }
  const launch = {
    options,
    seeds: [],
    handler: { kind: 'page-record' as const },
    handlerTimeoutMs: HANDLER_TIMEOUT_MS,
    joins: true as const,
    clock: systemClock,
    random: systemRandom,
    env: start.env,
    works: true,
    log: silentLogger,
    onWarning: start.onWarning,
    onFault: (what: string, error: unknown) => {
      start.onWarning(`${what} has a fault: ${error instanceof Error ? error.message : String(error)}`)
    },
  }
  const { storePort } = start
  const parts = await openParts(options, { ...launch, ...(storePort === undefined ? {} : { storePort }) })
  const task = await openTask(parts, launch)
  const learn = ({ kind, url }: ScopeNews): void => {
    if (kind === 'seed') task.engineTask.door.admitSeed({ url })
    else task.scope.scope.addSeed(url)
  }
  await admitKnownSeeds(parts.store.frontier, task.engineTask)
  // seeds come from the process that leads: only what this one finds out is news to the others
  task.scope.onNews((news) => {
    if (news.kind === 'scope') start.onNews(news)
  })
  const { fed, onEvent } = start
  const force = startEngineForce({ parts, task, launch, fed, onEvent })
  return {
    ...force,
    learn,
    closed: force.done.finally(async () => {
      await task.saveAll().catch(() => undefined) // the fault that ended the engine is told
      await parts.close()
    }),
  }
}
