/** The library's front: a crawl as an object, with the names that people know. */

import { EventEmitter } from 'node:events'
import { defaultOptions } from '../config/options.ts'
import { systemClock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import { silentLogger } from '../core/logger.ts'
import type { EngineEvent, RequestDraft } from '../engine/contract.ts'
import type { Seeds } from '../engine/feed.ts'
import { systemRandom } from '../util/random.ts'
import type { CrawlRun, CrawlSummary, ProgressSnapshot } from './contract.ts'
import { type CrawlerOptions, type CrawlPlan, mergeOptions, planCrawler, type PlanRequest } from './crawler-plan.ts'
import { launch } from './launch.ts'
import type { LaunchOptions } from './launch-options.ts'
import { createRouter, type Router } from './router.ts'
import { asSeeds } from './task-plan.ts'

export type { CrawlerOptions }

/** What `on` can listen to. */
export type CrawlerEvents = {
  [E in EngineEvent as E['type']]: [event: E]
} & { warning: [message: string] }

/** What the command asks of a crawler that somebody's file exports. */
export const PLAN: unique symbol = Symbol.for('spoor.crawler.plan') as never

type Listening = Required<Pick<LaunchOptions, 'onEvent' | 'onWarning'>> & Pick<CrawlerOptions, 'log'>

/**
 * A crawl of one data folder. `run` starts it, or goes on with what the folder holds; what was done before is not done
 * again. Throws CONFIG_INVALID for an option that there is not.
 */
export class Crawler {
  /** Takes handlers by label, where neither `requestHandler` nor `rules` are given. */
  readonly router: Router = createRouter()
  readonly #options: CrawlerOptions
  readonly #events = new EventEmitter()
  #run: CrawlRun | undefined

  constructor(options: CrawlerOptions = {}) {
    this.#options = options
    mergeOptions(options, NOTHING_GIVEN)
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
    if (this.#run !== undefined) throw invalid('run() was called while the crawler is running')
    if (this.#options.tasks !== undefined && !(Array.isArray(seeds) && seeds.length === 0))
      throw invalid('run(): expected no seeds, since the tasks have theirs, found some')
    const plan = this[PLAN]({ ...NOTHING_GIVEN, seeds: asSeeds(seeds) })
    if (plan.options.dashboard !== undefined)
      throw invalid(
        'dashboard: it is served by the command: spoor run FILE --dashboard, or spoor dashboard beside the program',
      )
    const { log = silentLogger, ...listening } = plan
    this.#run = launch({ ...listening, clock: systemClock, random: systemRandom, log })
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

  /** @internal */
  [PLAN](request: Omit<PlanRequest, 'router'>): CrawlPlan & Listening {
    const { log } = this.#options
    return {
      ...planCrawler(this.#options, { ...request, router: this.router }),
      ...(log === undefined ? {} : { log }),
      onWarning: (message) => {
        this.#events.emit('warning', message)
      },
      onEvent: (event) => {
        this.#events.emit(event.type, event)
      },
    }
  }
}

const NOTHING_GIVEN = { options: defaultOptions(), given: new Set<never>() }

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
