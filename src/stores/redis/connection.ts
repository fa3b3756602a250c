/** One connection on which scripts run; what the network or a restart of the server swallows is asked again. */

import type { Clock } from '../../core/clock.ts'
import type { RedisClient } from './driver.ts'
import { closedError, isPassing, isTimeout, isUnknownScript, storeError, unavailable } from './errors.ts'
import { SCRIPTS } from './scripts.ts'
import type { ScriptName } from './scripts.ts'

export interface Connection {
  /**
   * Runs a script and answers what it answers. Tried again for up to RIDE_OUT_MS, so `args` must name the call where it
   * must not be done twice. The first try is sent before this returns. Rejects with STORE_UNAVAILABLE after that.
   */
  run(name: ScriptName, args: readonly string[]): Promise<readonly unknown[]>
  /** Anything else, tried again in the same way. */
  insist<T>(attempt: () => Promise<T>): Promise<T>
  /** Any command, tried again in the same way. */
  ask(command: string, args: readonly string[]): Promise<unknown>
  /** From now on nothing is tried again. */
  close(): void
}

/** How long the server may be away. */
const RIDE_OUT_MS = 60_000

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 500

export interface ConnectionOptions {
  readonly client: RedisClient
  readonly clock: Clock
  readonly location: string
  /** The key that every script is given: its slot is the store's. */
  readonly key: string
}

export function createConnection({ client, clock, location, key }: ConnectionOptions): Connection {
  let closed = false
  let generation = 0
  client.on('ready', () => {
    generation++
  })

  async function evaluate(name: ScriptName, args: readonly string[]): Promise<readonly unknown[]> {
    const { text, sha } = SCRIPTS[name]
    try {
      return (await client.call('EVALSHA', [sha, '1', key, ...args])) as readonly unknown[]
    } catch (error) {
      if (!isUnknownScript(error)) throw error
      return (await client.call('EVAL', [text, '1', key, ...args])) as readonly unknown[]
    }
  }

  async function insist<T>(attempt: () => Promise<T>): Promise<T> {
    const sinceMs = clock.monotonicMs()
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (closed) throw closedError(location)
      const began = generation
      try {
        return await attempt()
      } catch (error) {
        if (!isPassing(error)) throw storeError(error, location)
        const waitedMs = clock.monotonicMs() - sinceMs
        if (closed || waitedMs >= RIDE_OUT_MS) throw givenUp(error, waitedMs)
        // Only the first of those that wait in vain on one connection makes a new one.
        if (isTimeout(error) && began === generation && client.status === 'ready') client.disconnect(true)
      }
      await clock.sleep(pauseMs)
    }
  }

  function givenUp(error: unknown, waitedMs: number): unknown {
    if (closed) return closedError(location)
    const said = error instanceof Error ? error.message : String(error)
    const seconds = Math.round(waitedMs / 1000)
    const problem = `expected the server to come back, found it away for ${seconds} s (${said}). Nothing that was acknowledged is lost`
    return unavailable(location, problem)
  }

  return {
    run: (name, args) => insist(() => evaluate(name, args)),
    insist,
    ask: (command, args) => insist(() => client.call(command, args)),
    close: () => {
      closed = true
    },
  }
}
