/** The connections of one store: few, made anew when they are lost, and transactions that are done exactly once over them. */

import type { Clock } from '../../core/clock.ts'
import { backoffMs } from '../../util/backoff.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'
import { closedError, isCollision, isConnectionLoss, storeError } from './errors.ts'
import { createPool } from './pool.ts'
import type { Pool } from './pool.ts'

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
  run<T>(work: (connection: Connection) => Promise<T>): Promise<T>
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
}

/** Connection loss is ridden out for so long. */
const RIDE_OUT_MS = 60_000
const BACKOFF_BASE_MS = 50
const BACKOFF_MAX_MS = 1000
/** More collisions in a row than any load explains. */
const MAX_COLLISIONS = 100

export function createLink(options: LinkOptions): Link {
  const { clock, random, location } = options
  const pool = createPool(options)
  let closed = false
  const underWay = new Set<Promise<unknown>>()

  async function persist<T>(attempt: () => Promise<T>): Promise<T> {
    const sinceMs = clock.monotonicMs()
    let collisions = 0
    for (let step = 1; ; step++) {
      try {
        return await attempt()
      } catch (error) {
        const again = isConnectionLoss(error)
          ? clock.monotonicMs() - sinceMs < RIDE_OUT_MS
          : isCollision(error) && ++collisions < MAX_COLLISIONS
        if (pool.gone) throw closedError(location)
        if (!again) throw storeError(error, location)
      }
      await clock.sleep(backoffMs({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, step, random }))
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
    run: (work) => enter(() => persist(() => pool.with(work))),
    transact: (transaction) =>
      enter(() =>
        persist(async () => {
          for (;;) {
            const done = await attemptOnce(pool, transaction)
            if (done.kind === 'committed') return done.answer
            if (done.kind === 'unknown' && (await persist(() => pool.with((other) => statusOf(other, done.xid))))) {
              return done.answer
            }
          }
        }),
      ),
    close: async () => {
      closed = true
      await Promise.allSettled(underWay)
      await pool.close()
    },
    abandon: () => {
      closed = true
      void pool.close()
    },
  }
}

type Attempt<T> =
  | { readonly kind: 'committed'; readonly answer: T }
  | { readonly kind: 'again' }
  /** The connection was lost after the commit was asked for. */
  | { readonly kind: 'unknown'; readonly xid: string; readonly answer: T }

async function attemptOnce<T>(pool: Pool, { head, work }: Transaction<T>): Promise<Attempt<T>> {
  return pool.with(async (connection) => {
    let isOver = false
    try {
      const begun = await connection.script(
        `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_current_xact_id()::text AS xid; ${head}`,
      )
      const [, [row], ...results] = begun as [unknown, [{ readonly xid: string }], ...(readonly object[])[]]
      const ending = await work(connection, results)
      if (ending === undefined) return { kind: 'again' }
      const { statements, tail, answer } = ending
      const fault = await faultOf([
        ...statements.map(([sql, ...values]) => connection.rows(sql, ...values)),
        connection.script(`${tail === '' ? '' : `${tail};`} COMMIT`),
      ])
      if (fault === undefined) {
        isOver = true
        return { kind: 'committed', answer }
      }
      if (isConnectionLoss(fault.error)) return { kind: 'unknown', xid: row.xid, answer }
      throw fault.error
    } finally {
      if (!isOver && connection.alive) await connection.script('ROLLBACK').catch(() => connection.close())
    }
  })
}

/** What went wrong first; a statement's own fault tells more than a loss that came with it. */
async function faultOf(answers: readonly Promise<unknown>[]): Promise<{ readonly error: unknown } | undefined> {
  const settled = await Promise.allSettled(answers)
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  if (errors.length === 0) return undefined
  return { error: errors.find((error) => !isConnectionLoss(error)) ?? errors[0] }
}

/** Whether the transaction was committed. Its session has been ended, so it will be one or the other. */
async function statusOf(connection: Connection, xid: string): Promise<boolean> {
  for (;;) {
    const [row] = await connection.rows<{ readonly status: string | null }>(
      'SELECT pg_xact_status($1::text::xid8) AS status',
      xid,
    )
    if (row?.status !== 'in progress') return row?.status === 'committed'
    await connection.script('SELECT pg_sleep(0.05)')
  }
}
