/** A task: a named crawl as people describe it. What its parts are made of is the crawler's business. */

import type { UrlPattern } from '../rules/contract.ts'

/** Where links may lead: see `--scope`. */
export type TaskScopeKind = 'host' | 'domain' | 'prefix' | 'any'

export interface TaskScopeRules {
  /** Default `host`. */
  readonly kind?: TaskScopeKind
  /** Follow only links whose URL fits one of these. */
  readonly match?: UrlPattern | readonly UrlPattern[]
  /** Never follow links whose URL fits one of these. */
  readonly exclude?: UrlPattern | readonly UrlPattern[]
}

/** Reached, the task ends well and others go on. */
export interface TaskLimitRules {
  /** Counted over all runs. 1 or more. Default none. */
  readonly maxPages?: number
  /** Milliseconds, or a duration such as '10m'; of one run. Default none. */
  readonly maxTime?: number | string
  /** Bytes, or a size such as '100mb'; counted over all runs. Default none. */
  readonly maxBytes?: number | string
}

/** `Seed`: a request as people write it. `Rules`: rules or a router. */
export interface TaskDescription<Seed, Rules, Handler, FailedHandler, Hooks, TaskFetcher> {
  /** Names the crawl inside the store: 1 to 100 letters, digits, spaces, `.`, `_`, `-`. */
  readonly name: string
  /**
   * Where it begins: a URL, a request, or (a)synchronous many of them; a function is called for them in each run. Read
   * with back-pressure. Default none: then URLs are given when it is run.
   */
  readonly seeds?: TaskSeeds<Seed> | (() => TaskSeeds<Seed> | Promise<TaskSeeds<Seed>>)
  /** Sent to the hosts of the seeds only, by name. */
  readonly cookies?: Readonly<Record<string, string>>
  /** Sent with every request, by name; Authorization and Cookie to the hosts of the seeds only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Deepest level that is fetched; seeds are 0. Default none. */
  readonly maxDepth?: number
  /**
   * Least time between the starts of two requests to one host: milliseconds, or a duration such as '2s'. A longer
   * Crawl-delay or Retry-After wins. Default 500 ms; 0 for loopback hosts.
   */
  readonly waitTime?: number | string
  /**
   * May its pages be fetched again in the next run? True: once the task is at its end, the next run asks for all of them
   * once more. False: it tries again those that failed. Default: it does nothing but what is new among the seeds.
   */
  readonly reload?: boolean
  /**
   * Which of its pages are looked at again in the next run: true or 'all', those not looked at for an age such as '7d',
   * 'sitemap' (a sitemap gives a later date) or 'adaptive' (each after an interval of its own). Default: none.
   */
  readonly recrawl?: boolean | string
  /** Fields whose values are URLs of files to be kept: `'img@src'`, or many. Default none. */
  readonly downloads?: string | readonly string[]
  /** Where links may lead. Default `host`. */
  readonly scope?: TaskScopeKind | TaskScopeRules
  readonly limits?: TaskLimitRules
  /** Keep every link of every page, for the link graph; embedded store only. Default false. */
  readonly graph?: boolean
  /** Tasks with a higher one are given places first. A whole number; default 0. */
  readonly priority?: number
  /** What is done with its pages. Default: the page's record is its item, and all links are followed. */
  readonly rules?: Rules
  /** Called for every page, where there are no rules. */
  readonly requestHandler?: Handler
  /** Called once for a request that has failed for good. */
  readonly failedRequestHandler?: FailedHandler
  /** Hooks around every page, in this order. */
  readonly middleware?: Hooks | readonly Hooks[]
  /** What its pages are fetched with: `http` (default), `browser`, `auto` (a browser where a page needs it), or a fetcher of yours, which is not closed. */
  readonly fetcher?: TaskFetcher
}

export type TaskSeeds<Seed> = string | Seed | Iterable<string | Seed> | AsyncIterable<string | Seed>
