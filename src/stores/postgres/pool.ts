/** A few connections, lent out one at a time, made when they are needed and made anew when they are lost. */

import type { Connection } from './connection.ts'
import { closedError, isConnectionLoss } from './errors.ts'

/** A settlement, a lease and something small may be under way at once. */
const MAX_CONNECTIONS = 3

export interface PoolOptions {
  readonly connect: () => Promise<Connection>
  readonly location: string
}

/** Work that must not wait for the rest of it: `urgent` has one more connection, should all others be lent. */
export interface Urgency {
  readonly urgent?: boolean
}

export interface Pool {
  /** Closed: no connection will be made any more. */
  readonly gone: boolean
  with<T>(work: (connection: Connection) => Promise<T>, urgency?: Urgency): Promise<T>
  close(): Promise<void>
}

export function createPool({ connect, location }: PoolOptions): Pool {
  const idle: Connection[] = []
  const busy = new Set<Connection>()
  const waiting: (() => void)[] = []
  const urgentWaiting: (() => void)[] = []
  /** Sessions that the server may believe in still, with all their locks. */
  const lost = new Set<string>()
  let places = MAX_CONNECTIONS
  let gone = false

  async function take(urgent: boolean): Promise<Connection> {
    const least = urgent ? -1 : 0
    if (places > least) places--
    else await new Promise<void>((resolve) => void (urgent ? urgentWaiting : waiting).push(resolve))
    if (gone) throw closedError(location)
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.alive) return connection
    }
    const connection = await connect()
    await endSessions(connection, lost)
    return connection
  }

  async function giveBack(connection: Connection | undefined, error: unknown): Promise<void> {
    if (connection !== undefined) {
      busy.delete(connection)
      if (connection.alive && isConnectionLoss(error)) await connection.close()
      if (connection.alive && !gone) idle.push(connection)
      else if (!gone) lost.add(connection.backend)
    }
    places++
    const next = urgentWaiting.shift() ?? (places > 0 ? waiting.shift() : undefined)
    if (next === undefined) return
    places--
    next()
  }

  async function lend<T>(work: (connection: Connection) => Promise<T>, { urgent = false }: Urgency = {}): Promise<T> {
    let connection: Connection | undefined
    let fault: unknown
    try {
      connection = await take(urgent)
      busy.add(connection)
      return await work(connection)
    } catch (error) {
      fault = error
      throw error
    } finally {
      await giveBack(connection, fault)
    }
  }

  return {
    get gone() {
      return gone
    },
    with: lend,
    close: async () => {
      gone = true
      for (const wake of [...urgentWaiting.splice(0), ...waiting.splice(0)]) wake()
      await Promise.all([...idle, ...busy].map((connection) => connection.close()))
    },
  }
}

/** A transaction that nobody hears of any more would keep its locks until the server notices. */
async function endSessions(connection: Connection, lost: Set<string>): Promise<void> {
  if (lost.size === 0) return
  const dead = [...lost]
  const any = dead.map((backend) => `(${backend})`).join(' OR ')
  await connection.script(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND (${any})`,
  )
  for (const backend of dead) lost.delete(backend)
}
