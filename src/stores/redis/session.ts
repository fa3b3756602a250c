/** What an open store works with: its scripts, called as an owner whose calls are numbered, so that none is done twice. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { Random } from '../../util/random.ts'
import type { Connection } from './connection.ts'
import { closedError, unavailable } from './errors.ts'
import type { ScriptName } from './scripts.ts'

/** Calls of one lane are made one after the other; the answer to the last one is kept by the server. */
export type LaneName = 'add' | 'lease' | 'settle' | 'renew' | 'task' | 'state' | 'owner'

export interface Session {
  readonly location: string
  readonly clock: Clock
  readonly random: Random
  /** Of this process in the store; undefined when it is only looked at. */
  readonly owner: string | undefined
  /** A question: changes nothing, may be asked at any time. Answers what follows the script's `ok`. */
  ask(name: ScriptName, args: readonly string[]): Promise<readonly unknown[]>
  /** A change: done once, however often it has to be sent. The first call of an idle lane is sent before this returns. */
  write(lane: LaneName, name: ScriptName, args: readonly string[]): Promise<unknown>
  /** From now on every call is refused. Resolves when those that were made have ended. */
  end(): Promise<void>
}

/** Only for tests: stands in for the server's clock. */
export interface StoreTime {
  readonly nowMs: number
  readonly wallMs: number
}

export interface SessionOptions {
  readonly connection: Connection
  readonly location: string
  readonly clock: Clock
  readonly random: Random
  readonly owner: string | undefined
  /** JSON that tells who the owner is: to register again when others took it for dead. */
  readonly info: string
  readonly time: (() => StoreTime) | undefined
}

export function headerOf(
  time: (() => StoreTime) | undefined,
  call?: { readonly owner: string; readonly lane: string; readonly number: number },
): string[] {
  const at = time?.()
  const instants = at === undefined ? ['', ''] : [String(at.nowMs), String(at.wallMs)]
  return call === undefined ? [...instants, '', '', ''] : [...instants, call.owner, call.lane, String(call.number)]
}

export function createSession(options: SessionOptions): Session {
  const { connection, location, clock, random, owner, time } = options
  const lanes = new Map<LaneName, Lane>()
  const running = new Set<Promise<unknown>>()
  let ended = false

  function track<T>(promise: Promise<T>): Promise<T> {
    const tracked = promise.finally(() => running.delete(tracked))
    running.add(tracked)
    return tracked
  }

  async function call(lane: LaneName, number: number, { name, args }: Call): Promise<unknown> {
    if (owner === undefined) throw unavailable(location, 'it was opened for reading only')
    for (;;) {
      const reply = await connection.run(name, [...headerOf(time, { owner, lane, number }), ...args])
      if (reply[0] !== 'unowned') return answerOf(reply, location)[0]
      // Others took us for dead: our leases are lost, but we are not.
      const header = headerOf(time, { owner, lane, number })
      await connection.run('register', [...header, FORMAT, options.info])
    }
  }

  return {
    location,
    clock,
    random,
    owner,
    ask: async (name, args) => {
      if (ended) throw closedError(location)
      return answerOf(await track(connection.run(name, [...headerOf(time), ...args])), location)
    },
    write: (lane, name, args) => {
      if (ended) return Promise.reject(closedError(location))
      const known = lanes.get(lane) ?? createLane((number, made) => call(lane, number, made))
      lanes.set(lane, known)
      return track(known({ name, args }))
    },
    end: async () => {
      ended = true
      await Promise.allSettled(running)
    },
  }
}

/** Grows when an older version could not read what this one writes. */
export const FORMAT = '1'

interface Call {
  readonly name: ScriptName
  readonly args: readonly string[]
}

type Lane = (call: Call) => Promise<unknown>

/** One call at a time, numbered in the order in which they are sent. */
function createLane(send: (number: number, call: Call) => Promise<unknown>): Lane {
  let number = 0
  let busy = false
  const waiting: (() => void)[] = []
  const next = (): void => {
    const go = waiting.shift()
    if (go === undefined) busy = false
    else go()
  }
  return async (call) => {
    if (busy) await new Promise<void>((resolve) => waiting.push(resolve))
    busy = true
    try {
      return await send(++number, call)
    } finally {
      next()
    }
  }
}

/** What follows `ok`; other first words are refusals. */
export function answerOf(reply: readonly unknown[], location: string): readonly unknown[] {
  const [status, what] = reply
  switch (status) {
    case 'ok':
    case 'again':
      return reply.slice(1)
    case 'notask': {
      const problem = `The task "${String(what)}" was not opened in ${location}`
      throw new CrawlError('CONFIG_INVALID', { context: { problem } })
    }
    case 'format':
      throw new CrawlError('STORE_FORMAT_MISMATCH', { context: { location, found: String(what), expected: FORMAT } })
    case 'rules':
      throw new CrawlError('STORE_RULES_CHANGED', {
        context: { location, what: 'rules of identity', expected: String(reply[2]), found: String(what) },
      })
    default:
      throw new Error(`Expected an answer of a script, found ${String(status)}`)
  }
}
