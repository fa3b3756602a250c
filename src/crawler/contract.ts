/** What the command needs of the library: the seam between src/cli and src/crawler. */

import type { OptionKey, ResolvedOptions } from '../config/options.ts'
import type { JsonObject } from '../core/json.ts'
import type { CacheMode, CacheOverride } from '../core/request.ts'
import type { FailureClass } from '../core/outcome.ts'
import type { EngineEvent, EngineTuning, FinishReason, Page, PageResponse } from '../engine/contract.ts'
import type { ExtractSchema } from '../extract/schema/contract.ts'
import type { CounterName, HostRecord } from '../frontier/contract.ts'
import type { Latency } from '../stats/latency.ts'
import type { GraphFormat, ReportFacts, Survey } from '../graph/contract.ts'
import type { RobotsVerdict } from '../robots/contract.ts'
import type { StorePort } from '../stores/contract.ts'
import type { CacheAccess, CacheLocation } from './cache-contract.ts'
import type { HostFigure } from './host-figures.ts'
import type { Trace, TraceHop } from './trace.ts'

export type { CacheAccess, CacheLocation, EngineEvent, ExtractSchema, FinishReason, StorePort, Trace, TraceHop }

/** A URL to begin with, when it is more than a URL. */
export interface SeedRequest {
  readonly url: string
  readonly priority?: number
  readonly label?: string
  readonly userData?: JsonObject
  readonly cache?: CacheMode | CacheOverride
}

/** The options of the table, and what only a caller can give. */
export interface CrawlOptions extends ResolvedOptions {
  /** Beside those of `seedFiles` and `sitemaps`. Read with back-pressure. */
  readonly seeds: AsyncIterable<string | SeedRequest> | Iterable<string | SeedRequest>
  /** What `-` among `seedFiles` reads. */
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Where items go for the output `-`: resolves when more may come. Rejects when the reader is gone. */
  readonly writeOutput?: (chunk: Uint8Array | string) => Promise<void>
  /** Proxy variables (HTTP_PROXY, NO_PROXY and so on) are read from it. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Things worth telling a person that stop nothing; one line. */
  readonly onWarning: (message: string) => void
  /** Told while a full disk is waited for; one line. Default: `onWarning`. */
  readonly onWait?: (message: string) => void
  /** Default: this process crawls. */
  readonly openForce?: OpenForce
  /** One line of JSON in pino's shape, filtered by `logLevel` already. */
  readonly onLog?: (line: string) => void
  readonly onEvent?: (event: EngineEvent) => void
}

/**
 * Counts are of the crawl over all its runs. `pages`, `failed` and `skipped` are how its URLs stand; the others count what
 * was done, since the last round over known pages began (`--recrawl`) where there was one: so `fromCache` is never more
 * than was looked at, and `bytes` are those of the round.
 */
export interface TaskSummary {
  readonly task: string
  readonly pages: number
  readonly failed: number
  readonly skipped: Readonly<Record<string, number>>
  readonly duplicates: number
  readonly bytes: number
  readonly fromCache: number
  /** Extracted and dropped, because a validator did not take it; absent when there is none. */
  readonly invalidItems?: number
  /** Of the last round over known pages, when there was one. */
  readonly recrawl?: RecrawlReport
}

/** What became of pages that were looked at again. */
export interface RecrawlReport {
  /** `all`, an age, `sitemap` or `adaptive`. */
  readonly mode: string
  /** ISO 8601. */
  readonly startedAt: string
  /** Known pages that were to be looked at. */
  readonly due: number
  /** Not seen before, or back again. */
  readonly new: number
  readonly changed: number
  readonly unchanged: number
  /** There before, and now 404 or 410. */
  readonly gone: number
}

/** Seconds are of this run. Of several tasks the names stand one after the other, and the counts are sums. */
export interface CrawlSummary extends TaskSummary {
  readonly finishReason: FinishReason
  readonly seconds: number
  /** Of each, where there are several. */
  readonly tasks?: readonly TaskSummary[]
  /** The data folder held a crawl that was not at its end. */
  readonly resumed?: boolean
  /** Nothing was left to do when it began. */
  readonly alreadyFinished?: boolean
}

export interface ProgressSnapshot {
  readonly elapsedMs: number
  readonly pages: number
  readonly failed: number
  readonly skipped: number
  readonly pending: number
  readonly leased: number
  readonly bytes: number
  readonly hosts: number
  /** Requests on the wire now. */
  readonly inFlight: number
  readonly fromCache: number
  readonly pagesPerSecond?: number
  /** Requests waiting at each depth, as far as there are some. */
  readonly levels?: readonly { readonly depth: number; readonly waiting: number }[]
  /** Hosts that this process sent most to, and those that answer most slowly. */
  readonly busiestHosts?: readonly HostFigure[]
  readonly slowestHosts?: readonly HostFigure[]
  /** Absent while nobody can tell. */
  readonly etaMs?: number
  /** Processes of this run. */
  readonly processes?: number
  readonly lastUrl?: string
  readonly errors?: Readonly<Partial<Record<FailureClass, number>>>
}

export interface CrawlRun {
  /** Rejects with a CrawlError: CONFIG_INVALID (nothing to crawl), SEEDS_UNREADABLE, STORE_…, EXPORT_FAILED. */
  readonly done: Promise<CrawlSummary>
  /** Takes nothing new, lets what is in flight end, then ends with `interrupted`. Idempotent. */
  stop(): void
  /** Ends at once; what was in flight is given back and fetched again by the next run. */
  abort(): void
  /** Cheap: no query of the store that takes longer than a few milliseconds. */
  progress(): ProgressSnapshot
  settings(): RunSettings
  /** Holds for what this process leads, until it ends; the delay for all who work on the store. Rejects when the store does. */
  tune(tuning: Tuning): Promise<void>
  /** The data of a task through the store that the run has open. Rejects when that could not be opened. Closing it is free. */
  reader(task: string): Promise<CrawlReader>
}

/** What may be changed while a crawl runs; what is left out stays as it is. */
export interface Tuning extends EngineTuning {
  /** Least time between two request starts to one host, whatever its name. */
  readonly delayMs?: number
}

/** As it is now. */
export interface RunSettings {
  readonly paused: boolean
  /** Was told to end: nothing new is begun. */
  readonly stopping: boolean
  /** Requests in flight in each process. */
  readonly maxConcurrency: number
  readonly processes: number
  readonly delayMs: number
}

/** A seed's host is trusted with more (credentials, private addresses) than one that a redirect brought. */
export interface ScopeNews {
  readonly task: string
  readonly kind: 'seed' | 'scope'
  readonly url: string
}

/** What does the crawling: the engine of this process, or worker processes. */
export interface CrawlForce {
  /** Resolves when all of it has ended. Rejects with a fault that ends the crawl. */
  readonly done: Promise<FinishReason>
  /** Takes no more leases, lets those in flight end, then ends. */
  drain(reason: FinishReason): void
  /** Ends now: what is in flight is given back. */
  abort(): void
  /** Something was added to the frontier. */
  wake(): void
  inFlight(): number
  /** The scope is larger than it was. */
  learn(news: ScopeNews): void
  /** The delay is in the store already. */
  tune(tuning: Tuning): void
}

export interface ForceStart {
  readonly options: ResolvedOptions
  /** Resolves when no more seeds will come; the force does not end before. */
  readonly fed: Promise<unknown>
  readonly onEvent: (event: EngineEvent) => void
  readonly onWarning: (message: string) => void
  /** Lets a worker process work through the store of this one. Undefined: each opens it by itself. */
  readonly serve?: ((port: StorePort) => void) | undefined
}

/** Starts worker processes that crawl in place of this one. */
export type OpenForce = (start: ForceStart) => CrawlForce

/** What `spoor run` is given; each process of a run loads it. */
export interface RunFile {
  /** Absolute. */
  readonly path: string
  /** As it was written, for messages. */
  readonly name: string
  readonly urls: readonly string[]
  /** Options that win over what the file says. */
  readonly given: readonly OptionKey[]
  /** Of several tasks, only this one. */
  readonly only?: string
}

export interface StoreLocation {
  readonly dir: string
  /** URL of a shared store, instead of the one in `dir`. */
  readonly store: string | undefined
  readonly task: string
}

/** One process that has the store open, on whatever machine. */
export interface WorkerStatus {
  readonly owner: string
  readonly alive: boolean
  /** Requests that it holds. */
  readonly leased: number
  /** ISO 8601. */
  readonly startedAt: string
  /** Null: it has not told yet, or does not crawl itself. */
  readonly machine: string | null
  readonly pid: number | null
  /** Settled by it since it began; of whatever task. */
  readonly pages: number
  /** Over its last seconds. */
  readonly pagesPerSecond: number
  /** How long its last requests took. Null: it sent none. */
  readonly fetchMs: Latency | null
}

export interface CrawlStatus {
  readonly task: string
  readonly pending: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: Readonly<Record<string, number>>
  readonly hosts: number
  readonly workers: readonly WorkerStatus[]
  readonly counters: Readonly<Record<CounterName, number>>
  readonly items?: number
  /** Of the last round over known pages, when there was one. */
  readonly recrawl?: RecrawlReport
  readonly levels?: readonly {
    readonly depth: number
    readonly pending: number
    readonly leased: number
    readonly done: number
    readonly failed: number
    readonly skipped: number
  }[]
}

export interface FailureEntry {
  readonly url: string
  readonly reason: string
  readonly status: number | null
  readonly attempts: readonly { readonly at: string; readonly error: string; readonly status?: number | null }[]
}

/** `waiting`: the longest queue first; `next`: the longest wait; `trouble`: down, silent, backing off. */
export type HostSort = 'waiting' | 'next' | 'trouble' | 'name'

export interface HostQuery {
  readonly sort: HostSort
  /** Only those whose name has this in it. */
  readonly contains?: string
  /** So many are passed over. */
  readonly from: number
  readonly max: number
}

export interface HostPage {
  readonly hosts: readonly HostRecord[]
  /** That fit. */
  readonly total: number
  /** False: there are more hosts than were looked at. */
  readonly isWhole: boolean
}

/** One page of a long list. */
export interface PageRequest {
  /** `next` of the page before. */
  readonly after?: string
  readonly max: number
}

export interface FailurePage {
  /** `id` names the request inside the store. */
  readonly failures: readonly (FailureEntry & { readonly id: string })[]
  /** Undefined: it was the last one. */
  readonly next?: string
}

export interface FailureFilter {
  /** A failure class. */
  readonly reason?: string
  /** Only these requests. */
  readonly ids?: readonly string[]
  readonly status?: number
  readonly host?: string
}

export interface WhyAnswer {
  readonly url: string
  readonly canonical: string
  readonly state: 'pending' | 'leased' | 'done' | 'failed' | 'skipped' | 'unknown'
  readonly reason: string | null
  readonly depth: number | null
  readonly parent: string | null
  readonly attempts: readonly { readonly at: string; readonly error: string; readonly status?: number | null }[]
  /** Of a trap: the rule that fired. */
  readonly rule?: string
  readonly aliasOf?: string
  readonly finalUrl?: string
  readonly status?: number
}

/** What is known of one crawl; may be opened while the crawl runs in another process. */
export interface CrawlReader {
  /** Names of all crawls in the store; that of `--task` need not be among them. */
  tasks(): Promise<readonly string[]>
  status(): Promise<CrawlStatus>
  failures(filter: FailureFilter): AsyncIterable<FailureEntry>
  /** A list of some seconds ago will do. */
  hosts(query: HostQuery): Promise<HostPage>
  failurePage(filter: FailureFilter, page: PageRequest): Promise<FailurePage>
  /** A URL that is none gives state `unknown` and a reason. */
  why(url: string): Promise<WhyAnswer>
  /** One line of JSON an item, without its end. */
  items(): AsyncIterable<string>
  /** Lines of JSON, the newest first; may be fewer than `max` although there are more. */
  latestItems(max: number): Promise<readonly string[]>
  verify(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>
  /** Answers how many were queued again. */
  retryFailures(filter: FailureFilter): Promise<number>
  /** The link graph; of a crawl without `--graph` it has nodes alone. */
  graph(): Promise<CrawlGraph>
  /** Writes all items to a file, whole or not at all. Answers how many. */
  exportTo(target: ExportTarget): Promise<number>
  close(): Promise<void>
}

export interface CrawlGraph {
  readonly hasLinks: boolean
  /** `max`: of the longest list in it. */
  survey(max: number): Promise<Survey>
  /** Pieces of the file. */
  write(format: GraphFormat): AsyncIterable<string>
  /** Pieces of a page of HTML that tells of the crawl. */
  report(facts: ReportFacts): AsyncIterable<string>
}

export interface ExportTarget {
  /** `-` goes to `writeOutput`. */
  readonly file: string
  readonly format: ResolvedOptions['format']
  /** In parts of this size. Default: one file. */
  readonly rotate?: { readonly items?: number; readonly bytes?: number } | undefined
  readonly writeOutput?: (chunk: Uint8Array | string) => Promise<void>
}

/** The options that requests depend on, for the commands that send one. */
export interface FetchOptions extends ResolvedOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  readonly onWarning?: (message: string) => void
  /** Ask the download cache of `dir` first, and keep there what comes. Default false. */
  readonly useCache?: boolean
}

export interface FetchAnswer {
  readonly url: string
  readonly finalUrl: string
  readonly status: number | null
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly redirects: readonly { readonly url: string; readonly status: number; readonly to: string }[]
  readonly charset: string | null
  readonly bytes: number
  readonly fromCache: boolean
  readonly timings: Readonly<Record<string, number>>
  /** What robots.txt says of it; only shown. Absent for robots.txt itself. */
  readonly robots?: RobotsVerdict | { readonly error: string }
  /** A class of failure and what happened: `timeout: no answer within 30 s`. */
  readonly error?: string
  /** With the option `trace`. */
  readonly trace?: Trace
}

export interface FetchedPage {
  readonly answer: FetchAnswer
  /** Decoded of its content codings. Empty when there is none. */
  readonly body: Uint8Array
  /** The whole Content-Type header. */
  readonly contentType: string | undefined
  /** As a handler gets it. Rejects with CONFIG_INVALID when no answer came. */
  readonly open: () => Promise<OpenedPage>
}

export interface OpenedPage {
  readonly response: PageResponse
  readonly page: Page
}

export interface SitemapLine {
  readonly url: string
  readonly lastmod: string | null
  readonly priority: number | null
}

/** Where a sitemap is: fetched, or given. */
export type SitemapSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'stream'; readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }

export interface SitemapOptions extends FetchOptions {
  readonly follow: boolean
}

/** Sends single requests with one set of connections. */
export interface PageFetcher {
  /** Never rejects for what a server does. */
  fetchOnce(url: string): Promise<FetchedPage>
  /** Rejects with SEEDS_UNREADABLE when the root cannot be had; a broken child is a warning. */
  sitemapEntries(source: SitemapSource): AsyncIterable<SitemapLine>
  close(): Promise<void>
}

/** Implemented by src/crawler/commands.ts. */
export interface CrawlCommands {
  startCrawl(options: CrawlOptions): CrawlRun
  /** Rejects with STORE_UNAVAILABLE when there is no crawl. */
  openForReading(location: StoreLocation): Promise<CrawlReader>
  openPageFetcher(options: FetchOptions): Promise<PageFetcher>
  /** Rejects with STORE_UNAVAILABLE when there is no cache and none is to be made. */
  openCacheAccess(place: CacheLocation): Promise<CacheAccess>
  /** Forgets one crawl of a store; the download cache stays. */
  clearCrawl(location: StoreLocation): Promise<void>
}
