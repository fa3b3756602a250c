/** A worker process: does what the process that started it says, and ends with it. */

import { systemClock } from '../core/clock.ts'
import { isCrawlError } from '../core/errors.ts'
import { type CrawlWorker, startWorker } from '../crawler/worker.ts'
import type { EngineEvent, StorePort } from '../crawler/contract.ts'
import { tuneEngine } from '../util/tune-engine.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Pages are counted by the store; of the rest so many are told each time, for the live display. */
const EVENTS_A_REPORT = 50
const REPORT_MS = 200

tuneEngine()

let worker: CrawlWorker | undefined
let hearStore: (message: unknown) => void = () => undefined
let fed: () => void = () => undefined
const waiting: ToWorker[] = []

// Ctrl-C reaches the whole group of processes: the one that leads decides
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => {
  worker?.drain('interrupted')
})
// nobody leads any more: give back what is held, and go
process.on('disconnect', () => {
  if (worker === undefined) process.exit(1)
  worker.abort()
})
process.on('message', (message) => {
  hear(message as ToWorker)
})

function hear(message: ToWorker): void {
  if (message.type === 'start') {
    run(message).catch(fault)
    return
  }
  if (message.type === 'store') hearStore(message.message)
  else if (message.type === 'fed') fed()
  else if (worker === undefined) waiting.push(message)
  else obey(worker, message)
}

const storePort: StorePort = {
  post: (message) => {
    tell({ type: 'store', message })
  },
  onMessage: (fn) => {
    hearStore = fn
  },
  onClose: (fn) => {
    process.on('disconnect', fn)
  },
  keepAlive: () => undefined, // the channel does, until the work is done
}

function obey(one: CrawlWorker, message: ToWorker): void {
  if (message.type === 'learn') one.learn(message.news)
  else if (message.type === 'drain') one.drain(message.reason)
  else if (message.type === 'tune') one.tune(message.tuning)
  else if (message.type === 'abort') one.abort()
}

async function run({ options, worker: number, served, file }: Extract<ToWorker, { type: 'start' }>): Promise<void> {
  const events: EngineEvent[] = []
  worker = await startWorker({
    options,
    number,
    env: process.env,
    storePort: served ? storePort : undefined,
    ...(file === undefined ? {} : { file }),
    fed: new Promise<void>((resolve) => {
      fed = resolve
    }),
    onEvent: (event) => {
      if (event.type !== 'page' && events.length < EVENTS_A_REPORT) events.push(event)
    },
    onWarning: (message) => {
      tell({ type: 'warning', message })
    },
    onNews: (news) => {
      tell({ type: 'news', news })
    },
  })
  for (const message of waiting.splice(0)) obey(worker, message)
  const inFlight = worker.inFlight
  const report = (): void => {
    tell({ type: 'events', events: events.splice(0), inFlight: inFlight() })
    systemClock.timer(REPORT_MS, report, true)
  }
  report()
  const reason = await worker.closed
  process.send?.({ type: 'done', reason } satisfies FromWorker, () => {
    process.exit(0)
  })
}

function fault(error: unknown): void {
  const context = isCrawlError(error)
    ? error.context
    : { problem: error instanceof Error ? error.message : String(error) }
  const message: FromWorker = { type: 'fault', code: isCrawlError(error) ? error.code : 'unknown', context }
  if (process.connected) {
    process.send?.(message, () => {
      process.exit(1)
    })
  } else process.exit(1)
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message, () => undefined)
}
