/** The loop: keeps as many requests in flight as allowed, settles what has ended, and knows when all is done. */

import { setMaxListeners } from 'node:events'
import type { Lease, LeaseOptions, SettleAnswer, Settlement } from '../frontier/contract.ts'
import type {
  EngineDeps,
  EngineEvent,
  EngineOptions,
  EngineRun,
  EngineTask,
  EngineTuning,
  FinishReason,
} from './contract.ts'
import { type BodyHold, createBodyBudget } from './body-budget.ts'
import { type CachedHosts, createCachedHosts } from './cached-hosts.ts'
import { createSlots } from '../util/slots.ts'
import { createHandlerWatch, type HandlerWatch } from './handler-watch.ts'
import { type Hold, keepLeases, type LeaseKeeper } from './lease-keeper.ts'
import { runLease } from './run-lease.ts'
import { createSilentShare, type SilentShare } from './silent-share.ts'
import { createTaskRoster, type TaskGroup, type TaskRoster } from './task-roster.ts'
import { waitForAny } from './wait-for-any.ts'

/** When the page limit is reached: what few seeds there are still become known. */
const SEEDS_GRACE_MS = 500
/** Bodies in flight, before decompression: what is made of them weighs two or three times as much. */
const MAX_BODIES_BYTES = 16 * 1024 * 1024
/** A turn is taken when one in so many of those in flight has ended: few large transactions cost half of many small ones, */
const FULL_SHARE = 2
/** or after this long. */
const SOON_MS = 3

export interface EngineStart {
  readonly deps: EngineDeps
  readonly options: EngineOptions
  readonly tasks: ReadonlyMap<string, EngineTask>
  /** Resolves when no more seeds will come. The engine does not end before. */
  readonly fed: Promise<unknown>
}

export interface Engine extends EngineRun {
  /** Something was added to the frontier from outside. */
  wake(): void
}

export function startEngine(start: EngineStart): Engine {
  return new EngineLoop(start)
}

class EngineLoop implements Engine {
  readonly done: Promise<FinishReason>
  readonly #start: EngineStart
  readonly #roster: TaskRoster
  readonly #active = createSlots<Lease>()
  readonly #bodies = createBodyBudget(MAX_BODIES_BYTES)
  /** Ends what is in flight. */
  readonly #abort = new AbortController()
  /** Ends the wait for work. */
  readonly #idle = new AbortController()
  /** Ends the wait that is under way, so that it begins anew. */
  #rewait = new AbortController()
  /** Silent hosts that are due do not end it. */
  #waitsForOthers = false
  readonly #keeper: LeaseKeeper
  readonly #watch: HandlerWatch
  /** Undefined: there is no cache. */
  readonly #cachedHosts: CachedHosts | undefined
  readonly #silentShare: SilentShare
  readonly #stopTimers: (() => void)[] = []
  #leavesSeeds = false
  #resolve: (reason: FinishReason) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #ended: Settlement[] = []
  /** Given to the store, which has not answered yet. */
  #settling: readonly Settlement[] = []
  /** Cancels the turn that is due soon. */
  #soon: (() => void) | undefined
  #turn: 'none' | 'asked' | 'running' | 'running, asked again' = 'none'
  #waiting = false
  #feeding = true
  #addedSinceWait = false
  #bytes = 0
  readonly #bytesOf = new Map<string, number>()
  #reason: FinishReason | undefined
  #over = false
  #paused = false
  #maxConcurrency: number

  constructor(start: EngineStart) {
    const { deps, options, tasks } = start
    this.#start = start
    this.#maxConcurrency = options.maxConcurrency
    this.#watch = createHandlerWatch(deps)
    this.#roster = createTaskRoster(tasks, options.maxPages)
    // every request in flight may listen: no leak that Node should warn of
    setMaxListeners(0, this.#abort.signal)
    this.#cachedHosts = deps.cache === undefined ? undefined : createCachedHosts(options.maxConcurrency)
    this.#silentShare = createSilentShare(options.maxConcurrency, deps.clock)
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#keeper = keepLeases({
      frontier: deps.store.frontier,
      clock: deps.clock,
      leaseMs: options.leaseMs,
      active: () => this.#held(),
      signal: this.#abort.signal,
    })
    this.#setTimers()
    this.#prepare().catch(this.#fail)
  }

  wake(): void {
    this.#addedSinceWait = true
    this.#waitAnew()
    this.#askTurn()
  }

  drain(reason: FinishReason): void {
    this.#reason ??= reason
    this.#askTurn()
  }

  abort(): void {
    this.#reason ??= 'interrupted'
    this.#abort.abort()
    this.#askTurn()
  }

  inFlight(): number {
    return this.#active.size
  }

  tune({ paused, maxConcurrency }: EngineTuning): void {
    this.#paused = paused ?? this.#paused
    this.#maxConcurrency = maxConcurrency ?? this.#maxConcurrency
    this.wake()
  }

  #setTimers(): void {
    const { deps, options, tasks } = this.#start
    const after = (ms: number | undefined, fn: () => void): void => {
      if (ms !== undefined) this.#stopTimers.push(deps.clock.timer(ms, fn))
    }
    after(options.maxTimeMs, () => {
      this.drain('max-time')
    })
    for (const [name, { limits }] of tasks) {
      after(limits?.maxTimeMs, () => {
        this.#close(name, 'max-time')
      })
    }
  }

  async #prepare(): Promise<void> {
    const { deps, fed } = this.#start
    for (const name of this.#roster.names)
      this.#countBytes(name, (await deps.store.frontier.stats(name)).counters.bytes)
    this.#checkBytes()
    this.wake()
    await fed
    this.#feeding = false
    this.wake()
  }

  /** A lease whose request has ended is still needed until the store has settled it: that may have to wait for others. */
  #held(): readonly Lease[] {
    const ended = [...this.#ended, ...this.#settling].map(({ lease }) => lease)
    return [...this.#active.values(), ...ended]
  }

  #askTurn(): void {
    if (this.#over) return
    if (this.#turn === 'running') this.#turn = 'running, asked again'
    if (this.#turn !== 'none') return
    this.#turn = 'asked'
    // after the poll phase, so that all answers that came with it are settled in one step
    setImmediate(() => {
      this.#takeTurn().catch(this.#fail)
    })
  }

  /** Few have ended and many are in flight: those that end next are waited for, as one step costs a store little more. */
  #askTurnForEnded(): void {
    if (this.#ended.length * FULL_SHARE >= this.#active.size || this.#reason !== undefined) this.#askTurn()
    else if (this.#turn === 'none') this.#askTurnSoon()
  }

  #askTurnSoon(): void {
    this.#soon ??= this.#start.deps.clock.timer(SOON_MS, () => {
      this.#askTurn()
    })
  }

  async #takeTurn(): Promise<void> {
    this.#turn = 'running'
    this.#soon?.()
    this.#soon = undefined
    const gotAll = await this.#settleAndLease()
    // changed while it ran: the compiler does not see that
    const again = (this.#turn as string) === 'running, asked again'
    this.#turn = 'none'
    if (this.#reason !== undefined && this.#active.size === 0 && this.#ended.length === 0) this.#finish(this.#reason)
    else if (again) this.#askTurn()
    else {
      if (this.#ended.length > 0) this.#askTurnForEnded()
      // only now: an answer that came while the turn ran could not be trusted
      if (!gotAll) this.#wait()
    }
  }

  /** False when the frontier gave fewer leases than there are free places. */
  async #settleAndLease(): Promise<boolean> {
    const { deps } = this.#start
    const { frontier } = deps.store
    const batch = this.#ended
    this.#ended = []
    this.#settling = batch
    const isOpen = this.#reason === undefined && !this.#paused && !this.#bodies.isUsedUp
    const free = isOpen ? Math.max(0, this.#maxConcurrency - this.#active.size) : 0
    // one call after the other in one turn of the event loop: a store can make them one transaction
    const askedAtMs = deps.clock.monotonicMs()
    const saving = batch.length > 0 ? deps.beforeSettle?.() : undefined
    const settling = batch.length > 0 ? frontier.settle(batch) : []
    const [first, ...others] = this.#roster.groups()
    const leasing = free > 0 && first !== undefined ? frontier.lease(this.#leaseOptions(first, free)) : []
    const [answers, leases] = await Promise.all([settling, leasing, saving])
    this.#settling = []
    this.#acknowledge(batch, answers)
    this.#processAll(leases, askedAtMs)
    if (others.length === 0 || free <= 0) return leases.length >= free
    return this.#leaseMore(others, free - leases.length)
  }

  /** Of the groups whose turn was not first. False: places are left. */
  async #leaseMore(groups: readonly TaskGroup[], places: number): Promise<boolean> {
    const { deps } = this.#start
    let left = places
    for (const group of groups) {
      if (left <= 0) break
      const askedAtMs = deps.clock.monotonicMs()
      // oxlint-disable-next-line no-await-in-loop -- what one group leaves is for the next
      const leases = await deps.store.frontier.lease(this.#leaseOptions(group, left))
      this.#processAll(leases, askedAtMs)
      left -= leases.length
    }
    this.#roster.turn()
    return left <= 0
  }

  #leaseOptions(group: TaskGroup, max: number): LeaseOptions {
    const { leaseMs } = this.#start.options
    const options = { max, leaseMs, maxSilent: this.#silentShare.left(), ...group }
    const unpaced = this.#cachedHosts?.allowance()
    return unpaced === undefined ? options : { ...options, unpaced }
  }

  #processAll(leases: readonly Lease[], askedAtMs: number): void {
    if (leases.length === 0) return
    const hold = this.#keeper.take(askedAtMs)
    for (const lease of leases) this.#process(lease, hold)
  }

  #process(lease: Lease, hold: Hold): void {
    const { deps, tasks } = this.#start
    const task = tasks.get(lease.request.task)
    if (task === undefined) throw new Error(`a lease of the task ${lease.request.task}, which does not run here`)
    const slot = this.#active.add(lease)
    this.#silentShare.began(lease)
    const body = this.#bodies.hold()
    const story = { deps, task, lease, hold, signal: hold.signal, watch: this.#watch, onBody: body.add }
    const running = deps.tracePage === undefined ? runLease(story) : deps.tracePage(lease, () => runLease(story))
    void this.#settleLater(running, slot, body)
  }

  async #settleLater(running: Promise<Settlement>, slot: number, body: BodyHold): Promise<void> {
    try {
      const settlement = await running
      body.release()
      this.#active.remove(slot)
      this.#silentShare.ended(settlement)
      this.#cachedHosts?.note(settlement)
      this.#ended.push(settlement)
      this.#askTurnForEnded()
    } catch (error) {
      this.#fail(error)
    }
  }

  #acknowledge(batch: readonly Settlement[], answers: readonly SettleAnswer[]): void {
    const { deps, tasks } = this.#start
    for (const [index, settlement] of batch.entries()) {
      if (answers[index] === 'settled') {
        tasks.get(settlement.lease.request.task)?.door.note(settlement.discovered)
        this.#countBytes(settlement.lease.request.task, settlement.counts?.bytes ?? 0)
        const event = eventOf(settlement)
        if (event !== undefined) deps.onEvent(event)
      } else deps.onEvent({ type: 'lost', url: settlement.lease.url })
    }
    if (batch.length === 0) return
    this.#checkBytes()
    deps.afterSettle?.()
  }

  #countBytes(name: string, bytes: number): void {
    this.#bytes += bytes
    if (this.#start.tasks.get(name)?.limits?.maxBytes === undefined) return
    this.#bytesOf.set(name, (this.#bytesOf.get(name) ?? 0) + bytes)
  }

  #checkBytes(): void {
    const { options, tasks } = this.#start
    const { maxBytes = Infinity } = options
    if (this.#bytes >= maxBytes) this.drain('max-bytes')
    for (const [name, bytes] of this.#bytesOf) {
      if (bytes >= (tasks.get(name)?.limits?.maxBytes ?? Infinity)) this.#close(name, 'max-bytes')
    }
  }

  /** One task has reached a limit of its own; the others go on. */
  #close(name: string, reason: FinishReason): void {
    if (!this.#roster.isOpen(name)) return
    this.#roster.close(name, reason)
    if (this.#roster.groups().length === 0) this.drain(reason)
    else this.wake()
  }

  /** What is waited for has changed: the answer would be about what was. */
  #waitAnew(): void {
    if (this.#roster.names.length > 1) this.#rewait.abort()
  }

  /** One waiter at a time: it wakes the loop when the frontier has work, or tells it that all is done. */
  #wait(): void {
    if (this.#over) return
    const waitsForOthers = this.#silentShare.left() === 0
    if (this.#waiting) {
      if (this.#waitsForOthers && !waitsForOthers) this.#rewait.abort()
      return
    }
    this.#waiting = true
    this.#waitsForOthers = waitsForOthers
    this.#addedSinceWait = false
    this.#waitForWork(!this.#feeding).catch(this.#fail)
  }

  async #waitForWork(fedBefore: boolean): Promise<void> {
    const { frontier } = this.#start.deps.store
    this.#rewait = new AbortController()
    const maxSilent = this.#waitsForOthers ? 0 : 1
    const groups = this.#roster.groups().map((group) => ({ ...group, maxSilent }))
    const answer = await waitForAny(frontier, groups, this.#rewait.signal)
    this.#waiting = false
    if (this.#over) return
    const more = this.#ended.length > 0 || this.#turn !== 'none'
    if (answer !== 'finished' || more) this.#askTurn()
    // else what ends last wakes the loop
    else if (this.#active.size === 0) await this.#onNothingLeft(fedBefore)
    else if (this.#addedSinceWait) this.#askTurn()
  }

  async #onNothingLeft(fedBefore: boolean): Promise<void> {
    // seeds that come without a pause must not hide that no task can take them
    if (this.#addedSinceWait && (fedBefore || !(await this.#areAllFull()))) this.#askTurn()
    else if (fedBefore) this.#finish((await this.#isAnyFull()) ? 'max-pages' : (this.#roster.closedBy ?? 'finished'))
    else if (await this.#areAllFull()) await this.#leaveSeeds()
    // else: the next seed, or the end of the seeds, wakes the loop
  }

  /** A task has reached its page limit, and more of its pages wait. */
  async #isAnyFull(): Promise<boolean> {
    for (const name of this.#roster.names) {
      const limit = this.#roster.pageLimitOf(name)
      if (limit === undefined) continue
      const { done, pending } = await this.#start.deps.store.frontier.stats(name)
      if (done >= limit && pending > 0) return true
    }
    return false
  }

  /** No task can take another page. */
  async #areAllFull(): Promise<boolean> {
    for (const name of this.#roster.names) {
      const limit = this.#roster.pageLimitOf(name)
      if (limit === undefined) return false
      if ((await this.#start.deps.store.frontier.stats(name)).done < limit) return false
    }
    return true
  }

  /** Seeds that are still to come could not be fetched: a source that goes on, or waits, is not waited for. */
  async #leaveSeeds(): Promise<void> {
    if (this.#leavesSeeds) return
    this.#leavesSeeds = true
    const { clock } = this.#start.deps
    await clock.sleep(SEEDS_GRACE_MS, this.#idle.signal)
    this.#leavesSeeds = false
    if (this.#feeding) this.#finish('max-pages')
    else this.#askTurn()
  }

  #finish(reason: FinishReason): void {
    if (this.#over) return
    this.#stop()
    this.#resolve(reason)
  }

  readonly #fail = (error: unknown): void => {
    if (this.#over) return
    this.#stop()
    this.#abort.abort(error)
    this.#reject(error)
  }

  #stop(): void {
    this.#over = true
    this.#keeper.stop()
    for (const stop of this.#stopTimers) stop()
    this.#soon?.()
    this.#idle.abort()
    this.#rewait.abort()
  }
}

function eventOf({ lease, outcome, counts }: Settlement): EngineEvent | undefined {
  const { url } = lease
  switch (outcome.kind) {
    case 'done':
      return {
        type: 'page',
        url,
        status: outcome.status,
        depth: lease.request.depth,
        bytes: counts?.bytes ?? 0,
        fromCache: outcome.fromCache,
      }
    case 'skipped':
      return {
        type: 'skipped',
        url,
        reason: outcome.reason,
        ...(outcome.why === undefined ? {} : { why: outcome.why }),
      }
    case 'redirected':
      return { type: 'redirected', url, to: outcome.to.url }
    case 'retry': {
      const { failure, error } = outcome.attempt
      return { type: 'retry', url, failure, error, inMs: outcome.retryInMs }
    }
    case 'failed':
      return { type: 'failed', url, failure: outcome.attempt.failure, error: outcome.attempt.error }
    case 'released':
      return undefined
  }
}
