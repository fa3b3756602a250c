/** What is known of one task right now: read from the store once a second for all who look, however many they are. */

import type { Clock } from '../core/clock.ts'
import type { CrawlReader, CrawlRun, CrawlStatus, WorkerStatus } from '../crawler/contract.ts'
import { createHistory } from './history.ts'
import type { Point, Standing, Tick } from './wire.ts'

const EVERY_MS = 1000
const MAX_LEVELS = 100
const MAX_WORKERS = 50

export interface TaskWatch {
  history(): readonly Point[]
  /** The last one; undefined: none yet. */
  tick(): Tick | undefined
  /** How long ago the store answered last. */
  ageMs(): number
  /** Calls `fn` with each that comes; answers how to stop. */
  onTick(fn: (tick: Tick) => void): () => void
  stop(): void
}

export interface TaskWatchOptions {
  readonly task: string
  readonly reader: CrawlReader
  /** Undefined: the crawl is looked at from outside. */
  readonly run: CrawlRun | undefined
  readonly clock: Clock
}

export function watchTask(options: TaskWatchOptions): TaskWatch {
  const { reader, run, clock } = options
  const history = createHistory()
  const listeners = new Set<(tick: Tick) => void>()
  const ended = new AbortController()
  let last: Tick | undefined
  let before: { readonly status: CrawlStatus; readonly atMs: number } | undefined
  const look = async (): Promise<void> => {
    const status = await reader.status()
    const atMs = clock.monotonicMs()
    const point = { atMs: clock.nowMs(), ...ratesOf(status, before?.status, atMs - (before?.atMs ?? atMs)) }
    before = { status, atMs }
    last = { ...tickOf(status, run), point }
    history.add(point)
    for (const listener of listeners) listener(last)
  }
  const watch = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      // a store that cannot be read for a moment is read a second later
      await look().catch(() => undefined)
      await clock.sleep(EVERY_MS, ended.signal)
    }
  }
  void watch()
  return {
    history: history.points,
    tick: () => last,
    ageMs: () => (before === undefined ? Infinity : clock.monotonicMs() - before.atMs),
    onTick: (fn) => {
      listeners.add(fn)
      return () => {
        listeners.delete(fn)
      }
    },
    stop: () => {
      ended.abort()
    },
  }
}

type Rates = Omit<Point, 'atMs'>

function ratesOf(now: CrawlStatus, before: CrawlStatus | undefined, ms: number): Rates {
  const rate = (more: number): number => (ms <= 0 ? 0 : Math.max(0, Math.round((more * 10_000) / ms) / 10))
  const told = now.workers.flatMap(({ alive, fetchMs }) => (alive && fetchMs !== null ? [fetchMs] : []))
  return {
    pagesPerSecond: before === undefined ? 0 : rate(now.done - before.done),
    failedPerSecond: before === undefined ? 0 : rate(now.failed - before.failed),
    p50: told.length === 0 ? null : told.reduce((sum, { p50 }) => sum + p50, 0) / told.length,
    p95: told.length === 0 ? null : Math.max(...told.map(({ p95 }) => p95)),
  }
}

function tickOf(status: CrawlStatus, run: CrawlRun | undefined): Omit<Tick, 'point'> {
  const { task, pending, leased, done, failed, skipped, hosts, workers, levels = [], items = 0, counters } = status
  const alive = workers.filter((worker) => worker.alive)
  const settings = run?.settings()
  return {
    standing: standingOf(run, status),
    task,
    pending,
    leased,
    done,
    failed,
    skipped,
    hosts,
    items,
    bytes: counters.bytes,
    requests: counters.requests,
    fromCache: counters.fromCache,
    duplicates: counters.duplicates,
    levels: levels.slice(0, MAX_LEVELS),
    workers: alive.toSorted(busiestFirst).slice(0, MAX_WORKERS),
    workersAlive: alive.length,
    settings: settings ?? null,
  }
}

function busiestFirst(a: WorkerStatus, b: WorkerStatus): number {
  return b.pagesPerSecond - a.pagesPerSecond || b.leased - a.leased
}

function standingOf(run: CrawlRun | undefined, { workers, pending, leased }: CrawlStatus): Standing {
  if (run !== undefined) {
    const { paused, stopping } = run.settings()
    return stopping ? 'stopping' : paused ? 'paused' : 'running'
  }
  if (workers.some(({ alive }) => alive)) return 'running'
  return pending + leased === 0 ? 'ended' : 'kept'
}
