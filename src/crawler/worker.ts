/** One of several processes of a crawl: its engine over the shared store, led by the process that started it. */

import { join } from 'node:path'
import type { ResolvedOptions } from '../config/options.ts'
import type { StoredRequest } from '../core/request.ts'
import { systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import type { EngineEvent, FinishReason } from '../engine/contract.ts'
import { systemRandom } from '../util/random.ts'
import type { CrawlForce, RunFile, ScopeNews, StorePort } from './contract.ts'
import { openParts } from './compose.ts'
import { createRoom, type Room } from './room.ts'
import { startEngineForce } from './force.ts'
import { isAnyRendered } from './settings.ts'
import { admitKnownSeeds } from './seeds.ts'
import type { LaunchTask } from './launch-options.ts'
import { planRunFile } from './run-file.ts'
import { openTask, type OpenTask } from './task.ts'

export interface WorkerStart {
  readonly options: ResolvedOptions
  /** From 1: of all that work at the same time each has another. */
  readonly number: number
  readonly env: Readonly<Record<string, string | undefined>>
  /** What `spoor run` was given. Default: the command's own handler. */
  readonly file?: RunFile
  readonly fed: Promise<unknown>
  readonly onEvent: (event: EngineEvent) => void
  readonly onWarning: (message: string) => void
  /** This process has learnt that the scope is larger: the others should know. */
  readonly onNews: (news: ScopeNews) => void
  /** The process that leads keeps the store. Undefined: it is opened here. */
  readonly storePort?: StorePort | undefined
}

export interface CrawlWorker extends CrawlForce {
  /** Resolves after the store is closed. */
  readonly closed: Promise<FinishReason>
}

/** The command's own handler runs no user code: its deadline is only there because everything has one. */
const HANDLER_TIMEOUT_MS = 600_000

/** A file of its own: `pages.warc.gz` is `pages-w1.warc.gz` for the first worker, a folder gets `spoor-w1.warc.gz`. */
export function warcPathOf(path: string, worker: number): string {
  const ending = /\.warc(?:\.gz)?$/i.exec(path)?.[0]
  const name = `w${worker}`
  if (ending === undefined) return join(path, `spoor-${name}.warc.gz`)
  return `${path.slice(0, -ending.length)}-${name}${ending}`
}

/** Limits of the whole crawl are kept by the process that leads; what is exported, forgotten or fed is its business too. */
function ownOptions(options: ResolvedOptions): ResolvedOptions {
  return {
    ...options,
    output: undefined,
    maxTimeMs: undefined,
    maxBytes: undefined,
    fresh: false,
    recrawl: 'off',
    saveCookies: undefined,
  }
}

async function planOf({ file }: WorkerStart, options: ResolvedOptions): Promise<readonly LaunchTask[]> {
  if (file !== undefined) return (await planRunFile(file, options)).tasks
  return [{ options, seeds: [], handler: { kind: 'page-record' }, handlerTimeoutMs: HANDLER_TIMEOUT_MS }]
}

/** Rejects as `openParts` and `planRunFile` do. */
export async function startWorker(start: WorkerStart): Promise<CrawlWorker> {
  const { warc } = start.options
  const options: ResolvedOptions = {
    ...ownOptions(start.options),
    warc: warc === undefined ? undefined : warcPathOf(warc, start.number),
  }
  const room = createRoom({ clock: systemClock, waitMs: options.waitForRoomMs, onWait: start.onWarning })
  const launch = {
    options,
    room,
    joins: true as const,
    clock: systemClock,
    random: systemRandom,
    env: start.env,
    works: true,
    log: silentLogger,
    onWarning: start.onWarning,
    onFault: (what: string, error: unknown) => {
      start.onWarning(`${what} has a fault: ${error instanceof Error ? error.message : String(error)}`)
    },
  }
  const planned = await planOf(start, options)
  const { storePort } = start
  const tasks = new Map<string, OpenTask>()
  const onKnown = (requests: readonly StoredRequest[]): void => {
    for (const request of requests) tasks.get(request.task)?.engineTask.door.note([request])
  }
  const parts = await openParts(options, {
    ...launch,
    renders: isAnyRendered(planned),
    onKnown,
    ...(storePort === undefined ? {} : { storePort }),
  })
  for (const one of planned) {
    // oxlint-disable no-await-in-loop -- one after the other, as they stand
    const task = await openTask(parts, { ...launch, ...one, options: ownOptions(one.options) })
    await admitKnownSeeds(parts.store.frontier, task.engineTask)
    // oxlint-enable no-await-in-loop
    tasks.set(one.options.task, task)
    // seeds come from the process that leads: only what this one finds out is news to the others
    task.scope.onNews((news) => {
      if (news.kind === 'scope') start.onNews(news)
    })
  }
  const learn = ({ task: name, kind, url }: ScopeNews): void => {
    const task = tasks.get(name)
    if (kind === 'seed') task?.engineTask.door.admitSeed({ url })
    else task?.scope.scope.addSeed(url)
  }
  const { fed, onEvent } = start
  const force = startEngineForce({ parts, tasks: [...tasks.values()], launch, fed, onEvent })
  return {
    ...unlessWaiting(force, room),
    learn,
    closed: force.done.finally(async () => {
      // the fault that ended the engine is told
      await Promise.allSettled([...tasks.values()].map((task) => task.saveAll()))
      await parts.close()
    }),
  }
}

/** Whoever is to end waits for no room any more. */
function unlessWaiting(force: CrawlForce, room: Room): CrawlForce {
  return {
    ...force,
    drain: (reason) => {
      room.giveUp()
      force.drain(reason)
    },
    abort: () => {
      room.giveUp()
      force.abort()
    },
  }
}
