/** What the engine is made of, and what it tells while it runs. */

import type { CheerioAPI } from 'cheerio'
import type { CacheGate } from '../cache/contract.ts'
import type { Clock } from '../core/clock.ts'
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'
import type { FailedAttempt, FailureClass, SkipReason } from '../core/outcome.ts'
import type { CacheMode, CacheOverride, StoredRequest } from '../core/request.ts'
import type { UrlPieces } from '../core/url-pieces.ts'
import type { PageScan } from '../extract/contract.ts'
import type { Extracted, ExtractSchema, StandardSchema } from '../extract/schema/contract.ts'
import type { Fetcher, FetchResponse, FetchResult, HeaderList, LivePage, RenderSettings } from '../fetch/contract.ts'
import type { Lease, Settlement, TaskSettings } from '../frontier/contract.ts'
import type { IntervalBounds } from '../recrawl/contract.ts'
import type { RobotsSource } from '../robots/contract.ts'
import type { UrlPattern } from '../rules/contract.ts'
import type { Store } from '../stores/contract.ts'
import type { Random } from '../util/random.ts'
import type { SavedFile } from '../util/save-file.ts'

/** Labels whose user data nobody has declared. */
export type AnyLabels = Readonly<Record<string, JsonObject>>

/** Under an undeclared label, or none, user data is any JSON object. */
export type UserDataOf<L extends object, K> = K extends keyof L ? L[K] : JsonObject

/** A label with the user data that is declared for it; with none, any. */
export type LabelFields<L extends object> = string extends keyof L
  ? { readonly label?: string; readonly userData?: JsonObject }
  : | { readonly label?: never; readonly userData?: JsonObject }
    | { [K in keyof L & string]: { readonly label: K } & DataField<L[K]> }[keyof L & string]

type DataField<D> = object extends D ? { readonly userData?: D } : { readonly userData: D }

/** What a handler sees of a request. */
export interface PageRequest<D = JsonObject> {
  /** Names the request inside the store. */
  readonly id: string
  readonly url: string
  /** Where it was loaded from, after redirects. */
  readonly loadedUrl: string
  readonly depth: number
  readonly priority: number
  readonly label: string | undefined
  /** What was given with the label; `{}` when nothing was. */
  readonly userData: D
  readonly method: string
  /** 0 on the first try. */
  readonly retryCount: number
}

export interface PageResponse {
  readonly url: string
  readonly status: number
  readonly headers: HeaderList
  /** First value, by name in any case. */
  header(name: string): string | undefined
  readonly fromCache: boolean
}

/** The answer's body, read as a page: every part is worked out when it is first asked for, once. */
export interface Page {
  readonly url: string
  readonly body: Uint8Array
  /** Essence of the MIME type, sniffed: `text/html`. */
  readonly contentType: string
  readonly isHtml: boolean
  readonly charset: string
  readonly text: string
  /** Empty for what is not HTML. */
  readonly scan: PageScan
  /** The links of `scan` without repetitions and without the page itself. */
  readonly links: readonly string[]
  readonly title: string
  /** A tree of the first 8 MiB of the text, nested 512 levels deep at the most, as browsers do. */
  readonly $: CheerioAPI
  /** Free of user code that waits; `text` of the body as JSON. */
  json(): unknown
  /**
   * The data that the schema describes, from the first 2 MiB of the text; null (a list: none) where the page has none.
   * Rejects with CONFIG_INVALID for a schema that is none, EXTRACT_FAILED for a page that takes more than 5 s or gives
   * more than 32 Mi characters, PEER_MISSING for a package that is not installed. Each fails the page and is not retried.
   */
  extract<const S extends ExtractSchema>(schema: S): Promise<Extracted<S>>
  /** The same, judged by a validator: what it gives back. Rejects with ITEM_INVALID, too, for what does not fit. */
  extract<const S extends ExtractSchema, Output>(
    schema: S,
    options: ExtractOptions<Output> & { readonly onInvalid?: 'fail' },
  ): Promise<Output>
  /** The same; what does not fit is null, and counted as `invalidItems`. */
  extract<const S extends ExtractSchema, Output>(schema: S, options: ExtractOptions<Output>): Promise<Output | null>
}

export interface ExtractOptions<Output> {
  /** Of any library that speaks Standard Schema: zod, valibot, arktype and others. */
  readonly validate: StandardSchema<Output>
  /** Default `fail`: the page fails, with what is wrong in its failure. */
  readonly onInvalid?: 'fail' | 'drop'
}

interface LinkChoice {
  /** Only links inside elements that fit this CSS selector (builds a DOM). */
  readonly selector?: string
  /** These instead of the page's links; relative ones are resolved against the page's base. */
  readonly urls?: readonly string[]
  /** The URL must fit one of them: globs, regular expressions or URLPatterns. */
  readonly match?: UrlPattern | readonly UrlPattern[]
  /** The URL must fit none of them. */
  readonly exclude?: UrlPattern | readonly UrlPattern[]
  readonly priority?: number
  readonly cache?: CacheMode | CacheOverride
  /** Changes a request, or drops it by false. */
  readonly transform?: (request: RequestDraft) => RequestDraft | false
}

export type EnqueueLinksOptions<L extends object = AnyLabels> = LinkChoice & LabelFields<L>

/** A request as people write it. */
export interface RequestDraft {
  readonly url: string
  readonly label?: string
  readonly priority?: number
  readonly userData?: JsonObject
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string
  /** What the download cache does for it: a mode, or `{ mode, ttlMs }`. Default: as the crawl has it. */
  readonly cache?: CacheMode | CacheOverride
}

/** A request whose user data fits what is declared for its label. */
export type LabelledRequest<L extends object = AnyLabels> = Omit<RequestDraft, 'label' | 'userData'> & LabelFields<L>

/**
 * Decisions of a handler or a hook. Each ends it there and then, and drops what it pushed and enqueued: the first one
 * holds, also when the error that it is thrown as is caught.
 */
export interface PageDecisions {
  /** The page counts as skipped for the reason `handler`; `why` goes to the log and to the event. */
  skip(why?: string): never
  /** Another try, as after a failure: counted, with backoff, and a failure when no tries are left. */
  retry(options?: { readonly why?: string; readonly afterMs?: number }): never
  /** A failure of class `handler` without another try. */
  fail(why?: string): never
}

/** Nothing that it pushes or enqueues exists until its page is settled, and exactly once then. */
export interface HandlerContext<L extends object = AnyLabels, K = unknown> extends PageDecisions {
  readonly request: PageRequest<UserDataOf<L, K>>
  readonly response: PageResponse
  readonly page: Page
  readonly $: CheerioAPI
  readonly body: Uint8Array
  /** The browser's page, still open, when it was rendered now: see `browserPage` of `spoor/browser`. */
  readonly live: LivePage | undefined
  readonly log: Logger
  /** Aborts when the handler's time is over, its lease is lost or the crawl is aborted. */
  readonly signal: AbortSignal
  enqueueLinks(options?: EnqueueLinksOptions<L>): Promise<void>
  addRequests(requests: readonly (string | URL | LabelledRequest<L>)[]): Promise<void>
  pushData(data: JsonObject | readonly JsonObject[]): Promise<void>
  /**
   * Queues files (pictures, PDFs) to be fetched and kept in the data folder, once each, named by their content. Each
   * becomes an item `{ url, finalUrl, page, path, sha256, bytes, contentType, fetchedAt }` when it has come. From any host,
   * whatever the scope; but politeness, robots.txt and `exclude` hold, and what the crawl knows already is not fetched again.
   */
  download(urls: string | URL | readonly (string | URL)[], options?: DownloadOptions): Promise<void>
}

export interface DownloadOptions {
  readonly priority?: number
  /** Default: as the crawl has it. `off` keeps no second copy in the download cache. */
  readonly cache?: CacheMode | CacheOverride
  /** Becomes part of the item. */
  readonly userData?: JsonObject
}

/**
 * What it returns, and what it yields as a generator, is taken as if it had been given to `addRequests` (a string, a URL,
 * `follow(…)`) or to `pushData` (any other plain object); lists are taken apart. Anything else that it returns is left alone.
 */
export type RequestHandler<L extends object = AnyLabels, K = unknown> = (context: HandlerContext<L, K>) => unknown

/** What every hook sees. */
export interface HookContext extends PageDecisions {
  readonly request: PageRequest
  readonly log: Logger
  readonly signal: AbortSignal
}

export interface FetchHookContext extends HookContext {
  /** Sent with this request; may be changed. Lower-case names. */
  readonly headers: Record<string, string>
}

export interface AnswerHookContext extends HookContext {
  readonly response: PageResponse
  readonly body: Uint8Array
}

/**
 * What stands around every page of a task. Each hook is awaited, within the time of a handler; one that throws fails its
 * page as a handler would. Several middlewares are called one after the other, in their order.
 */
export interface Middleware {
  /** Before the cache is asked and anything is sent, for each hop of a redirect. */
  readonly beforeFetch?: (context: FetchHookContext) => unknown
  /** After an answer that is no redirect, whatever its status, before that is judged. Not after a failure of the network. */
  readonly afterFetch?: (context: AnswerHookContext) => unknown
  /**
   * For each new request that a page has found and the task's scope has let in: changes it by what it answers, or leaves
   * it out by false (it is recorded as skipped `filtered`). Seeds and redirects are not asked about.
   */
  readonly beforeEnqueue?: (request: RequestDraft, context: HookContext) => HookAnswer<RequestDraft>
  /** For each item of a page: changes it by what it answers, or leaves it out by false. */
  readonly onItem?: (item: JsonObject, context: HookContext) => HookAnswer<JsonObject>
}

/** Undefined: as it is. */
export type HookAnswer<T> = T | false | undefined | Promise<T | false | undefined>

/** What `failedRequestHandler` sees: the page may not have come at all. */
export interface FailedContext {
  readonly request: PageRequest
  readonly error: Error
  readonly failure: FailedAttempt
  readonly log: Logger
  pushData(data: JsonObject | readonly JsonObject[]): Promise<void>
  addRequests(requests: readonly (string | RequestDraft)[]): Promise<void>
}

/** `page-record`: the command's own, which follows every link and pushes the page's record; or user code. */
export type PageHandler = { readonly kind: 'page-record' } | { readonly kind: 'user'; readonly handle: RequestHandler }

/** One task, ready to run. */
export interface EngineTask {
  readonly settings: TaskSettings
  readonly handler: PageHandler
  readonly onFailed?: (context: FailedContext) => unknown
  /** The task as the rule has it that takes a request. Default: the task itself. */
  readonly routeOf?: (lease: Lease) => EngineTask
  /** For messages. Default: the name of the task. */
  readonly ruleName?: string
  readonly middleware?: readonly Middleware[]
  /** Default: the crawl's. */
  readonly fetcher?: Fetcher
  /** Of the whole request. Default: the fetcher's. */
  readonly timeoutMs?: number
  /** Default: the crawl's. What a request says itself goes before. */
  readonly cache?: CacheOverride
  /** Tasks of a higher priority are given places first. Default 0. */
  readonly priority?: number
  readonly limits?: TaskLimits
  readonly door: Door
  /** 0: one try. */
  readonly maxRetries: number
  readonly handlerTimeoutMs: number
  /** Milliseconds since the epoch: kept pages that were not asked for since then are asked for again. Default: the cache's TTL. */
  readonly reloadSinceMs?: number
  /** How looks at pages are remembered with their requests. Default: they are not. */
  readonly visits?: VisitSettings
  /** Fields that `--select` takes out of each page. */
  readonly fields?: ExtractSchema
  /** Sent to every host. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent to the hosts of the seeds only: credentials. */
  readonly seedHeaders: Readonly<Record<string, string>>
  readonly allowPrivate: boolean
  readonly respectRobots: boolean
  /** Fields whose values are URLs of files to be kept. */
  readonly downloads?: ExtractSchema
  /** Of a file to be kept; a longer one is a failure `too-large`. Default: the fetcher's. */
  readonly maxDownloadBytes?: number
  /** How pages are shown to a browser. Default: they are not. */
  readonly render?: RenderSettings
  /** Names the rule when a page with this content has come too often under other URLs: its links are a trap. */
  readonly contentTrapOf?: (url: string, body: Uint8Array) => string | undefined
  readonly page: PageOptions
  /** Keep where each page leads, for the link graph. */
  readonly keepsLinks?: true
}

export interface VisitSettings {
  readonly bounds: IntervalBounds
  /** Pages that are known are gone through again: what became of each is counted. */
  readonly isRound: boolean
}

/** Of one task; those of the crawl hold beside them. */
export interface TaskLimits {
  /** Counted over all runs. */
  readonly maxPages?: number
  readonly maxBytes?: number
  /** Of one run. */
  readonly maxTimeMs?: number
}

export interface PageOptions {
  /** Product token of the robots metas and X-Robots-Tag headers that concern us. */
  readonly agent: string
  readonly maxUrlBytes: number
  /** Links with their text. */
  readonly withText?: true
}

export interface Candidate {
  /** WHATWG-serialised, absolute, without fragment. */
  readonly url: string
  readonly depth: number
  readonly nofollow?: boolean
  readonly draft?: Omit<RequestDraft, 'url'>
}

/** The one door into a task's frontier. */
export interface Door {
  /** A seed brings its host into scope. */
  admitSeed(draft: RequestDraft): StoredRequest | { readonly problem: string }
  /** The store has it at this depth or a smaller one, as far as this process remembers: false may be wrong, true is not. */
  isKnown(url: string, depth: number): boolean
  /** The same for a URL that has not been put together. */
  arePiecesKnown(pieces: UrlPieces, depth: number): boolean
  /** `known`: the store has it at this depth or a smaller one. `refused`: it is recorded as refused already. */
  admit(candidate: Candidate): StoredRequest | 'known' | 'refused'
  /** A redirect's target: a request, or the reason why not. */
  admitRedirect(url: string, from: StoredRequest): StoredRequest | { readonly skip: SkipReason }
  /** True once a store holds all of these. */
  note(requests: readonly StoredRequest[]): void
  isSeedHost(hostKey: string): boolean
  /** Fingerprint of a URL that `admit` left out. */
  fingerprintOf(url: string): string
  /** What the frontier would know the URL by. */
  nameOf(url: string): Pick<StoredRequest, 'fingerprint' | 'hostKey'>
}

export interface EngineDeps {
  readonly store: Store
  readonly fetcher: Fetcher
  /** Default: none. */
  readonly cache?: CacheGate | undefined
  readonly robots: RobotsSource
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Keeps a file in the data folder; see src/util/save-file.ts. */
  readonly saveFile: (bytes: Uint8Array, ending: string) => Promise<SavedFile>
  /** A hash of the cookies that a request to the URL would carry: '' for none. */
  readonly cookiesVersion: (session: string, url: string) => string
  /** Called right before each batch of settlements: cookies and scope that were learnt with it are made durable. */
  readonly beforeSettle?: () => Promise<void> | undefined
  /** Called after each batch of settlements is acknowledged. */
  readonly afterSettle?: () => void
  readonly onEvent: (event: EngineEvent) => void
  /** Told of each request that was sent, and how long it took from when it was handed to the fetcher until its body was whole. */
  readonly onFetched?: (url: string, ms: number, result: FetchResult) => void
  /** Stands around the whole story of a page. */
  readonly tracePage?: (lease: Lease, run: () => Promise<Settlement>) => Promise<Settlement>
}

export interface EngineOptions {
  readonly maxConcurrency: number
  readonly leaseMs: number
  readonly maxPages?: number
  readonly maxBytes?: number
  readonly maxTimeMs?: number
}

export type FinishReason = 'finished' | 'max-pages' | 'max-time' | 'max-bytes' | 'interrupted'

export type EngineEvent =
  | {
      readonly type: 'page'
      readonly url: string
      readonly status: number
      readonly depth: number
      readonly bytes: number
      readonly fromCache: boolean
    }
  | { readonly type: 'skipped'; readonly url: string; readonly reason: SkipReason; readonly why?: string }
  | { readonly type: 'redirected'; readonly url: string; readonly to: string }
  | {
      readonly type: 'retry'
      readonly url: string
      readonly failure: FailureClass
      readonly error: string
      readonly inMs: number
    }
  | { readonly type: 'failed'; readonly url: string; readonly failure: FailureClass; readonly error: string }
  | { readonly type: 'lost'; readonly url: string }

export interface EngineRun {
  /** Rejects only with a fault of the store. */
  readonly done: Promise<FinishReason>
  /** Takes no more leases, lets those in flight end, then ends. */
  drain(reason: FinishReason): void
  /** Ends now: what is in flight is given back. */
  abort(): void
  inFlight(): number
  tune(tuning: EngineTuning): void
}

/** What may be changed while it runs; what is left out stays as it is. */
export interface EngineTuning {
  /** Takes no more leases until it is false again; those in flight end. A paused engine does not end by itself. */
  readonly paused?: boolean
  readonly maxConcurrency?: number
}

/** A fetched answer on its way to the handler. */
export interface Exchange {
  readonly lease: Lease
  readonly task: EngineTask
  readonly response: FetchResponse
  readonly fromCache: boolean
}
