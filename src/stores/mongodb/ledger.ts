/** Transactions on a server that has none: a log that only one can write next, and documents that follow it. */

import type { Clock } from '../../core/clock.ts'
import { isCrawlError } from '../../core/errors.ts'
import type { Random } from '../../util/random.ts'
import type { Cache, Entry } from './cache.ts'
import { META } from './documents.ts'
import type { Kind, Placed } from './documents.ts'
import { closedError } from './errors.ts'
import type { Instant } from './instant.ts'
import { isFailure, runBatch, runJobs, takeBatch } from './jobs.ts'
import type { Job, Work } from './jobs.ts'
import { createLog, KEPT_RECORDS } from './log.ts'
import type { LogRecord } from './log.ts'
import type { Found, Server } from './server.ts'
import { createAttempt } from './transaction.ts'
import type { Attempt, Transaction, Wanted } from './transaction.ts'

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

/**
 * Documents follow the log in steps of so many records: of a document that is written again and again only the last
 * state is. Who commits the last record of a step sees to it; when that fails, whoever finds two steps open.
 */
const APPLY_EVERY = 16
/** Or earlier, when so many documents wait. */
const MAX_UNAPPLIED = 6000
/** Nobody commits any more before documents follow, when the log is ahead by so many steps. */
const MAX_STEPS_AHEAD = 4
/** Documents follow also when nothing more comes. */
const IDLE_MS = 1000
/**
 * How long another who says that it lets documents follow is believed, and how often it is looked whether it has. Short
 * against a lease: while a dead one is believed nobody commits. Two at it at once do the same work twice, no harm.
 */
const BELIEVED_FOR_MS = 2500
const WAIT_FOR_OTHERS_MS = 20
/** The same for one who says that it is about to commit. */
const TURN_BELIEVED_FOR_MS = 2000
const WAIT_FOR_TURN_MS = 8
/** After so many records of its own with none of another between them a process needs no turns. */
const ALONE_AFTER = 64
const NOTHING: Work<void> = { run: () => undefined }
/** Of a task with no more requests their ids are read once, so that new ones are known to be new. */
const MAX_IDS_READ = 200_000
/** Fewer are asked for one by one. */
const MIN_IDS_WANTED = 50
/** A wait after a lost race: a random part of it, doubled with each race, up to the most. */
const RACE_MS = 2
const MAX_RACE_MS = 40
/** For each other process at work, up to so many, a random part of this is waited between two commits. */
const MANNERS_MS = 3
const MAX_MANNERS = 4
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
  /** Records of this process since the last one of another. */
  let wins = ALONE_AFTER
  let turns = 0
  let applying: Promise<void> | undefined
  let cancelIdle: (() => void) | undefined
  const asksForKnown = new Set<number>()
  const patience = createPatience(clock, BELIEVED_FOR_MS)
  const turnPatience = createPatience(clock, TURN_BELIEVED_FOR_MS)
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
  /** Lets documents follow the log up to `head`, unless another is at it: then nothing is done, or it is waited for. */
  const apply = async (isUrgent: boolean): Promise<void> => {
    const upTo = head
    const writes = cache.unapplied.writes()
    const mark = `${name}.${upTo}`
    for (;;) {
      noteApplied(Math.min(head, await log.appliedUpTo()))
      if (applied >= upTo) return
      const by = await log.claim('applying', mark)
      if (by === undefined) break
      if (patience.isOver(by)) await log.release('applying', by)
      else if (isUrgent) await clock.sleep(WAIT_FOR_OTHERS_MS)
      else return
    }
    try {
      await server.apply(writes)
      await log.noteApplied(upTo)
    } finally {
      await log.release('applying', mark)
    }
    noteApplied(Math.min(head, upTo))
  }
  const startApplying = (isUrgent: boolean): Promise<void> => {
    applying ??= apply(isUrgent).finally(() => {
      applying = undefined
    })
    return applying
  }
  const keepUp = async (): Promise<void> => {
    const ahead = head - applied
    const isOurs = head % APPLY_EVERY === 0 || ahead > APPLY_EVERY * 2 || cache.unapplied.size > MAX_UNAPPLIED
    if (!isOurs || ahead === 0) return
    const isFarAhead = ahead > APPLY_EVERY * MAX_STEPS_AHEAD || cache.unapplied.size > MAX_UNAPPLIED * MAX_STEPS_AHEAD
    // What goes wrong here goes wrong again in the next commit, which has somebody to tell.
    const step = startApplying(isFarAhead).catch(() => undefined)
    if (isFarAhead) await step
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
      } else {
        take(next)
        wins = 0
      }
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
    const lists = [...wanted.lists.values()].map(({ kind, list, n }) => ({
      kind,
      list,
      limit: Math.max(MIN_WINDOW, Math.min(n, 1e6) * 2, (cache.window(kind, list)?.read ?? 0) * 2),
    }))
    const windows = (['requests', 'queues'] as const).map(async (kind) => {
      const found = await server.findLists(
        kind,
        lists.filter((one) => one.kind === kind),
      )
      for (const { list, limit, docs } of found) {
        for (const one of docs) cache.note(kind, one)
        const entries = docs.map(({ id, doc }): Entry => ({ ...placeOf(doc), id }))
        cache.noteWindow(kind, list, { entries, read: limit })
      }
    })
    await Promise.all([...reads, ...windows])
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
  /** Who has just won has everything at hand to win again: a moment for those who have to read first. */
  const letOthers = async (): Promise<void> => {
    const others = (cache.get('meta', META)?.doc?.owners.length ?? 1) - 1
    if (wins > 0 && others > 0) await clock.sleep(random() * Math.min(others, MAX_MANNERS) * MANNERS_MS)
  }
  /** While several commit, one after the other: a lost race is work done in vain. Undefined: go on without. */
  const takeTurn = async (): Promise<string | undefined> => {
    if (wins >= ALONE_AFTER) return undefined
    await letOthers()
    const mark = `${name}.${turns++}`
    for (const sinceMs = clock.monotonicMs(); clock.monotonicMs() - sinceMs < TURN_BELIEVED_FOR_MS * 2;) {
      const by = await log.claim('committing', mark)
      if (by === undefined) return mark
      if (turnPatience.isOver(by)) await log.release('committing', by)
      else await clock.sleep((0.25 + random()) * WAIT_FOR_TURN_MS)
    }
    return undefined
  }
  const inTurn = async (batch: readonly Job[]): Promise<unknown[]> => {
    if (batch[0]?.kind !== 'write') return transact(batch)
    const turn = await takeTurn()
    try {
      return await transact(batch)
    } finally {
      if (turn !== undefined) void log.release('committing', turn).catch(() => undefined)
    }
  }
  const transact = async (batch: readonly Job[]): Promise<unknown[]> => {
    const draws: number[] = []
    let doubts = 0
    for (let races = 0; ; races++) {
      await catchUp()
      const outcome = await attempt(batch, draws).catch(async (error: unknown) => {
        // What others have committed meanwhile may have been half read.
        if (!isFailure(error)) throw error
        if ((await log.read(head + 1)) !== undefined) return undefined
        if (isCrawlError(error.reason) || doubts++ > 0) throw error
        // What does not fit together is read anew, once.
        head = -1
        return undefined
      })
      if (outcome === undefined) continue
      const { made, results } = outcome
      const writes = made.writes()
      if (writes.length === 0 || batch[0]?.kind === 'read') return results
      const record: LogRecord = { n: head + 1, mark: `${name}.${records++}`, atMs: made.tx.nowMs, applied, writes }
      if (await log.commit(record)) {
        take(record)
        wins++
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
    if (head > applied) await startApplying(true)
    if (head > applied) await startApplying(true)
  }
  const drain = async (): Promise<void> => {
    while (jobs.length > 0) {
      await nextTurn()
      const batch = takeBatch(jobs)
      try {
        await runBatch(batch, inTurn, applyNow)
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
      if (head > applied && !readOnly) await startApplying(true).catch(() => undefined)
    },
  }
}

interface Patience {
  /** Whether it has been this mark for too long. */
  isOver(mark: string): boolean
}

function createPatience(clock: Clock, forMs: number): Patience {
  let heard: string | undefined
  let sinceMs = 0
  return {
    isOver: (mark) => {
      if (mark !== heard) {
        heard = mark
        sinceMs = clock.monotonicMs()
      }
      return clock.monotonicMs() - sinceMs > forMs
    },
  }
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
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
