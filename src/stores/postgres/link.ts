/** The connections of one store: few, made anew when they are lost, and transactions that are done exactly once over them. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { backoffMs } from '../../util/backoff.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'
import { closedError, isCollision, isConnectionLoss, READ_ONLY, stateOf, storeError, unavailable } from './errors.ts'
import { createPool } from './pool.ts'
import type { Pool, Urgency } from './pool.ts'

export type Statement = readonly [sql: string, ...values: readonly unknown[]]

/** How a transaction ends: these statements, then `tail`, then the commit, all in one round trip. */
export interface Ending<T> {
  readonly statements: readonly Statement[]
  /** A script without values; may be empty. */
  readonly tail: string
  readonly answer: T
}

export interface Transaction<T> {
  /** A script for the first round trip: locks, and what can be read at once. */
  readonly head: string
  /** Undefined: what was read has changed meanwhile; everything is undone and begun anew. */
  readonly work: (connection: Connection, results: readonly (readonly object[])[]) => Promise<Ending<T> | undefined>
}

export interface Link {
  /** Work that may be done twice: when its connection is lost it is done again on another. */
  run<T>(work: (connection: Connection) => Promise<T>, urgency?: Urgency): Promise<T>
  /** Done exactly once, also when the answer to the commit was lost. */
  transact<T>(transaction: Transaction<T>): Promise<T>
  /** Waits for what is under way; whatever comes later is refused. */
  close(): Promise<void>
  /** Lets go of everything at once, as a killed process does. */
  abandon(): void
}

export interface LinkOptions {
  readonly connect: () => Promise<Connection>
  readonly clock: Clock
  readonly random: Random
  readonly location: string
  /** Of a store that is only looked at: whatever writes is refused. */
  readonly readOnly: boolean
}

/** Connection loss is ridden out for so long. */
const RIDE_OUT_MS = 60_000
const BACKOFF_BASE_MS = 50
const BACKOFF_MAX_MS = 1000
/** More collisions in a row than any load explains. */
const MAX_COLLISIONS = 100

export function createLink(options: LinkOptions): Link {
  const { location, readOnly } = options
  const pool = createPool(options)
  let closed = false
  const underWay = new Set<Promise<unknown>>()
  const name = randomUUID()
  const slots = createSlots()
  let lastNumber = 0

  const refused = (): unknown => unavailable(location, { problem: 'it was opened for reading only' })
  const persist = createPersistence(options, (error) => {
    if (pool.gone) return closedError(location)
    return readOnly && stateOf(error) === READ_ONLY ? refused() : undefined
  })

  /** Until one is committed, or fails for a reason of its own. */
  async function attempts<T>(place: ReceiptPlace, transaction: Transaction<T>): Promise<T> {
    for (;;) {
      const receipt = { ...place, number: ++lastNumber }
      const done = await attemptOnce(pool, transaction, receipt)
      if (done.kind === 'committed') return done.answer
      if (done.kind === 'again') continue
      const { backend } = done
      if (await persist(() => pool.with((other) => wasCommitted(other, receipt, backend)))) return done.answer
    }
  }

  async function enter<T>(run: () => Promise<T>): Promise<T> {
    if (closed) throw closedError(location)
    const running = run()
    underWay.add(running)
    try {
      return await running
    } finally {
      underWay.delete(running)
    }
  }

  return {
    run: (work, urgency) => enter(() => persist(() => pool.with(work, urgency))),
    transact: (transaction) =>
      enter(async () => {
        if (readOnly) throw refused()
        const receipt = { link: name, slot: slots.take() }
        try {
          return await persist(() => attempts(receipt, transaction))
        } finally {
          slots.giveBack(receipt.slot)
        }
      }),
    close: async () => {
      closed = true
      await Promise.allSettled(underWay)
      if (lastNumber > 0) await pool.with((connection) => dropReceipts(connection, name)).catch(() => undefined)
      await pool.close()
    },
    abandon: () => {
      closed = true
      void pool.close()
    },
  }
}

/** Tries again while the connection is at fault, or another transaction. `fatal`: what makes every further try vain. */
function createPersistence(
  { clock, random, location }: LinkOptions,
  fatal: (error: unknown) => unknown,
): <T>(attempt: () => Promise<T>) => Promise<T> {
  return async (attempt) => {
    const sinceMs = clock.monotonicMs()
    let collisions = 0
    for (let step = 1; ; step++) {
      try {
        return await attempt()
      } catch (error) {
        const again = isConnectionLoss(error)
          ? clock.monotonicMs() - sinceMs < RIDE_OUT_MS
          : isCollision(error) && ++collisions < MAX_COLLISIONS
        const why = fatal(error)
        if (why !== undefined) throw why
        if (!again) throw storeError(error, location)
      }
      await clock.sleep(backoffMs({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, step, random }))
    }
  }
}

/** Where a transaction leaves the proof that it was committed: one at a time has the slot. */
interface ReceiptPlace {
  readonly link: string
  readonly slot: number
}

interface Receipt extends ReceiptPlace {
  readonly number: number
}

/** Small numbers, each lent to one at a time. */
function createSlots(): { take(): number; giveBack(slot: number): void } {
  const free: number[] = []
  let made = 0
  return {
    take: () => free.pop() ?? made++,
    giveBack: (slot) => {
      free.push(slot)
    },
  }
}

type Attempt<T> =
  | { readonly kind: 'committed'; readonly answer: T }
  | { readonly kind: 'again' }
  /** The connection was lost after the commit was asked for. */
  | { readonly kind: 'unknown'; readonly backend: string; readonly answer: T }

async function attemptOnce<T>(pool: Pool, { head, work }: Transaction<T>, receipt: Receipt): Promise<Attempt<T>> {
  return pool.with(async (connection) => {
    let isOver = false
    try {
      const [, ...results] = await connection.script(`BEGIN ISOLATION LEVEL READ COMMITTED; ${head}`)
      const ending = await work(connection, results)
      if (ending === undefined) return { kind: 'again' }
      const { statements, tail, answer } = ending
      const fault = await faultOf([
        ...statements.map(([sql, ...values]) => connection.rows(sql, ...values)),
        connection.script(`${tail === '' ? '' : `${tail};`} ${receiptScript(receipt)}; COMMIT`),
      ])
      if (fault === undefined) {
        isOver = true
        return { kind: 'committed', answer }
      }
      if (isConnectionLoss(fault.error)) return { kind: 'unknown', backend: connection.backend, answer }
      throw fault.error
    } finally {
      if (!isOver && connection.alive) await connection.script('ROLLBACK').catch(() => connection.close())
    }
  })
}

/** Not the transaction's id: the server may give that anew after a crash. */
function receiptScript({ link, slot, number }: Receipt): string {
  return `INSERT INTO @receipts VALUES ('${link}', ${slot}, ${number}, (SELECT @now())) ON CONFLICT (link, slot)
    DO UPDATE SET number = excluded.number, written_at = excluded.written_at`
}

async function dropReceipts(connection: Connection, link: string): Promise<void> {
  await connection.rows('DELETE FROM @receipts WHERE link = $1', link)
}

/** What went wrong first; a statement's own fault tells more than a loss that came with it. */
async function faultOf(answers: readonly Promise<unknown>[]): Promise<{ readonly error: unknown } | undefined> {
  const settled = await Promise.allSettled(answers)
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  if (errors.length === 0) return undefined
  return { error: errors.find((error) => !isConnectionLoss(error)) ?? errors[0] }
}

/** Whether the transaction was committed. Its session is ended first: it may be committing still. */
async function wasCommitted(connection: Connection, receipt: Receipt, backend: string): Promise<boolean> {
  const session = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${backend}`
  for (
    let [alive = []] = await connection.script(session);
    alive.length > 0;
    [alive = []] = await connection.script(session)
  ) {
    await connection.script('SELECT pg_sleep(0.02)')
  }
  const rows = await connection.rows(
    'SELECT 1 FROM @receipts WHERE link = $1 AND slot = $2::int AND number = $3::bigint',
    receipt.link,
    receipt.slot,
    receipt.number,
  )
  return rows.length > 0
}
