/** The worker commands of a chaos run: started, killed, stopped for a while, and watched until they end by themselves. */

import { join } from 'node:path'
import { childrenOf, monotonicMs, startSpoor } from '../../support/command.ts'
import type { CommandEnd, RunningCommand } from '../../support/command.ts'

/** What was done to a worker, and when; by the clock of the site's log. */
export interface Blow {
  /** User agent of the worker; '*': all of them. */
  readonly worker: string
  readonly kind: 'kill' | 'pause' | 'outage'
  readonly fromMs: number
  /** Of a pause or an outage: when it was over. Until then Infinity. */
  untilMs: number
}

export interface WorkerEnd extends CommandEnd {
  readonly worker: string
  readonly startedAtMs: number
  readonly atMs: number
}

export interface WorkersOptions {
  readonly folder: string
  readonly args: readonly string[]
  /** Worker processes of each command; 1: the command itself crawls. */
  readonly processes: number
  /** A command that takes longer hangs: its last words are told. */
  readonly deadlineMs: number
  /** All commands share one data folder. */
  readonly isShared: boolean
}

interface Worker {
  readonly name: string
  readonly slot: number
  readonly command: RunningCommand
  /** Processes that are stopped. */
  readonly paused: Set<number>
}

export class Workers {
  readonly blows: Blow[] = []
  /** Of those that were not killed. */
  readonly ends: WorkerEnd[] = []
  readonly #options: WorkersOptions
  readonly #running = new Map<number, Worker>()
  readonly #watched: Promise<void>[] = []
  #started = 0

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  get started(): number {
    return this.#started
  }

  get slots(): number[] {
    return [...this.#running.keys()]
  }

  /** The place in which items are exported, which only one process may use at a time. */
  get output(): string {
    return join(this.#options.folder, 'out.jsonl')
  }

  /** Of two commands in one slot the second goes on where the first was killed. Slot 0 exports. */
  start(slot: number): void {
    if (this.#running.has(slot)) return
    const { folder, args, processes, isShared, deadlineMs } = this.#options
    const name = `w${++this.#started}-s${slot}`
    const dir = join(folder, isShared ? 'data' : `data-${slot}`)
    const own = ['--dir', dir, '--user-agent', name, '--processes', String(processes)]
    const output = slot === 0 ? ['-o', this.output] : []
    const command = startSpoor(['crawl', ...args, ...own, ...output], { deadlineMs })
    const worker: Worker = { name, slot, command, paused: new Set() }
    this.#running.set(slot, worker)
    this.#watched.push(this.#watch(worker))
  }

  /** Kills a command, or one of its processes. */
  async kill(slot: number, pick: (count: number) => number): Promise<void> {
    const worker = this.#running.get(slot)
    if (worker === undefined) return
    const victims = [worker.command.pid, ...(await childrenOf(worker.command.pid))]
    const victim = victims[pick(victims.length)]
    if (victim === undefined) return
    this.#note(worker, 'kill').untilMs = monotonicMs()
    if (victim === worker.command.pid) {
      this.#running.delete(slot)
      this.#killed.add(worker)
    }
    signal(victim, 'SIGKILL')
  }

  /** Stops a process that crawls, and answers what lets it go on. */
  async pause(slot: number, pick: (count: number) => number): Promise<() => void> {
    const worker = this.#running.get(slot)
    const crawling = worker === undefined ? [] : await childrenOf(worker.command.pid)
    const victim = crawling[pick(crawling.length)] ?? worker?.command.pid
    if (worker === undefined || victim === undefined || worker.paused.has(victim)) return () => undefined
    const blow = this.#note(worker, 'pause')
    worker.paused.add(victim)
    signal(victim, 'SIGSTOP')
    return () => {
      signal(victim, 'SIGCONT')
      worker.paused.delete(victim)
      blow.untilMs = monotonicMs()
    }
  }

  /** Resolves when all commands have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#watched)
  }

  killAll(): void {
    for (const { command } of this.#running.values()) command.signal('SIGKILL')
  }

  readonly #killed = new Set<Worker>()

  #note({ name }: Worker, kind: Blow['kind']): Blow {
    // a process that is stopped in the midst of a transaction holds the lock of a shared file
    const hits = kind === 'pause' && this.#options.isShared ? '*' : name
    const blow: Blow = { worker: hits, kind, fromMs: monotonicMs(), untilMs: Infinity }
    this.blows.push(blow)
    return blow
  }

  async #watch(worker: Worker): Promise<void> {
    const end = await worker.command.ended
    if (this.#killed.has(worker)) return
    if (this.#running.get(worker.slot) === worker) this.#running.delete(worker.slot)
    const { startedAtMs } = worker.command
    this.ends.push({ ...end, worker: worker.name, startedAtMs, atMs: monotonicMs() })
  }
}

/** To a process that may just have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it is gone
  }
}
