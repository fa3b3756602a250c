/** A bell that every process on the database hears: the server passes its rings on. */

import type { Clock } from '../../core/clock.ts'
import { createBell } from '../../frontier/wait-for-work.ts'
import type { Bell } from '../../frontier/wait-for-work.ts'
import { backoffMs } from '../../util/backoff.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'

/** Others are told at most so often: each telling costs everyone who waits a look. */
const TELL_EVERY_MS = 15

export interface SharedBell extends Bell {
  /** Grows with every ring. */
  readonly rings: number
  close(): Promise<void>
}

export interface BellOptions {
  readonly connect: () => Promise<Connection>
  readonly clock: Clock
  readonly random: Random
  readonly channel: string
}

/**
 * Over a connection of its own. While that is lost, rings stay in the process, and others look by themselves after a
 * while.
 */
export function createSharedBell(options: BellOptions): SharedBell {
  const { clock, channel } = options
  const bell = createBell(clock)
  let rings = 0
  let cancelTell: (() => void) | undefined
  let untold = false
  const ringHere = (): void => {
    rings++
    bell.ring()
  }
  const line = openLine(options, ringHere)
  const tell = (): void => {
    untold = false
    cancelTell = clock.timer(TELL_EVERY_MS, () => {
      cancelTell = undefined
      if (untold) tell()
    })
    line.connection?.script(`NOTIFY ${channel}`).catch(() => undefined)
  }
  return {
    get waiting() {
      return bell.waiting
    },
    get rings() {
      return rings
    },
    ring: () => {
      ringHere()
      if (cancelTell === undefined) tell()
      else untold = true
    },
    next: (withinMs, signal) => bell.next(withinMs, signal),
    close: async () => {
      cancelTell?.()
      await line.close()
    },
  }
}

interface Line {
  /** Undefined while it is lost. */
  readonly connection: Connection | undefined
  close(): Promise<void>
}

/** Listens, and goes on listening: a line that is lost is made anew. */
function openLine({ connect, clock, random, channel }: BellOptions, onRing: () => void): Line {
  let connection: Connection | undefined
  let closed = false
  let cancel: (() => void) | undefined
  const rejoin = (step: number): void => {
    if (closed) return
    const waitMs = backoffMs({ baseMs: 50, maxMs: 2000, step, random })
    cancel = clock.timer(waitMs, () => void join().catch(() => rejoin(step + 1)), true)
  }
  const join = async (): Promise<void> => {
    const joined = await connect()
    joined.onNotice(onRing)
    await joined.script(`LISTEN ${channel}`)
    if (closed) {
      await joined.close()
      return
    }
    joined.onEnd(() => {
      if (connection === joined) connection = undefined
      rejoin(1)
    })
    connection = joined
    // whatever was rung meanwhile
    onRing()
  }
  const joining = join().catch(() => rejoin(1))
  return {
    get connection() {
      return connection
    },
    close: async () => {
      closed = true
      cancel?.()
      await joining
      const last = connection
      connection = undefined
      if (last === undefined) return
      // Whoever waits for what this process has given back should not wait for its own look.
      await last.script(`NOTIFY ${channel}`).catch(() => undefined)
      await last.close()
    },
  }
}
