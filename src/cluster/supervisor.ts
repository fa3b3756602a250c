/** Worker processes on this machine: started, watched, started again when one dies, told to stop, waited for. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { OPTION_ENTRIES, type ResolvedOptions } from '../config/options.ts'
import type { Clock } from '../core/clock.ts'
import { CrawlError, type ErrorCode, errorCodes } from '../core/errors.ts'
import type { CrawlForce, ForceStart, RunFile, ScopeNews, StorePort, Tuning } from '../crawler/contract.ts'
import type { FinishReason } from '../crawler/contract.ts'
import type { FromWorker, ToWorker } from './messages.ts'

export interface PoolOptions {
  readonly processes: number
  readonly clock: Clock
  /** Environment of the workers. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Loaded by each worker: handlers do not cross to another process. */
  readonly file?: RunFile
}

/** A worker that dies is started again, but not for ever: something is wrong with the machine or with us. */
const MAX_RESTARTS = 20
/** Of a worker that was told to end at once and does not. */
const KILL_AFTER_MS = 5_000

export function startPool(start: ForceStart, options: PoolOptions): CrawlForce {
  return new Pool(start, options)
}

interface WorkerState {
  /** From 1. */
  readonly number: number
  inFlight: number
  over: boolean
}

class Pool implements CrawlForce {
  readonly done: Promise<FinishReason>
  readonly #start: ForceStart
  readonly #options: PoolOptions
  readonly #workers = new Map<ChildProcess, WorkerState>()
  readonly #reasons: FinishReason[] = []
  #resolve: (reason: FinishReason) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #fed = false
  #stopping: FinishReason | undefined
  #aborted = false
  #over = false
  #restarts = 0
  #tuning: Tuning = {}

  constructor(start: ForceStart, options: PoolOptions) {
    this.#start = start
    this.#options = options
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    for (let number = 1; number <= options.processes; number++) this.#fork(number)
    void this.#passOnFed(start.fed)
  }

  async #passOnFed(fed: Promise<unknown>): Promise<void> {
    try {
      await fed
      this.#fed = true
      this.#tellAll({ type: 'fed' })
    } catch (error) {
      this.#fail(error)
    }
  }

  drain(reason: FinishReason): void {
    this.#stopping ??= reason
    this.#tellAll({ type: 'drain', reason })
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#stopping ??= 'interrupted'
    this.#tellAll({ type: 'abort' })
    this.#options.clock.timer(
      KILL_AFTER_MS,
      () => {
        for (const child of this.#workers.keys()) child.kill('SIGKILL')
      },
      true,
    )
  }

  /** Workers hear of new work from the store. */
  wake(): void {}

  inFlight(): number {
    let sum = 0
    for (const worker of this.#workers.values()) sum += worker.inFlight
    return sum
  }

  learn(news: ScopeNews): void {
    this.#tellAll({ type: 'learn', news })
  }

  tune(tuning: Tuning): void {
    this.#tuning = { ...this.#tuning, ...tuning }
    this.#tellAll({ type: 'tune', tuning })
  }

  #fork(number: number): void {
    const child = fork(fileURLToPath(new URL('process-main.js', import.meta.url)), [], {
      env: this.#options.env as NodeJS.ProcessEnv,
      execArgv: [],
      serialization: 'advanced', // regular expressions among the options
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#workers.set(child, { number, inFlight: 0, over: false })
    child.on('message', (message) => {
      this.#hear(child, message as FromWorker)
    })
    child.on('error', () => undefined) // `exit` follows, or has come
    child.on('exit', (code, signal) => {
      this.#onExit(child, signal ?? `exit ${String(code)}`)
    })
    const { options, serve } = this.#start
    const { file } = this.#options
    serve?.(this.#portTo(child))
    this.#tell(child, {
      type: 'start',
      options: plainOptions(options),
      worker: number,
      served: serve !== undefined,
      ...(file === undefined ? {} : { file }),
    })
    this.#tell(child, { type: 'tune', tuning: this.#tuning })
    if (this.#fed) this.#tell(child, { type: 'fed' })
    if (this.#stopping !== undefined) this.#tell(child, { type: 'drain', reason: this.#stopping })
  }

  #portTo(child: ChildProcess): StorePort {
    return {
      post: (message) => {
        this.#tell(child, { type: 'store', message })
      },
      onMessage: (fn) => {
        child.on('message', (message) => {
          const heard = message as FromWorker
          if (heard.type === 'store') fn(heard.message)
        })
      },
      onClose: (fn) => {
        child.once('exit', fn)
      },
      keepAlive: () => undefined, // the child does
    }
  }

  #hear(child: ChildProcess, message: FromWorker): void {
    const worker = this.#workers.get(child)
    if (worker === undefined) return
    switch (message.type) {
      case 'store':
        break // heard by its port
      case 'events':
        worker.inFlight = message.inFlight
        for (const event of message.events) this.#start.onEvent(event)
        break
      case 'news':
        for (const other of this.#workers.keys())
          if (other !== child) this.#tell(other, { type: 'learn', news: message.news })
        break
      case 'warning':
        this.#start.onWarning(message.message)
        break
      case 'done':
        worker.over = true
        this.#reasons.push(message.reason)
        break
      case 'fault':
        worker.over = true
        this.#fail(faultOf(message))
        break
    }
  }

  #onExit(child: ChildProcess, how: string): void {
    const worker = this.#workers.get(child)
    this.#workers.delete(child)
    if (this.#over) return
    if (worker?.over === false && this.#stopping === undefined) this.#replace(worker.number, how)
    if (this.#workers.size === 0) this.#finish()
  }

  /** What the dead one held comes back to the others at once: see the store's owners. */
  #replace(number: number, how: string): void {
    this.#restarts++
    if (this.#restarts > MAX_RESTARTS) {
      const problem = `worker processes died ${this.#restarts} times, the last one by ${how}`
      this.#fail(new CrawlError('WORKERS_DIED', { context: { problem } }))
      return
    }
    this.#start.onWarning(`a worker process died (${how}); another takes its place`)
    this.#fork(number)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#resolve(this.#stopping ?? (this.#reasons.includes('max-pages') ? 'max-pages' : 'finished'))
  }

  #fail(error: unknown): void {
    if (this.#over) return
    this.#over = true
    this.abort()
    this.#reject(error)
  }

  #tellAll(message: ToWorker): void {
    for (const child of this.#workers.keys()) this.#tell(child, message)
  }

  #tell(child: ChildProcess, message: ToWorker): void {
    if (child.connected) child.send(message, () => undefined) // a worker that is gone is seen by its exit
  }
}

/** Without what only a caller of the library can give: functions do not cross to another process. */
function plainOptions(options: ResolvedOptions): ResolvedOptions {
  return Object.fromEntries(OPTION_ENTRIES.map(([key]) => [key, options[key]])) as unknown as ResolvedOptions
}

function faultOf({ code, context }: Extract<FromWorker, { type: 'fault' }>): Error {
  const known = errorCodes.find((candidate): candidate is ErrorCode => candidate === code)
  return known === undefined ? new Error(String(context['problem'] ?? code)) : new CrawlError(known, { context })
}
