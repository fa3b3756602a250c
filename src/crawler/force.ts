/** The engine of this process as the force that crawls. */

import type { EngineDeps, EngineEvent, FinishReason } from '../engine/contract.ts'
import { startEngine } from '../engine/engine.ts'
import type { FetchResult } from '../fetch/contract.ts'
import type { CrawlForce } from './contract.ts'
import type { Parts } from './compose.ts'
import type { LaunchOptions } from './launch-options.ts'
import { publish } from '../util/channels.ts'
import { createPageTracer } from './page-tracer.ts'
import { engineOptionsOf } from './settings.ts'
import type { OpenTask } from './task.ts'
import { saveFile } from '../util/save-file.ts'
import { startReporting, type WorkerReporter } from './worker-report.ts'

export interface EngineForceStart {
  readonly parts: Parts
  readonly tasks: readonly OpenTask[]
  readonly launch: Pick<LaunchOptions, 'options' | 'clock' | 'random' | 'log'>
  readonly fed: Promise<unknown>
  readonly onEvent: (event: EngineEvent) => void
  readonly onFetched?: (url: string, ms: number) => void
  readonly afterSettle?: () => void
}

export function startEngineForce({
  parts,
  tasks,
  launch,
  fed,
  onEvent,
  onFetched,
  afterSettle,
}: EngineForceStart): CrawlForce {
  const { options, clock, random, log } = launch
  const reporter = startReporting({ store: parts.store, clock })
  const tracePage = createPageTracer()
  const deps: EngineDeps = {
    ...parts,
    clock,
    random,
    log,
    saveFile: (bytes, ending) => parts.room.patiently(options.dir, () => saveFile(options.dir, bytes, ending)),
    cookiesVersion: (session, url) => parts.cookies.versionFor(session, url),
    beforeSettle: () => saveLearnt(tasks),
    ...(afterSettle === undefined ? {} : { afterSettle }),
    onEvent: (event) => {
      if (event.type === 'page') reporter.notePage()
      publish(`spoor:${event.type}`, () => event)
      onEvent(event)
    },
    onFetched: (url, ms, result) => {
      reporter.noteFetch(ms)
      onFetched?.(url, ms)
      publish('spoor:fetch', () => fetchMessage(url, ms, result))
    },
    ...(tracePage === undefined ? {} : { tracePage }),
  }
  const engine = startEngine({
    deps,
    options: engineOptionsOf(options),
    tasks: new Map(tasks.map(({ engineTask }) => [engineTask.settings.name, engineTask])),
    fed,
  })
  return {
    done: endReports(engine.done, reporter),
    drain: (reason) => {
      engine.drain(reason)
    },
    abort: () => {
      engine.abort()
    },
    wake: () => {
      engine.wake()
    },
    inFlight: () => engine.inFlight(),
    learn: () => undefined, // its own door told it
    tune: (tuning) => {
      if (tuning.delayMs !== undefined) for (const task of tasks) task.setDelay(tuning.delayMs)
      engine.tune(tuning)
    },
  }
}

function fetchMessage(url: string, ms: number, result: FetchResult): object {
  return {
    url,
    ms,
    ...(result.status === undefined ? {} : { status: result.status }),
    ...(result.kind === 'failure' ? { failure: result.failure } : {}),
    bytes: result.wireBytes,
  }
}

/** A store that failed is asked for nothing more. */
async function endReports(done: Promise<FinishReason>, reporter: WorkerReporter): Promise<FinishReason> {
  try {
    const reason = await done
    await reporter.end()
    return reason
  } finally {
    reporter.stop()
  }
}

/** Undefined: nothing was learnt. */
function saveLearnt(tasks: readonly OpenTask[]): Promise<void> | undefined {
  const saving = tasks.map((task) => task.saveLearnt()).filter((one) => one !== undefined)
  return saving.length < 2 ? saving[0] : Promise.all(saving).then(() => undefined)
}
