/** One run of a crawl: opens the parts, feeds the seeds, runs the engine, keeps the exports up to date, sums up. */

import type { ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { EngineEvent, FinishReason } from '../engine/contract.ts'
import { selectSchema } from '../extract/select.ts'
import { planOf } from '../extract/schema/plan.ts'
import { feedSeeds, type SeedEntry, type Seeds } from '../engine/feed.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import type { CrawlForce, CrawlRun, CrawlSummary, ProgressSnapshot } from './contract.ts'
import { chooseSeeds, type SeedSkip } from './choose-seeds.ts'
import { type CacheCare, startCacheCare } from './cache-care.ts'
import { type Parts, openParts, storeExists } from './compose.ts'
import { startEngineForce } from './force.ts'
import { admitKnownSeeds, allSeeds } from './seeds.ts'
import { createTally, type Tally } from './tally.ts'
import type { LaunchOptions } from './launch-options.ts'
import { openTask, type OpenTask } from './task.ts'

/** How often the live figures are taken from the store. */
const REFRESH_MS = 500
/** Seeds that are no URL are counted; only the first ones are shown. */
const SHOWN_PROBLEMS = 5

export function launch(options: LaunchOptions): CrawlRun {
  return new Run(options)
}

class Run implements CrawlRun {
  readonly done: Promise<CrawlSummary>
  readonly #options: LaunchOptions
  readonly #tally: Tally
  readonly #feedAbort = new AbortController()
  #force: CrawlForce | undefined
  /** Asked for before the force was there. */
  #early: 'stop' | 'abort' | undefined
  #problems = 0
  readonly #passedOver: Partial<Record<SeedSkip, number>> = {}
  readonly #faults = new Set<string>()

  constructor(options: LaunchOptions) {
    this.#options = options
    this.#tally = createTally(() => options.clock.monotonicMs())
    this.done = this.#run()
  }

  stop(): void {
    this.#early ??= 'stop'
    this.#force?.drain('interrupted')
  }

  abort(): void {
    this.#early = 'abort'
    this.#force?.abort()
  }

  progress(): ProgressSnapshot {
    return this.#tally.snapshot(this.#force?.inFlight() ?? 0)
  }

  async #run(): Promise<CrawlSummary> {
    const startedAtMs = this.#options.clock.monotonicMs()
    checkSelects(this.#options.options)
    const given = this.#givenSeeds()
    const parts = await openParts(this.#options.options, {
      ...this.#options,
      onFault: this.#onFault,
      leads: this.#options.openForce !== undefined,
    })
    try {
      const task = await openTask(parts, this.#options)
      const care = this.#careFor(parts)
      let finishReason: FinishReason | undefined
      try {
        finishReason = await this.#crawl(parts, task, given)
      } finally {
        await care?.finish(finishReason === 'finished')
      }
      await task.saveAll()
      await task.exports?.finish()
      return await this.#summary({ parts, task, finishReason, startedAtMs })
    } finally {
      await parts.close()
    }
  }

  /** Offline the cache is all there is: nothing of it is forgotten. */
  #careFor({ cacheStore }: Parts): CacheCare | undefined {
    const { options, clock } = this.#options
    if (cacheStore === undefined || options.cache === 'offline') return undefined
    const onFault = (error: unknown): void => {
      this.#onFault('the download cache', error)
    }
    return startCacheCare({ store: cacheStore, clock, ttlMs: options.cacheTtlMs, onFault })
  }

  async #crawl(parts: Parts, task: OpenTask, given: Seeds | undefined): Promise<FinishReason> {
    const { options, clock } = this.#options
    const { frontier } = parts.store
    if (task.before.known > 0) await admitKnownSeeds(frontier, task.engineTask)
    const seeds =
      given === undefined ? [] : this.#choose(allSeeds(given, { ...this.#options, parts, task }), parts, task)
    const feeding = feedSeeds({
      seeds,
      door: task.engineTask.door,
      frontier,
      clock,
      onProblem: this.#onProblem,
      onAdded: () => this.#force?.wake(),
      isBusy: () => (this.#force?.inFlight() ?? 0) * 2 >= options.concurrency,
      signal: this.#feedAbort.signal,
    })
    const fed = feeding.then(({ seeds: good }) => this.#checkSeeds(parts, good))
    fed.catch(() => undefined) // the force hears of it
    const force = this.#startForce(parts, task, fed)
    this.#force = force
    task.scope.onNews((news) => {
      force.learn(news)
    })
    if (this.#early === 'stop') force.drain('interrupted')
    if (this.#early === 'abort') force.abort()
    const stopWatching = this.#watch(parts, task)
    try {
      return await Promise.race([force.done, task.exportFault])
    } finally {
      stopWatching()
      this.#feedAbort.abort()
      force.abort()
      await feeding.catch(() => undefined)
    }
  }

  #choose(seeds: Seeds, { cacheStore, store }: Parts, { engineTask }: OpenTask): Seeds {
    const { options, clock } = this.#options
    if (options.limit === undefined && options.skip.length === 0) return seeds
    const onPassedOver = (reason: SeedSkip): void => {
      this.#passedOver[reason] = (this.#passedOver[reason] ?? 0) + 1
    }
    const { door } = engineTask
    return chooseSeeds(seeds, { options, door, frontier: store.frontier, cacheStore, clock, onPassedOver })
  }

  #startForce(parts: Parts, task: OpenTask, fed: Promise<unknown>): CrawlForce {
    const { options, onWarning, openForce, onEvent: tell } = this.#options
    const onEvent = (event: EngineEvent): void => {
      this.#tally.take(event)
      tell?.(event)
    }
    if (openForce !== undefined) return openForce({ options, fed, onEvent, onWarning, serve: parts.serve })
    return startEngineForce({
      parts,
      task,
      launch: this.#options,
      fed,
      onEvent,
      afterSettle: () => task.exports?.pumpSoon(),
    })
  }

  /** Undefined: none, but there is a crawl to go on with. */
  #givenSeeds(): Seeds | undefined {
    const { options } = this.#options
    const { some, seeds } = peek(this.#options.seeds)
    if (some || options.seedFiles.length > 0 || options.sitemaps.length > 0) return seeds
    if (this.#options.opened?.store === undefined && !storeExists(options))
      throw new CrawlError('CONFIG_INVALID', { context: { problem: nothingToCrawl(options) } })
    return undefined
  }

  async #checkSeeds(parts: Parts, good: number): Promise<void> {
    if (this.#problems > SHOWN_PROBLEMS) {
      this.#options.onWarning(
        `${this.#problems} seeds are no URL and were passed over (the first ${SHOWN_PROBLEMS} are shown above)`,
      )
    }
    if (good > 0 || this.#early !== undefined || Object.keys(this.#passedOver).length > 0) return
    const { known } = await parts.store.frontier.stats(this.#options.options.task)
    if (known > 0) return
    const { options } = this.#options
    let problem = nothingToCrawl(options)
    if (this.#problems > 0) problem = 'none of the seeds is a URL'
    else if (options.seedFiles.length + options.sitemaps.length > 0) {
      problem = `${[...options.seedFiles, ...options.sitemaps].join(', ')}: expected at least one URL, found none`
    }
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  }

  /** Told once for each thing: the next thousand faults of a full disk are no news. */
  readonly #onFault = (what: string, error: unknown): void => {
    if (this.#faults.has(what)) return
    this.#faults.add(what)
    const message = error instanceof Error ? error.message : String(error)
    this.#options.onWarning(`${what} has a fault, and the crawl goes on: ${message}`)
  }

  readonly #onProblem = (problem: string): void => {
    this.#problems++
    if (this.#problems <= SHOWN_PROBLEMS) this.#options.onWarning(`a seed is passed over: ${problem}`)
  }

  /** Takes figures from the store now and then; what other processes do is seen by them alone. */
  #watch({ store }: Parts, { exports }: OpenTask): () => void {
    const { clock, options, openForce } = this.#options
    const stop = new AbortController()
    const look = async (): Promise<void> => {
      const stats = await store.frontier.stats(options.task)
      this.#tally.refresh(stats)
      if (openForce === undefined) return
      exports?.pumpSoon()
      if (options.maxBytes !== undefined && stats.counters.bytes >= options.maxBytes) this.#force?.drain('max-bytes')
    }
    const watch = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        // a store that cannot be read for a moment must not end the watch: limits and exports hang on it
        await look().catch((error: unknown) => {
          if (!stop.signal.aborted) this.#onFault('reading the state of the crawl', error)
        })
        await clock.sleep(REFRESH_MS, stop.signal)
      }
    }
    void watch()
    const stopTimer =
      openForce === undefined || options.maxTimeMs === undefined
        ? undefined
        : clock.timer(options.maxTimeMs, () => this.#force?.drain('max-time'))
    return () => {
      stop.abort()
      stopTimer?.()
    }
  }

  async #summary(end: {
    readonly parts: Parts
    readonly task: OpenTask
    readonly finishReason: FinishReason
    readonly startedAtMs: number
  }): Promise<CrawlSummary> {
    const { options, clock } = this.#options
    const stats = await end.parts.store.frontier.stats(options.task)
    this.#tally.refresh(stats)
    const { before } = end.task
    const skipped: Record<string, number> = { ...stats.skipped, ...this.#passedOver }
    if (this.#problems > 0) skipped['invalid-url'] = (skipped['invalid-url'] ?? 0) + this.#problems
    return {
      task: options.task,
      finishReason: end.finishReason,
      pages: stats.done,
      failed: stats.failed,
      skipped,
      duplicates: stats.counters.duplicates,
      bytes: stats.counters.bytes,
      seconds: Math.round(clock.monotonicMs() - end.startedAtMs) / 1000,
      fromCache: stats.counters.fromCache,
      ...(stats.counters.invalidItems > 0 ? { invalidItems: stats.counters.invalidItems } : {}),
      resumed: before.pending + before.leased > 0,
      alreadyFinished: before.known > 0 && isSame(stats.counters, before.counters),
    }
  }
}

/** Neither asked a server nor the cache. */
function isSame(a: FrontierStats['counters'], b: FrontierStats['counters']): boolean {
  return a.requests === b.requests && a.fromCache === b.fromCache
}

/** Throws CONFIG_INVALID for a field that cannot be looked for, before anything is opened. */
function checkSelects({ select }: ResolvedOptions): void {
  const schema = selectSchema(select)
  if (schema !== undefined) planOf(schema)
}

function nothingToCrawl({ dir, task }: ResolvedOptions): string {
  return `nothing to crawl: expected at least one URL (or --seeds FILE, --sitemap URL), and ${dir} holds no crawl named ${task} to go on with`
}

/**
 * Looks whether there is anything without taking it away. What must be waited for counts as something: a source that
 * hangs before its first entry holds up neither the start nor the end.
 */
function peek(seeds: Seeds): { readonly some: boolean; readonly seeds: Seeds } {
  if (Symbol.asyncIterator in seeds) return { some: true, seeds }
  const iterator = seeds[Symbol.iterator]()
  const first = iterator.next()
  if (first.done === true) return { some: false, seeds: [] }
  function* all(): Generator<SeedEntry> {
    let next: IteratorResult<SeedEntry> = first
    while (next.done !== true) {
      yield next.value
      next = iterator.next()
    }
  }
  return { some: true, seeds: all() }
}
