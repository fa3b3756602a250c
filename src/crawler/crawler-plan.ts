/** What a `Crawler` was made with, made into what a run is started with. */

import type { CacheStore } from '../cache/contract.ts'
import type { OptionRow } from '../config/option-row.ts'
import { nearestName } from '../config/nearest.ts'
import { type OptionKey, OPTIONS, type ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { FailedContext, Middleware, RequestHandler } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import type { ExportFormat } from '../items/contract.ts'
import { listOf } from '../rules/pattern.ts'
import type { Store } from '../stores/contract.ts'
import type { OpenedParts } from './compose.ts'
import type { Task } from './define-task.ts'
import type { LaunchTask } from './launch-options.ts'
import type { Routing } from './router.ts'
import type { Rule } from './rule.ts'
import { checkTasks, planTasks, routingOf, withBrowser } from './task-plan.ts'

/** Every option of the command by its name in the configuration file, and these. */
export interface CrawlerOptions extends Partial<Omit<ResolvedOptions, 'store' | 'cacheStore' | 'recrawl'>> {
  /**
   * Which pages are gone through again when the crawl is at its end: true or 'all', an age such as '7d', 'sitemap' or
   * 'adaptive'; see `recrawl` of the summary for what became of them. Default 'off'.
   */
  readonly recrawl?: boolean | string
  /** The URL of a shared store, or a store that was opened by `spoor/postgres` and the like. Default: embedded, in `dir`. */
  readonly store?: string | Store | undefined
  /** Where downloads are kept, or a cache that is open already. Default: with a URL in `store` there, else in `dir`. */
  readonly cacheStore?: ResolvedOptions['cacheStore'] | CacheStore
  /** Called for each page, or a router. Without it every link is followed and the page's record is the item. */
  readonly requestHandler?: RequestHandler | Routing
  /** What is done with the pages, by label and by URL; in place of a requestHandler. */
  readonly rules?: readonly Rule[] | Routing
  /** Hooks around every page, in this order. */
  readonly middleware?: Middleware | readonly Middleware[]
  /** Several crawls in one run, which share the store, the connections and the hosts; `run` takes no seeds then. */
  readonly tasks?: readonly Task[]
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
  /** Writes `output` in a format of your own; `exporterSuite` of `spoor/testing` judges it. Default: told by the ending. */
  readonly exportFormat?: ExportFormat
  /** Default: nothing is logged. */
  readonly log?: Logger
}

const ALIASES = {
  maxConcurrency: 'concurrency',
  maxRequestRetries: 'retries',
  maxRequestsPerCrawl: 'maxPages',
  maxCrawlDepth: 'maxDepth',
} as const
const OWN = [
  'requestHandler',
  'rules',
  'middleware',
  'tasks',
  'failedRequestHandler',
  'requestHandlerTimeoutMs',
  'reload',
  'exportFormat',
  'log',
] as const
const DEFAULT_HANDLER_TIMEOUT_MS = 60_000

export interface CrawlPlan {
  /** Of the run. */
  readonly options: ResolvedOptions
  readonly tasks: readonly LaunchTask[]
  readonly opened?: OpenedParts
}

export interface PlanRequest {
  /** Where the crawler says nothing. */
  readonly options: ResolvedOptions
  /** Options that win over what the crawler says. */
  readonly given: ReadonlySet<OptionKey>
  readonly seeds: Seeds
  /** Used where neither rules nor a handler are given and it has handlers. */
  readonly router: Routing
}

/** Throws CONFIG_INVALID for what cannot be. */
export function planCrawler(own: CrawlerOptions, request: PlanRequest): CrawlPlan {
  const options = mergeOptions(own, request)
  const opened = openedOf(own, request)
  const fallback = handlingOf(own, request.router)
  if (own.tasks !== undefined) {
    const planned = planTasks(own.tasks, { options, given: request.given, fallback })
    const [first] = planned
    if (first === undefined) throw invalid('tasks: expected at least one, found none')
    return { options: withBrowser({ ...options, task: first.options.task }, planned), tasks: planned, opened }
  }
  checkTasks([{ name: 'crawler', rules: fallback.rules, middleware: own.middleware }])
  const planned = [{ ...fallback, options, seeds: request.seeds }]
  return { options: withBrowser(options, planned), tasks: planned, opened }
}

function handlingOf(own: CrawlerOptions, router: Routing): Omit<LaunchTask, 'options' | 'seeds'> {
  const { requestHandler, failedRequestHandler, requestHandlerTimeoutMs, reload } = own
  const { rules, middleware: hooks = [] } = routingOf(routesOf(own, router))
  const middleware = [...hooks, ...listOf(own.middleware)]
  return {
    handler: typeof requestHandler === 'function' ? { kind: 'user', handle: requestHandler } : { kind: 'page-record' },
    handlerTimeoutMs: requestHandlerTimeoutMs ?? DEFAULT_HANDLER_TIMEOUT_MS,
    ...(rules === undefined ? {} : { rules }),
    ...(middleware.length === 0 ? {} : { middleware }),
    ...(failedRequestHandler === undefined ? {} : { onFailed: failedRequestHandler }),
    ...(reload === undefined ? {} : { reload }),
    ...(own.exportFormat === undefined ? {} : { exportFormat: own.exportFormat }),
  }
}

function routesOf({ requestHandler, rules }: CrawlerOptions, router: Routing): CrawlerOptions['rules'] {
  if (rules !== undefined && requestHandler !== undefined)
    throw invalid('expected either rules or a requestHandler, found both')
  if (typeof requestHandler === 'object') return requestHandler
  if (rules !== undefined || requestHandler !== undefined) return rules
  return router.rules.length > 0 || router.middleware.length > 0 ? router : undefined
}

/** Throws CONFIG_INVALID for an option that there is not, or a value of a wrong kind. */
export function mergeOptions(
  own: CrawlerOptions,
  { options, given }: Pick<PlanRequest, 'options' | 'given'>,
): ResolvedOptions {
  const merged: Record<string, unknown> = { ...options }
  for (const [key, value] of Object.entries(own)) {
    if (value === undefined || (OWN as readonly string[]).includes(key) || isOpened(key, value)) continue
    const name = key in ALIASES ? ALIASES[key as keyof typeof ALIASES] : key
    if (!(name in OPTIONS)) throw unknownOption(key)
    const problem = valueProblem(OPTIONS[name as keyof typeof OPTIONS], value)
    if (problem !== undefined) throw invalid(`${key}: ${problem}`)
    if (!given.has(name as OptionKey)) merged[name] = value
  }
  return merged as unknown as ResolvedOptions
}

/** What was passed in is not closed. */
function openedOf({ store, cacheStore }: CrawlerOptions, { given }: PlanRequest): OpenedParts {
  return {
    ...(typeof store === 'object' && !given.has('store') ? { store } : {}),
    ...(typeof cacheStore === 'object' && !given.has('cacheStore') ? { cacheStore } : {}),
  }
}

function isOpened(key: string, value: unknown): boolean {
  return (key === 'store' || key === 'cacheStore') && typeof value === 'object' && value !== null
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
