/** A TCP connection to the first of several addresses that answers (happy eyeballs, RFC 8305). */

import net from 'node:net'
import type { Socket } from 'node:net'

import type { Clock } from '../../core/clock.ts'

export interface DialOptions {
  /** Literals, best first. Tried in turn by family; each later one joins while the earlier ones are still trying. */
  readonly addresses: readonly string[]
  readonly port: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** RFC 8305, 5: "Connection Attempt Delay", recommended value. */
const ATTEMPT_DELAY_MS = 250

/** Rejects with the first attempt's error when all failed, or with the signal's reason. Losers are closed. */
export async function dial(options: DialOptions): Promise<Socket> {
  options.signal.throwIfAborted()
  const addresses = interleave(options.addresses)
  return await new Promise<Socket>((resolve, reject) => {
    const trying = new Set<Socket>()
    let next = 0
    let firstError: unknown
    let cancelDelay: (() => void) | undefined
    const finish = (settle: () => void): void => {
      cancelDelay?.()
      options.signal.removeEventListener('abort', onAbort)
      for (const socket of trying) discard(socket)
      settle()
    }
    const onAbort = (): void => {
      finish(() => {
        reject(options.signal.reason as Error)
      })
    }
    const tryNext = (): void => {
      cancelDelay?.()
      const host = addresses[next]
      if (host === undefined) return
      next++
      const socket = net.connect({
        host,
        port: options.port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: 60_000,
      })
      trying.add(socket)
      socket.once('error', (error) => {
        trying.delete(socket)
        firstError ??= error
        if (next < addresses.length) tryNext()
        else if (trying.size === 0)
          finish(() => {
            reject(firstError as Error)
          })
      })
      socket.once('connect', () => {
        trying.delete(socket)
        // Whoever takes it over listens too; an error in between must not end the process.
        socket.on('error', () => {})
        finish(() => {
          resolve(socket)
        })
      })
      if (next < addresses.length) cancelDelay = options.clock.timer(ATTEMPT_DELAY_MS, tryNext)
    }
    options.signal.addEventListener('abort', onAbort, { once: true })
    tryNext()
  })
}

function discard(socket: Socket): void {
  socket.removeAllListeners()
  socket.on('error', () => {})
  socket.destroy()
}

/** The families alternate, beginning with that of the first address. */
function interleave(addresses: readonly string[]): readonly string[] {
  const first = net.isIP(addresses[0] ?? '')
  const own = addresses.filter((address) => net.isIP(address) === first)
  const other = addresses.filter((address) => net.isIP(address) !== first)
  return addresses.length < 2
    ? addresses
    : own.flatMap((address, at) => [address, ...other.slice(at, at + 1)]).concat(other.slice(own.length))
}
