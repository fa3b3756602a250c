/** Runs people's own handlers, tasks and crawlers on saved pages, for their tests; and saves those pages. */

import { defaultOptions, type OptionKey, type ResolvedOptions } from '../../config/options.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { silentLogger } from '../../core/logger.ts'
import type { FailureClass, SkipReason } from '../../core/outcome.ts'
import type { CrawlSummary } from '../../crawler/contract.ts'
import { type Crawler, PLAN } from '../../crawler/crawler.ts'
import { type CrawlPlan, planCrawler } from '../../crawler/crawler-plan.ts'
import type { Task } from '../../crawler/define-task.ts'
import { launch } from '../../crawler/launch.ts'
import type { LaunchTask } from '../../crawler/launch-options.ts'
import { createRouter } from '../../crawler/router.ts'
import { asSeeds, planTasks } from '../../crawler/task-plan.ts'
import type { EngineEvent, RequestDraft, RequestHandler } from '../../engine/contract.ts'
import type { Fetcher } from '../../fetch/contract.ts'
import { openFilesCache } from '../../stores/files-cache/store.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import type { Store } from '../../stores/contract.ts'
import { systemRandom } from '../../util/random.ts'
import { openSavedPages, type SavedPages } from './saved-pages.ts'

export interface ReplayOptions {
  readonly pages: SavedPages
  /** Where it begins. Default: the seeds of the tasks. */
  readonly seeds?: string | readonly (string | RequestDraft)[]
  /**
   * Ask the web, with all politeness, and keep what it answers in the folder that `pages` names (answers with 200, 203, 204,
   * redirects, 404 and 410). Default false.
   */
  readonly record?: boolean
  /** Default: the machine's. With one of `createFakeClock` nothing that waits goes on until it is advanced. */
  readonly clock?: Clock
  /** Over what the crawler or the task says, and over what a replay has of itself: no delay, one try, no robots.txt. */
  readonly options?: Partial<ResolvedOptions>
}

/** What came of it; in the order in which it happened. */
export interface Replay {
  readonly summary: CrawlSummary
  readonly items: readonly JsonObject[]
  /** URLs of the pages that were handled. */
  readonly pages: readonly string[]
  readonly failures: readonly { readonly url: string; readonly failure: FailureClass; readonly error: string }[]
  readonly skipped: readonly { readonly url: string; readonly reason: SkipReason }[]
}

/** A handler, a task or several, or a crawler. */
export type Replayable = RequestHandler | Task | readonly Task[] | Crawler

/**
 * Runs it in memory, from the beginning: nothing is asked of the web, nothing is written (no data folder, no output, no
 * WARC), robots.txt is not asked, there is no delay and one try a request, and no browser. Rejects as `Crawler.run` does.
 */
export async function replay(what: Replayable, options: ReplayOptions): Promise<Replay> {
  const { clock = systemClock, record = false, pages } = options
  if (!record) {
    const fetcher = await openSavedPages(pages, clock)
    const told = { ...CONFIG_OF_REPLAY, ...options.options }
    return runPlan(planOf(what, options, told), { clock, fetcher }).finally(() => fetcher.close())
  }
  if (typeof pages !== 'string')
    throw invalid('record: expected the folder that pages are kept in, found a list of pages')
  const cacheStore = await openFilesCache({ dir: pages, clock })
  const told = { ...CONFIG_OF_RECORD, ...options.options }
  return runPlan(planOf(what, options, told), { clock, cacheStore }).finally(() => cacheStore.close())
}

type Told = Partial<ResolvedOptions>

function planOf(what: Replayable, { seeds }: ReplayOptions, told: Told): CrawlPlan {
  const options = { ...defaultOptions(), ...told }
  const given = new Set(Object.keys(told) as OptionKey[])
  const start = asSeeds(seeds ?? [])
  if (typeof what === 'function')
    return planCrawler({ requestHandler: what }, { options, given, seeds: start, router: createRouter() })
  if (PLAN in what) return what[PLAN]({ options, given, seeds: start })
  const fallback = { handler: { kind: 'page-record' as const }, handlerTimeoutMs: HANDLER_TIMEOUT_MS }
  const tasks = planTasks(Array.isArray(what) ? what : [what], { options, given, fallback })
  return { options, tasks: seeds === undefined ? tasks : tasks.map((task) => ({ ...task, seeds: start })) }
}

const HANDLER_TIMEOUT_MS = 60_000
/** Nothing of a test is left behind. */
const IN_MEMORY = { store: 'memory:', output: undefined, warc: undefined } as const
const CONFIG_OF_REPLAY: Told = { ...IN_MEMORY, cache: 'off', robots: false, render: 'off', delayMs: 0, retries: 0 }
const CONFIG_OF_RECORD: Told = { ...IN_MEMORY, cache: 'refresh', cacheStore: 'files' }

type Parts = { readonly clock: Clock } & (
  { readonly fetcher: Fetcher } | { readonly cacheStore: Awaited<ReturnType<typeof openFilesCache>> }
)

async function runPlan(plan: CrawlPlan, parts: Parts): Promise<Replay> {
  const { clock } = parts
  const random = systemRandom
  const store = openMemoryStore({ clock, random })
  const told = createNotes()
  const isReplay = 'fetcher' in parts
  const run = launch({
    options: plan.options,
    tasks: isReplay ? plan.tasks.map((task) => onPages(task, parts.fetcher)) : plan.tasks,
    opened: isReplay ? { store } : { store, cacheStore: parts.cacheStore },
    clock,
    random,
    log: silentLogger,
    onWarning: () => undefined,
    onEvent: told.note,
  })
  const summary = await run.done
  const items = await Promise.all(plan.tasks.map(({ options }) => itemsOf(store, options.task)))
  return { summary, items: items.flat(), ...told.notes }
}

/** No rule has a browser either. */
function onPages({ rules, ...task }: LaunchTask, fetcher: Fetcher): LaunchTask {
  const plain = rules?.map((rule) => ({ ...rule, render: 'off' as const }))
  return { ...task, fetcher, ...(plain === undefined ? {} : { rules: plain }) }
}

async function itemsOf(store: Store, task: string): Promise<readonly JsonObject[]> {
  const items = await store.items.read(task, 0, Number.MAX_SAFE_INTEGER)
  return items.map(({ json }) => JSON.parse(json) as JsonObject)
}

type Notes = Pick<Replay, 'pages' | 'failures' | 'skipped'>

function createNotes(): { readonly notes: Notes; readonly note: (event: EngineEvent) => void } {
  const pages: string[] = []
  const failures: Replay['failures'][number][] = []
  const skipped: Replay['skipped'][number][] = []
  return {
    notes: { pages, failures, skipped },
    note: (event) => {
      if (event.type === 'page') pages.push(event.url)
      if (event.type === 'failed') failures.push({ url: event.url, failure: event.failure, error: event.error })
      if (event.type === 'skipped') skipped.push({ url: event.url, reason: event.reason })
    },
  }
}

function invalid(problem: string): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
