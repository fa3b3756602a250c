/** One run of a crawl: opens the parts, feeds the seeds, runs the engine, keeps the exports up to date, sums up. */

import type { ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { FinishReason } from '../engine/contract.ts'
import { type Engine, startEngine } from '../engine/engine.ts'
import { feedSeeds, type SeedEntry, type Seeds } from '../engine/feed.ts'
import type { CrawlRun, CrawlSummary, ProgressSnapshot } from './contract.ts'
import { type Parts, openParts, storeExists } from './compose.ts'
import { allSeeds } from './seeds.ts'
import { engineOptionsOf } from './settings.ts'
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
  #engine: Engine | undefined
  /** Asked for before the engine was there. */
  #early: 'stop' | 'abort' | undefined
  #problems = 0

  constructor(options: LaunchOptions) {
    this.#options = options
    this.#tally = createTally(() => options.clock.monotonicMs())
    this.done = this.#run()
  }

  stop(): void {
    this.#early ??= 'stop'
    this.#engine?.drain('interrupted')
  }

  abort(): void {
    this.#early = 'abort'
    this.#engine?.abort()
  }

  progress(): ProgressSnapshot {
    return this.#tally.snapshot(this.#engine?.inFlight() ?? 0)
  }

  async #run(): Promise<CrawlSummary> {
    const startedAtMs = this.#options.clock.monotonicMs()
    const given = await this.#givenSeeds()
    const parts = await openParts(this.#options.options, this.#options)
    try {
      const task = await openTask(parts, this.#options)
      const finishReason = await this.#crawl(parts, task, given)
      await task.saveAll()
      await task.exports?.finish()
      return await this.#summary({ parts, task, finishReason, startedAtMs })
    } finally {
      await parts.close()
    }
  }

  async #crawl(parts: Parts, task: OpenTask, given: Seeds | undefined): Promise<FinishReason> {
    const { options, clock } = this.#options
    const { frontier } = parts.store
    const seeds =
      given === undefined ? knownSeeds(frontier, options.task) : allSeeds(given, { ...this.#options, parts, task })
    const feeding = feedSeeds({
      seeds,
      door: task.engineTask.door,
      frontier,
      clock,
      onProblem: this.#onProblem,
      onAdded: () => this.#engine?.wake(),
      signal: this.#feedAbort.signal,
    })
    const fed = feeding.then(({ seeds: good }) => this.#checkSeeds(parts, good))
    fed.catch(() => undefined) // the engine hears of it
    this.#engine = startEngine({
      deps: {
        ...parts,
        cookiesVersion: (session, url) => parts.cookies.versionFor(session, url),
        clock,
        random: this.#options.random,
        log: this.#options.log,
        beforeSettle: () => task.saveLearnt(),
        afterSettle: () => task.exports?.pumpSoon(),
        onEvent: (event) => {
          this.#tally.take(event)
          this.#options.onEvent?.(event)
        },
      },
      options: engineOptionsOf(options),
      tasks: new Map([[options.task, task.engineTask]]),
      fed,
    })
    if (this.#early === 'stop') this.#engine.drain('interrupted')
    if (this.#early === 'abort') this.#engine.abort()
    const stopRefresh = this.#keepFresh(parts)
    try {
      return await Promise.race([this.#engine.done, task.exportFault])
    } finally {
      stopRefresh()
      this.#feedAbort.abort()
      this.#engine.abort()
      await feeding.catch(() => undefined)
    }
  }

  /** Undefined: none, but there is a crawl to go on with. */
  async #givenSeeds(): Promise<Seeds | undefined> {
    const { options } = this.#options
    const { some, seeds } = await peek(this.#options.seeds)
    if (some || options.seedFiles.length > 0 || options.sitemaps.length > 0) return seeds
    if (!storeExists(options)) throw new CrawlError('CONFIG_INVALID', { context: { problem: nothingToCrawl(options) } })
    return undefined
  }

  async #checkSeeds(parts: Parts, good: number): Promise<void> {
    if (this.#problems > SHOWN_PROBLEMS) {
      this.#options.onWarning(
        `${this.#problems} seeds are no URL and were passed over (the first ${SHOWN_PROBLEMS} are shown above)`,
      )
    }
    if (good > 0) return
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

  readonly #onProblem = (problem: string): void => {
    this.#problems++
    if (this.#problems <= SHOWN_PROBLEMS) this.#options.onWarning(`a seed is passed over: ${problem}`)
  }

  #keepFresh({ store }: Parts): () => void {
    const { clock, options } = this.#options
    const stop = new AbortController()
    const refresh = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        this.#tally.refresh(await store.frontier.stats(options.task))
        await clock.sleep(REFRESH_MS, stop.signal)
      }
    }
    refresh().catch(() => undefined) // the engine meets the same fault and tells it
    return () => {
      stop.abort()
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
    const skipped: Record<string, number> = { ...stats.skipped }
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
      resumed: before.pending + before.leased > 0,
      alreadyFinished: before.known > 0 && stats.counters.requests === before.counters.requests,
    }
  }
}

function nothingToCrawl({ dir, task }: ResolvedOptions): string {
  return `nothing to crawl: expected at least one URL (or --seeds FILE, --sitemap URL), and ${dir} holds no crawl named ${task} to go on with`
}

/** Looks whether there is anything without taking it away. */
async function peek(seeds: Seeds): Promise<{ readonly some: boolean; readonly seeds: Seeds }> {
  const iterator =
    Symbol.asyncIterator in seeds ? seeds[Symbol.asyncIterator]() : (seeds[Symbol.iterator]() as Iterator<SeedEntry>)
  const first = await iterator.next()
  if (first.done === true) return { some: false, seeds: [] }
  async function* all(): AsyncGenerator<SeedEntry> {
    yield first.value as SeedEntry
    for (;;) {
      const next = await iterator.next()
      if (next.done === true) return
      yield next.value
    }
  }
  return { some: true, seeds: all() }
}

/** The level-0 requests of a kept crawl, so that its scope is what it was. */
async function* knownSeeds(frontier: Parts['store']['frontier'], task: string): AsyncGenerator<SeedEntry> {
  let after: string | undefined
  for (;;) {
    const page = await frontier.list({ task, depth: 0 }, { max: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { request } of page.records) {
      if (request.skip === undefined) yield { url: request.url }
    }
    if (page.next === undefined) return
    after = page.next
  }
}
