/** The library's front: a crawl as an object, with the names that people know. */

import { EventEmitter } from 'node:events'
import { defaultOptions, OPTIONS, type ResolvedOptions } from '../config/options.ts'
import type { OptionRow } from '../config/option-row.ts'
import { nearestName } from '../config/nearest.ts'
import type { CacheStore } from '../cache/contract.ts'
import type { Store } from '../stores/contract.ts'
import { systemClock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import type { EngineEvent, FailedContext, RequestDraft, RequestHandler } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import { systemRandom } from '../util/random.ts'
import type { OpenedParts } from './compose.ts'
import type { CrawlRun, CrawlSummary, ProgressSnapshot } from './contract.ts'
import { launch } from './launch.ts'

/** Every option of the command by its name in the configuration file, and these. */
export interface CrawlerOptions extends Partial<Omit<ResolvedOptions, 'store' | 'cacheStore'>> {
  /** The URL of a shared store, or a store that was opened by `spoor/postgres` and the like. Default: embedded, in `dir`. */
  readonly store?: string | Store | undefined
  /** Where downloads are kept, or a cache that is open already. Default: with a URL in `store` there, else in `dir`. */
  readonly cacheStore?: ResolvedOptions['cacheStore'] | CacheStore
  /** Called for each page. Without it every link is followed and the page's record is the item. */
  readonly requestHandler?: RequestHandler
  /** Called once for a request that has failed for good. */
  readonly failedRequestHandler?: (context: FailedContext) => unknown
  /** Requests in flight in this process. Default 32. */
  readonly maxConcurrency?: number
  /** Further tries after the first. Default 2. */
  readonly maxRequestRetries?: number
  /** End well after so many pages, counted over all runs of the crawl. Default none. */
  readonly maxRequestsPerCrawl?: number
  /** Deepest level that is fetched; seeds are 0. Default none. */
  readonly maxCrawlDepth?: number
  /** A handler that takes longer fails its page. Default 60,000. */
  readonly requestHandlerTimeoutMs?: number
  /**
   * What `run` does when the crawl is at its end: true, it asks for all its pages once more (what the cache holds from
   * before is confirmed by the server, or downloaded anew); false, it tries again those that failed. A crawl that is not
   * at its end goes on. Default: a crawl at its end does nothing but what is new among its seeds.
   */
  readonly reload?: boolean
  /** Default: nothing is logged. */
  readonly log?: Logger
}

/** What `on` can listen to. */
export type CrawlerEvents = {
  [E in EngineEvent as E['type']]: [event: E]
} & { warning: [message: string] }

const ALIASES = {
  maxConcurrency: 'concurrency',
  maxRequestRetries: 'retries',
  maxRequestsPerCrawl: 'maxPages',
  maxCrawlDepth: 'maxDepth',
} as const
const OWN = ['requestHandler', 'failedRequestHandler', 'requestHandlerTimeoutMs', 'reload', 'log'] as const
const DEFAULT_HANDLER_TIMEOUT_MS = 60_000

/**
 * A crawl of one data folder. `run` starts it, or goes on with what the folder holds; what was done before is not done
 * again. Throws CONFIG_INVALID for an option that there is not.
 */
export class Crawler {
  readonly #options: CrawlerOptions
  readonly #resolved: ResolvedOptions
  readonly #events = new EventEmitter()
  #run: CrawlRun | undefined

  constructor(options: CrawlerOptions = {}) {
    this.#options = options
    this.#resolved = resolve(options)
  }

  /** Listens; answers a function that ends it. A listener that throws ends the crawl with its error. */
  on<E extends keyof CrawlerEvents>(event: E, listener: (...args: CrawlerEvents[E]) => void): () => void {
    const plain = listener as (...args: unknown[]) => void
    this.#events.on(event, plain)
    return () => {
      this.#events.off(event, plain)
    }
  }

  /** Resolves when nothing is left to do, a limit is reached, or `stop` was called. Rejects with a CrawlError. */
  async run(seeds: string | RequestDraft | Seeds = []): Promise<CrawlSummary> {
    if (this.#run !== undefined) {
      throw invalid('run() was called while the crawler is running')
    }
    const { requestHandler, failedRequestHandler, requestHandlerTimeoutMs, reload, log } = this.#options
    const opened = openedOf(this.#options)
    this.#run = launch({
      options: this.#resolved,
      seeds: asSeeds(seeds),
      handler: requestHandler === undefined ? { kind: 'page-record' } : { kind: 'user', handle: requestHandler },
      ...(failedRequestHandler === undefined ? {} : { onFailed: failedRequestHandler }),
      handlerTimeoutMs: requestHandlerTimeoutMs ?? DEFAULT_HANDLER_TIMEOUT_MS,
      ...(reload === undefined ? {} : { reload }),
      opened,
      clock: systemClock,
      random: systemRandom,
      log: log ?? silentLogger,
      onWarning: (message) => this.#events.emit('warning', message),
      onEvent: (event) => this.#events.emit(event.type, event),
    })
    try {
      return await this.#run.done
    } finally {
      this.#run = undefined
    }
  }

  /** Takes nothing new, lets what is in flight end; `run` then resolves with `interrupted`. */
  stop(): void {
    this.#run?.stop()
  }

  /** Ends at once; what was in flight is given back and fetched again by the next run. */
  abort(): void {
    this.#run?.abort()
  }

  progress(): ProgressSnapshot | undefined {
    return this.#run?.progress()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const run = this.#run
    if (run === undefined) return
    run.abort()
    await run.done.catch(() => undefined)
  }
}

function asSeeds(seeds: string | RequestDraft | Seeds): Seeds {
  return typeof seeds === 'string' || 'url' in seeds ? [seeds] : seeds
}

/** What was passed in is not closed. */
function openedOf({ store, cacheStore }: CrawlerOptions): OpenedParts {
  return {
    ...(typeof store === 'object' ? { store } : {}),
    ...(typeof cacheStore === 'object' ? { cacheStore } : {}),
  }
}

function isOpened(key: string, value: unknown): boolean {
  return (key === 'store' || key === 'cacheStore') && typeof value === 'object' && value !== null
}

function resolve(options: CrawlerOptions): ResolvedOptions {
  const resolved: Record<string, unknown> = { ...defaultOptions() }
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || (OWN as readonly string[]).includes(key) || isOpened(key, value)) continue
    const name = key in ALIASES ? ALIASES[key as keyof typeof ALIASES] : key
    if (!(name in OPTIONS)) throw unknownOption(key)
    const problem = valueProblem(OPTIONS[name as keyof typeof OPTIONS], value)
    if (problem !== undefined) throw invalid(`${key}: ${problem}`)
    resolved[name] = value
  }
  return resolved as unknown as ResolvedOptions
}

/** Units of numbers as the command writes them: a library's numbers are milliseconds, bytes and counts. */
const UNITS: Readonly<Record<string, string>> = { DUR: 'ms', SIZE: 'b', N: '', 'N|auto': '' }

function valueProblem(row: OptionRow<unknown>, value: unknown): string | undefined {
  const found = `found ${JSON.stringify(value) ?? String(value)}`
  if (row.many) return Array.isArray(value) ? undefined : `expected a list, ${found}`
  const unit = UNITS[row.placeholder]
  if (unit !== undefined && typeof value !== 'number') return `expected a number, ${found}`
  if (row.takes === 'none') return typeof value === 'boolean' ? undefined : `expected true or false, ${found}`
  const parsed = row.parse(`${String(value)}${unit ?? ''}`)
  return parsed.ok ? undefined : `expected ${parsed.expected}, ${found}`
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}

function unknownOption(key: string): CrawlError {
  const near = nearestName(key, [...Object.keys(OPTIONS), ...Object.keys(ALIASES), ...OWN])
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return invalid(`unknown option ${key}${hint}`)
}
