/** One run of a crawl: opens the parts, feeds the seeds, runs the engine, keeps the exports up to date, sums up. */

import type { ResolvedOptions } from '../config/options.ts'
import { CrawlError } from '../core/errors.ts'
import type { EngineEvent, FinishReason } from '../engine/contract.ts'
import { selectSchema, urlSchema } from '../extract/select.ts'
import { planOf } from '../extract/schema/plan.ts'
import { feedSeeds, type SeedEntry, type Seeds } from '../engine/feed.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import type {
  CrawlForce,
  CrawlReader,
  CrawlRun,
  CrawlSummary,
  ProgressSnapshot,
  RunSettings,
  TaskSummary,
  Tuning,
} from './contract.ts'
import { chooseSeeds, type SeedSkip } from './choose-seeds.ts'
import { type CacheCare, startCacheCare } from './cache-care.ts'
import { type Parts, openParts, storeExists } from './compose.ts'
import { startEngineForce } from './force.ts'
import { admitKnownSeeds, allSeeds } from './seeds.ts'
import { createTally, type Tally } from './tally.ts'
import type { LaunchOptions, LaunchTask } from './launch-options.ts'
import { recrawlListed } from './recrawl-listed.ts'
import { goesBySitemap, sinceRound } from './round.ts'
import { readRecrawl, sumOfReports } from './recrawl-report.ts'
import { createRunView, setDelay } from './run-view.ts'
import { delayOf, isAnyRendered } from './settings.ts'
import { createRoom, type Room } from './room.ts'
import { sumOfStats } from './sum-of-stats.ts'
import { openTask, type OpenTask } from './task.ts'
import { checkStdout } from './task-export.ts'

/** How often the live figures are taken from the store. */
const REFRESH_MS = 500
/** Levels are looked at once in so many times. */
const LEVELS_EVERY = 4
/** Seeds that are no URL are counted; only the first ones are shown. */
const SHOWN_PROBLEMS = 5

interface RunningTask extends OpenTask {
  readonly launchTask: LaunchTask
  /** Undefined: none are given, and the crawl that is there goes on. */
  readonly seeds: Seeds | undefined
}

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
  readonly #room: Room
  readonly #view = createRunView()
  #tuned: Tuning = {}

  constructor(options: LaunchOptions) {
    this.#options = options
    const { maxPages, processes } = options.options
    this.#tally = createTally({
      monotonicMs: () => options.clock.monotonicMs(),
      maxPages,
      processes: options.openForce === undefined ? 1 : processes,
    })
    this.#room = roomOf(options)
    this.done = this.#run()
  }

  stop(): void {
    this.#early ??= 'stop'
    this.#room.giveUp()
    this.#force?.drain('interrupted')
  }

  abort(): void {
    this.#early = 'abort'
    this.#room.giveUp()
    this.#force?.abort()
  }

  progress(): ProgressSnapshot {
    return this.#tally.snapshot(this.#force?.inFlight() ?? 0)
  }

  settings(): RunSettings {
    const { options } = this.#options
    const { paused = false, maxConcurrency = options.concurrency, delayMs = delayOf(options) } = this.#tuned
    return {
      paused,
      stopping: this.#early !== undefined,
      maxConcurrency,
      processes: this.#options.openForce === undefined ? 1 : options.processes,
      delayMs,
    }
  }

  async tune(tuning: Tuning): Promise<void> {
    const { parts, tasks } = await this.#view.opened
    if (tuning.delayMs !== undefined) await setDelay(parts, tasks, tuning.delayMs)
    this.#tuned = { ...this.#tuned, ...tuning }
    this.#force?.tune(tuning)
  }

  reader(task: string): Promise<CrawlReader> {
    const { dir, store } = this.#options.options
    return this.#view.reader({ dir, store, task }, () => this.#force?.wake())
  }

  async #run(): Promise<CrawlSummary> {
    try {
      return await this.#runOpened()
    } finally {
      this.#view.end()
    }
  }

  async #runOpened(): Promise<CrawlSummary> {
    const startedAtMs = this.#options.clock.monotonicMs()
    checkSelects(this.#options.options)
    checkStdout(this.#options.tasks)
    const given = this.#givenSeeds()
    const parts = await openParts(this.#options.options, {
      ...this.#options,
      onFault: this.#onFault,
      room: this.#room,
      leads: this.#options.openForce !== undefined,
      renders: isAnyRendered(this.#options.tasks),
    })
    try {
      const tasks: RunningTask[] = []
      for (const [launchTask, seeds] of given) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, as they stand
        tasks.push({ ...(await openTask(parts, { ...this.#options, ...launchTask })), launchTask, seeds })
      }
      this.#view.open(parts, tasks)
      const care = this.#careFor(parts)
      let finishReason: FinishReason | undefined
      try {
        finishReason = await this.#crawl(parts, tasks)
      } finally {
        await care?.finish(finishReason === 'finished')
      }
      await Promise.all(tasks.map((task) => task.saveAll()))
      await Promise.all(tasks.map(({ exports }) => exports?.finish()))
      return await this.#summary({ parts, tasks, finishReason, startedAtMs })
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

  async #crawl(parts: Parts, tasks: readonly RunningTask[]): Promise<FinishReason> {
    const feedings = await Promise.all(tasks.map((task) => this.#feed(parts, task)))
    const fed = Promise.all(feedings.map(({ fed: one }) => one))
    fed.catch(() => undefined) // the force hears of it
    const force = this.#startForce(parts, tasks, fed)
    this.#force = force
    force.tune(this.#tuned)
    for (const { scope } of tasks) {
      scope.onNews((news) => {
        force.learn(news)
      })
    }
    if (this.#early === 'stop') force.drain('interrupted')
    if (this.#early === 'abort') force.abort()
    const stopWatching = this.#watch(parts, tasks)
    try {
      return await Promise.race([force.done, ...tasks.map(({ exportFault }) => exportFault)])
    } finally {
      stopWatching()
      this.#feedAbort.abort()
      force.abort()
      await Promise.allSettled(feedings.map(({ feeding }) => feeding))
    }
  }

  #choose(seeds: Seeds, { cacheStore, store }: Parts, { engineTask, launchTask }: RunningTask): Seeds {
    const { options } = launchTask
    const { clock } = this.#options
    if (options.limit === undefined && options.skip.length === 0) return seeds
    const onPassedOver = (reason: SeedSkip): void => {
      this.#passedOver[reason] = (this.#passedOver[reason] ?? 0) + 1
    }
    const { door } = engineTask
    return chooseSeeds(seeds, { options, door, frontier: store.frontier, cacheStore, clock, onPassedOver })
  }

  #listed(parts: Parts, task: RunningTask, given: Seeds): AsyncIterable<SeedEntry> {
    const { options } = task.launchTask
    const seeds = allSeeds(given, { ...this.#options, options, parts, task })
    if (!goesBySitemap(options)) return seeds
    const onDue = (): void => this.#force?.wake()
    return recrawlListed(seeds, { store: parts.store, door: task.engineTask.door, task: options.task, onDue })
  }

  /** Resolves when the seeds of before are known again and the new ones begin to come. */
  async #feed(
    parts: Parts,
    task: RunningTask,
  ): Promise<{ readonly feeding: Promise<unknown>; readonly fed: Promise<void> }> {
    const { frontier } = parts.store
    const { engineTask, launchTask } = task
    if (task.before.known > 0) await admitKnownSeeds(frontier, engineTask)
    const { options } = launchTask
    const feeding = feedSeeds({
      seeds: task.seeds === undefined ? [] : this.#choose(this.#listed(parts, task, task.seeds), parts, task),
      door: engineTask.door,
      frontier,
      clock: this.#options.clock,
      onProblem: this.#onProblem,
      onAdded: () => this.#force?.wake(),
      isBusy: () => (this.#force?.inFlight() ?? 0) > 0,
      signal: this.#feedAbort.signal,
    })
    const fed = feeding.then(({ seeds: good }) => this.#checkSeeds(parts, options, good))
    fed.catch(() => undefined) // the force hears of it
    return { feeding, fed }
  }

  #startForce(parts: Parts, tasks: readonly RunningTask[], fed: Promise<unknown>): CrawlForce {
    const { options, onWarning, openForce, onEvent: tell } = this.#options
    const onEvent = (event: EngineEvent): void => {
      this.#tally.take(event)
      tell?.(event)
    }
    if (openForce !== undefined) return openForce({ options, fed, onEvent, onWarning, serve: parts.serve })
    return startEngineForce({
      parts,
      tasks,
      launch: this.#options,
      fed,
      onEvent,
      onFetched: this.#tally.fetched,
      afterSettle: () => {
        for (const { exports } of tasks) exports?.pumpSoon()
      },
    })
  }

  /** Each task with its seeds. Undefined: none, but there is a crawl to go on with. */
  #givenSeeds(): readonly (readonly [LaunchTask, Seeds | undefined])[] {
    return this.#options.tasks.map((task) => {
      const { options } = task
      const { some, seeds } = peek(task.seeds)
      if (some || options.seedFiles.length > 0 || options.sitemaps.length > 0) return [task, seeds] as const
      if (this.#options.opened?.store !== undefined || storeExists(options)) return [task, undefined] as const
      throw new CrawlError('CONFIG_INVALID', { context: { problem: nothingToCrawl(options) } })
    })
  }

  async #checkSeeds(parts: Parts, options: ResolvedOptions, good: number): Promise<void> {
    if (this.#problems > SHOWN_PROBLEMS) {
      this.#options.onWarning(
        `${this.#problems} seeds are no URL and were passed over (the first ${SHOWN_PROBLEMS} are shown above)`,
      )
    }
    if (good > 0 || this.#early !== undefined || Object.keys(this.#passedOver).length > 0) return
    const { known } = await parts.store.frontier.stats(options.task)
    if (known > 0) return
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

  /** Of several tasks nobody asks for the levels of all. */
  async #refreshLevels({ store }: Parts): Promise<void> {
    const [task, another] = this.#options.tasks
    if (task === undefined || another !== undefined) return
    this.#tally.refreshLevels(await store.frontier.levels(task.options.task))
  }

  /** Takes figures from the store now and then; what other processes do is seen by them alone. */
  #watch(parts: Parts, tasks: readonly RunningTask[]): () => void {
    const { clock, options, openForce } = this.#options
    const stop = new AbortController()
    let looks = 0
    const look = async (): Promise<void> => {
      if (looks++ % LEVELS_EVERY === 0) await this.#refreshLevels(parts)
      const { stats, shown } = await this.#stats(parts, tasks)
      this.#tally.refresh(shown)
      if (openForce === undefined) return
      for (const { exports } of tasks) exports?.pumpSoon()
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

  /** Of all tasks together; `shown`: since their rounds began. */
  async #stats(
    { store }: Parts,
    tasks: readonly RunningTask[],
  ): Promise<{ readonly stats: FrontierStats; readonly shown: FrontierStats }> {
    const each = await Promise.all(tasks.map(({ launchTask }) => store.frontier.stats(launchTask.options.task)))
    return { stats: sumOfStats(each), shown: sumOfStats(each.map((stats, n) => sinceRound(stats, tasks[n]?.round))) }
  }

  async #summary(end: {
    readonly parts: Parts
    readonly tasks: readonly RunningTask[]
    readonly finishReason: FinishReason
    readonly startedAtMs: number
  }): Promise<CrawlSummary> {
    const { stats, shown } = await this.#stats(end.parts, end.tasks)
    this.#tally.refresh(shown)
    const before = sumOfStats(end.tasks.map((task) => task.before))
    const skipped: Record<string, number> = { ...stats.skipped, ...this.#passedOver }
    if (this.#problems > 0) skipped['invalid-url'] = (skipped['invalid-url'] ?? 0) + this.#problems
    const names = end.tasks.map(({ launchTask }) => launchTask.options.task)
    const each = await this.#figuresOfEach(end.parts, end.tasks)
    const recrawl = sumOfReports(each.map((task) => task.recrawl))
    return {
      task: names.join(', '),
      finishReason: end.finishReason,
      ...figuresOf(shown, skipped),
      seconds: Math.round(this.#options.clock.monotonicMs() - end.startedAtMs) / 1000,
      resumed: before.pending + before.leased > 0,
      alreadyFinished: before.known > 0 && isSame(stats.counters, before.counters),
      ...(recrawl === undefined ? {} : { recrawl }),
      ...(names.length < 2 ? {} : { tasks: each }),
    }
  }

  #figuresOfEach({ store }: Parts, tasks: readonly RunningTask[]): Promise<TaskSummary[]> {
    return Promise.all(
      tasks.map(async ({ launchTask, round }) => {
        const { task } = launchTask.options
        const stats = await store.frontier.stats(task)
        const recrawl = await readRecrawl(store, task, stats)
        return {
          task,
          ...figuresOf(sinceRound(stats, round), stats.skipped),
          ...(recrawl === undefined ? {} : { recrawl }),
        }
      }),
    )
  }
}

type Figures = Omit<TaskSummary, 'task'>

function figuresOf({ done, failed, counters }: FrontierStats, skipped: Figures['skipped']): Figures {
  const { duplicates, bytes, fromCache, invalidItems } = counters
  return {
    pages: done,
    failed,
    skipped,
    duplicates,
    bytes,
    fromCache,
    ...(invalidItems > 0 ? { invalidItems } : {}),
  }
}

function roomOf({ clock, options, onWarning, onWait = onWarning }: LaunchOptions): Room {
  const { waitForRoomMs: waitMs, maxTimeMs } = options
  const untilMs = maxTimeMs === undefined ? undefined : clock.monotonicMs() + maxTimeMs
  return createRoom({ clock, waitMs, untilMs, onWait })
}

/** Neither asked a server nor the cache. */
function isSame(a: FrontierStats['counters'], b: FrontierStats['counters']): boolean {
  return a.requests === b.requests && a.fromCache === b.fromCache
}

/** Throws CONFIG_INVALID for a field that cannot be looked for, before anything is opened. */
function checkSelects({ select, downloads }: ResolvedOptions): void {
  for (const schema of [selectSchema(select), urlSchema(downloads)]) if (schema !== undefined) planOf(schema)
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
