/** What a worker tells of itself for `spoor status`: kept in the store beside the crawl, so that any machine can ask. */

import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { Clock } from '../core/clock.ts'
import type { StateStore } from '../core/state-store.ts'
import type { WorkerRecord } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import { createLatencyWindow } from '../stats/latency.ts'
import type { WorkerStatus } from './contract.ts'

const PREFIX = 'worker/'
/** The rate is that of the last so long; nobody decides by it. */
const REPORT_EVERY_MS = 3000

type Report = Pick<WorkerStatus, 'machine' | 'pid' | 'pages' | 'pagesPerSecond' | 'fetchMs'>

export interface WorkerReporter {
  /** A page of this worker is settled. */
  notePage(): void
  /** One of its requests took so long. */
  noteFetch(ms: number): void
  /** Takes the report back. */
  end(): Promise<void>
  /** No more reports; what was told stays until others find that the worker is gone. */
  stop(): void
}

/** Tells every few seconds. What cannot be told is told the next time. */
export function startReporting({ store, clock }: { readonly store: Store; readonly clock: Clock }): WorkerReporter {
  const { owner, state, frontier } = store
  const latency = createLatencyWindow()
  let pages = 0
  let toldPages = 0
  let toldAtMs = clock.monotonicMs()
  let telling: Promise<unknown> = owner === undefined ? Promise.resolve() : sweep(state, frontier.workers())
  let cancel = owner === undefined ? undefined : clock.timer(REPORT_EVERY_MS, tell, true)
  let stopped = false

  function tell(): void {
    const atMs = clock.monotonicMs()
    const pagesPerSecond = Math.round(((pages - toldPages) * 10_000) / Math.max(1, atMs - toldAtMs)) / 10
    const report: Report = { machine: hostname(), pid, pages, pagesPerSecond, fetchMs: latency.take() ?? null }
    toldPages = pages
    toldAtMs = atMs
    telling = telling
      .then(() => (stopped ? undefined : state.set({ [`${PREFIX}${owner ?? ''}`]: JSON.stringify(report) })))
      .catch(() => undefined)
      .finally(() => {
        if (!stopped) cancel = clock.timer(REPORT_EVERY_MS, tell, true)
      })
  }

  const stop = (): void => {
    stopped = true
    cancel?.()
  }
  return {
    notePage: () => {
      pages++
    },
    noteFetch: latency.note,
    stop,
    end: async () => {
      stop()
      await telling
      if (owner !== undefined) await state.set({ [`${PREFIX}${owner}`]: undefined }).catch(() => undefined)
    },
  }
}

/** Reports of workers that are gone without a word. */
async function sweep(state: StateStore, workers: Promise<readonly WorkerRecord[]>): Promise<void> {
  try {
    const keys = await state.keys(PREFIX)
    const owners = new Set((await workers).map(({ owner }) => `${PREFIX}${owner}`))
    const gone = keys.filter((key) => !owners.has(key))
    if (gone.length > 0) await state.set(Object.fromEntries(gone.map((key) => [key, undefined])))
  } catch {
    // the next worker that begins does it
  }
}

/** All who work on the store; of those that are not heard of the rate is 0. */
export async function readWorkers({ frontier, state }: Store): Promise<readonly WorkerStatus[]> {
  const workers = await frontier.workers()
  return Promise.all(
    workers.map(async (worker) => {
      const report = parseReport(await state.get(`${PREFIX}${worker.owner}`))
      return worker.alive ? { ...worker, ...report } : { ...worker, ...report, pagesPerSecond: 0, fetchMs: null }
    }),
  )
}

function parseReport(json: string | undefined): Report {
  const {
    machine = null,
    pid: number = null,
    pages = 0,
    pagesPerSecond = 0,
    fetchMs = null,
  } = JSON.parse(json ?? '{}') as Partial<Report>
  return { machine, pid: number, pages, pagesPerSecond, fetchMs }
}
