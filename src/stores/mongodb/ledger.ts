/** Transactions on a server that has none: a log that only one can write next, and documents that follow it. */

import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../util/random.ts'
import type { Cache, Entry } from './cache.ts'
import type { Kind, Placed } from './documents.ts'
import { closedError } from './errors.ts'
import type { Instant } from './instant.ts'
import { createLog, KEPT_RECORDS } from './log.ts'
import type { LogRecord } from './log.ts'
import type { Found, Server } from './server.ts'
import { createAttempt, isMissing } from './transaction.ts'
import type { Attempt, Transaction, Wanted } from './transaction.ts'

/** One piece of work; it may be run several times, all but the last in vain. */
export interface Work<T> {
  readonly run: (tx: Transaction) => T
  /** Names what `run` will need, so that it is read in one go. May stop as `run` may. */
  readonly prepare?: (tx: Transaction) => void
  /** How much of a transaction it fills. Default 1. */
  readonly weight?: number
}

export interface Ledger {
  /** Resolves when it is committed and where it belongs. */
  write<T>(work: Work<T>): Promise<T>
  /** On the newest record that the server holds, or a later one. Its writes are ignored. */
  read<T>(run: (tx: Transaction) => T): Promise<T>
  /** Resolves when documents follow everything that was committed when it was called: for what asks the server itself. */
  applyAll(): Promise<void>
  /** Does away with what dead processes left in the log. */
  sweep(): Promise<void>
  /** Number of the last record that this process knows. */
  readonly head: number
  /** A time of the server's clock that is not later than now, without asking it. */
  nowMs(): number
  /** Everything asked for so far is written; whatever comes later is refused. */
  close(): Promise<void>
}

export interface LedgerOptions {
  readonly server: Server
  readonly cache: Cache
  readonly clock: Clock
  readonly random: Random
  /** Different for each process. */
  readonly name: string
  readonly readOnly: boolean
  /** Only for tests: in place of the server's clock. */
  readonly testTime: (() => Instant) | undefined
  /** After this process has committed. */
  readonly onCommit: () => void
  /** Done at the end of each transaction before it is committed. */
  readonly onFlush: (tx: Transaction) => void
}

interface Job {
  readonly work: Work<unknown>
  readonly kind: 'read' | 'write' | 'apply'
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A transaction takes in no further job beyond. */
const MAX_WEIGHT = 2500
/**
 * Documents follow the log in steps of so many records: of a document that is written again and again only the last
 * state is. Who commits the last record of a step sees to it; when that fails, whoever finds two steps open.
 */
const APPLY_EVERY = 16
/** Or earlier, when so many documents wait. */
const MAX_UNAPPLIED = 4000
/** Nobody commits any more before documents follow, when the log is ahead by so many steps. */
const MAX_STEPS_AHEAD = 4
/** Documents follow also when nothing more comes. */
const IDLE_MS = 1000
const NOTHING: Work<void> = { run: () => undefined }
/** Of a task with no more requests their ids are read once, so that new ones are known to be new. */
const MAX_IDS_READ = 200_000
/** Fewer are asked for one by one. */
const MIN_IDS_WANTED = 50
/** A wait after a lost race: a random part of it, doubled with each race, up to the most. */
const RACE_MS = 2
const MAX_RACE_MS = 40
/** Places read of a list, at the least. */
const MIN_WINDOW = 32

// oxlint-disable-next-line max-lines-per-function -- a protocol machine: one closure over one state
export function createLedger(options: LedgerOptions): Ledger {
  const { server, cache, clock, random, name, readOnly } = options
  const log = createLog(server)
  const jobs: Job[] = []
  let draining: Promise<void> | undefined
  let closed = false
  let head = -1
  let headAtMs = 0
  let applied = 0
  let applying: Promise<void> | undefined
  let cancelIdle: (() => void) | undefined
  const asksForKnown = new Set<number>()
  let records = 0
  const asked = { serverMs: 0, atMs: 0 }

  const nowMs = (): number => {
    if (options.testTime !== undefined) return Math.max(headAtMs, options.testTime().nowMs)
    return Math.max(headAtMs, asked.serverMs + (clock.monotonicMs() - asked.atMs))
  }
  const askTime = async (): Promise<void> => {
    asked.serverMs = await server.timeMs()
    asked.atMs = clock.monotonicMs()
  }
  const begin = async (): Promise<void> => {
    cache.clear()
    asksForKnown.clear()
    head = await log.appliedUpTo()
    applied = head
    headAtMs = 0
  }
  const noteApplied = (upTo: number): void => {
    if (upTo <= applied) return
    applied = upTo
    cache.unapplied.prune(upTo)
  }
  const take = (record: LogRecord): void => {
    for (const write of record.writes) cache.take(write, record.n)
    head = record.n
    headAtMs = Math.max(headAtMs, record.atMs)
    noteApplied(Math.min(record.applied, head))
  }
  /** Lets documents follow the log up to `head`. */
  const apply = async (): Promise<void> => {
    const upTo = head
    // Another may have done it.
    const others = await log.appliedUpTo()
    if (others < upTo) {
      await server.apply(cache.unapplied.writes())
      await log.noteApplied(upTo)
    }
    noteApplied(Math.min(head, Math.max(others, upTo)))
  }
  const startApplying = (): Promise<void> => {
    applying ??= apply().finally(() => {
      applying = undefined
    })
    return applying
  }
  const keepUp = async (): Promise<void> => {
    const ahead = head - applied
    const isOurs = head % APPLY_EVERY === 0 || ahead > APPLY_EVERY * 2 || cache.unapplied.size > MAX_UNAPPLIED
    if (!isOurs || ahead === 0) return
    // What goes wrong here goes wrong again in the next commit, which has somebody to tell.
    const step = startApplying().catch(() => undefined)
    if (ahead > APPLY_EVERY * MAX_STEPS_AHEAD || cache.unapplied.size > MAX_UNAPPLIED * MAX_STEPS_AHEAD) await step
  }
  /** Reads whatever others have committed. */
  const catchUp = async (): Promise<void> => {
    if (head < 0) await begin()
    const asking = askTime()
    asking.catch(() => undefined)
    for (let steps = 0; ; steps++) {
      const next = await log.read(head + 1)
      if (next === undefined) break
      if (next === 'emptied' || steps > KEPT_RECORDS / 2) {
        await begin()
        steps = 0
      } else take(next)
    }
    await asking
  }
  const readKnown = async (wanted: Wanted): Promise<void> => {
    const perTask = new Map<number, number>()
    for (const id of wanted.ids.get('requests') ?? []) {
      const taskId = Number(id.slice(0, id.indexOf(':')))
      perTask.set(taskId, (perTask.get(taskId) ?? 0) + 1)
    }
    for (const [taskId, n] of perTask) {
      const counts = cache.get('tasks', String(taskId))?.doc?.counts
      if (n < MIN_IDS_WANTED || counts === undefined || asksForKnown.has(taskId)) continue
      asksForKnown.add(taskId)
      if (Object.values(counts).reduce((a, b) => a + b, 0) > MAX_IDS_READ) continue
      cache.noteKnown(taskId, await server.ids('requests', { 'd.t': taskId }))
    }
  }
  const load = async (wanted: Wanted, loaded: Map<Kind, Map<string, Found | undefined>>): Promise<void> => {
    await readKnown(wanted)
    const reads = [...wanted.ids].map(async ([kind, ids]) => {
      const found = await server.read(kind, [...ids])
      const own = loaded.get(kind) ?? new Map<string, Found | undefined>()
      loaded.set(kind, own)
      for (const id of ids) own.set(id, found.get(id))
      for (const one of found.values()) cache.note(kind, one)
    })
    const lists = [...wanted.lists.values()].map(async ({ kind, list, n }) => {
      const limit = Math.max(MIN_WINDOW, Math.min(n, 1e6) * 2, (cache.window(kind, list)?.read ?? 0) * 2)
      const found = await server.find(kind, { 'd.q': list }, { sort: { 'd.a': 1, 'd.b': 1, 'd.c': 1 }, limit })
      const entries = found.map(({ id, doc }): Entry => ({ ...placeOf(doc), id }))
      for (const one of found) cache.note(kind, one)
      cache.noteWindow(kind, list, { entries, read: limit })
    })
    await Promise.all([...reads, ...lists])
  }
  /** Runs all jobs on what is known as of `head`, as often as something has to be read first. */
  const attempt = async (batch: readonly Job[], draws: number[]): Promise<{ made: Attempt; results: unknown[] }> => {
    const loaded = new Map<Kind, Map<string, Found | undefined>>()
    const atMs = nowMs()
    const time = { nowMs: atMs, wallMs: options.testTime?.().wallMs ?? atMs }
    for (;;) {
      const made = createAttempt({ cache, loaded, time, random: repeatable(random, draws) })
      const results = runJobs(batch, made, options.onFlush)
      if (results !== undefined) return { made, results }
      await load(made.wanted, loaded)
    }
  }
  const transact = async (batch: readonly Job[]): Promise<unknown[]> => {
    const draws: number[] = []
    for (let races = 0; ; races++) {
      await catchUp()
      const outcome = await attempt(batch, draws).catch(async (error: unknown) => {
        // What others have committed meanwhile may have been half read.
        if (isFailure(error) && (await log.read(head + 1)) === undefined) throw error
        if (!isFailure(error)) throw error
        return undefined
      })
      if (outcome === undefined) continue
      const { made, results } = outcome
      const writes = made.writes()
      if (writes.length === 0 || batch[0]?.kind === 'read') return results
      const record: LogRecord = { n: head + 1, mark: `${name}.${records++}`, atMs: made.tx.nowMs, applied, writes }
      if (await log.commit(record)) {
        take(record)
        options.onCommit()
        await keepUp()
        return results
      }
      await clock.sleep(random() * Math.min(MAX_RACE_MS, RACE_MS * 2 ** Math.min(races, 10)))
    }
  }
  const applyNow = async (): Promise<void> => {
    await catchUp()
    // One that is under way may have begun too early.
    if (head > applied) await startApplying()
    if (head > applied) await startApplying()
  }
  const drain = async (): Promise<void> => {
    while (jobs.length > 0) {
      await nextTurn()
      const batch = takeBatch(jobs)
      try {
        await runBatch(batch, transact, applyNow)
      } catch (error) {
        // What this process knows may be half of something.
        head = -1
        for (const job of batch) job.reject(error)
      }
      cache.trim()
    }
    draining = undefined
    if (head > applied && !closed && !readOnly) cancelIdle ??= clock.timer(IDLE_MS, whenIdle, true)
  }
  /** Who looks at the database itself finds it a second behind at the most. */
  const whenIdle = (): void => {
    cancelIdle = undefined
    if (!closed && head > applied) ask(NOTHING, 'apply').catch(() => undefined)
  }
  const ask = (work: Work<unknown>, kind: Job['kind']): Promise<unknown> => {
    if (closed) return Promise.reject(closedError(server.place))
    const done = new Promise<unknown>((resolve, reject) => {
      jobs.push({ work, kind, resolve, reject })
    })
    draining ??= drain()
    return done
  }
  return {
    write: (work) => ask(work, 'write') as Promise<never>,
    read: (run) => ask({ run }, 'read') as Promise<never>,
    applyAll: async () => {
      await ask(NOTHING, 'apply')
    },
    sweep: () => log.sweep(),
    get head() {
      return head
    },
    nowMs,
    close: async () => {
      closed = true
      cancelIdle?.()
      await draining
      if (head > applied && !readOnly) await startApplying().catch(() => undefined)
    },
  }
}

/** Of jobs that are run together only the guilty one fails. */
async function runBatch(
  batch: readonly Job[],
  transact: (batch: readonly Job[]) => Promise<unknown[]>,
  applyNow: () => Promise<void>,
): Promise<void> {
  const rest = [...batch]
  if (batch[0]?.kind === 'apply') {
    await applyNow()
    for (const job of rest.splice(0)) job.resolve(undefined)
  }
  while (rest.length > 0) {
    try {
      const results = await transact(rest)
      for (const [index, job] of rest.entries()) job.resolve(results[index])
      return
    } catch (error) {
      if (!isFailure(error)) throw error
      rest[error.index]?.reject(error.reason)
      rest.splice(error.index, 1)
    }
  }
}

/** A job that throws; the others are run again without it. */
interface Failure {
  readonly index: number
  readonly reason: unknown
}
const failures = new WeakSet<object>()

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && failures.has(error)
}

/** Undefined: something has to be read first. */
function runJobs(
  batch: readonly Job[],
  { tx, wanted }: Attempt,
  onFlush: LedgerOptions['onFlush'],
): unknown[] | undefined {
  const results: unknown[] = []
  let index = -1
  const step = (run: () => void): boolean => {
    try {
      run()
      return true
    } catch (error) {
      if (isMissing(error)) return false
      const failure: Failure = { index, reason: error }
      failures.add(failure)
      // oxlint-disable-next-line typescript/only-throw-error -- caught in runBatch, a few lines away
      throw failure
    }
  }
  let isReady = true
  for (const { work } of batch) {
    index++
    if (work.prepare !== undefined && !step(() => work.prepare?.(tx))) isReady = false
  }
  if (!isReady || wanted.ids.size > 0) return undefined
  index = -1
  for (const { work } of batch) {
    index++
    if (!step(() => results.push(work.run(tx)))) return undefined
  }
  if (batch[0]?.kind === 'read') return results
  index = batch.length - 1
  return step(() => {
    onFlush(tx)
  })
    ? results
    : undefined
}

/** Reads with reads, writes with writes. */
function takeBatch(jobs: Job[]): Job[] {
  const batch: Job[] = []
  let weight = 0
  for (let next = jobs[0]; next !== undefined; next = jobs[0]) {
    if (batch.length > 0 && (next.kind !== batch[0]?.kind || weight >= MAX_WEIGHT)) break
    batch.push(next)
    weight += next.work.weight ?? 1
    jobs.shift()
  }
  return batch
}

function repeatable(random: Random, draws: number[]): Random {
  let at = 0
  return () => {
    const draw = draws[at] ?? random()
    draws[at++] = draw
    return draw
  }
}

function placeOf(doc: unknown): Placed {
  const { a, b, c } = (doc ?? {}) as Placed
  return { a, b, c }
}

/** The next turn of the event loop: whatever is called in this one is taken together. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
