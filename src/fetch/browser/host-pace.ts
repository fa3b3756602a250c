/** Keeps what pages load beside themselves polite: so many at a time to one host, and data requests apart in time. */

import type { Clock } from '../../core/clock.ts'

export interface HostPaceOptions {
  readonly clock: Clock
  /** Of one host at a time. */
  readonly maxInFlight: number
}

export interface PaceRequest {
  readonly hostKey: string
  /** Least time after the start of the one before it. 0: none. */
  readonly delayMs: number
  readonly signal: AbortSignal
}

export interface HostPace {
  /** Resolves when the request may start; call what it answers when the request has ended. Rejects when the signal aborts. */
  enter(request: PaceRequest): Promise<() => void>
  /** A request to the host went out just now. */
  started(hostKey: string): void
}

interface Host {
  inFlight: number
  startedAtMs: number
  readonly waiting: Set<() => void>
}

/** What lies between a request's start here and at the server differs by so much. */
const SLACK_MS = 5

/** Hosts remembered while nothing of theirs is in flight. */
const MAX_IDLE_HOSTS = 1000

export function createHostPace({ clock, maxInFlight }: HostPaceOptions): HostPace {
  const hosts = new Map<string, Host>()

  function hostOf(key: string): Host {
    const host = hosts.get(key) ?? { inFlight: 0, startedAtMs: Number.NEGATIVE_INFINITY, waiting: new Set() }
    hosts.delete(key)
    hosts.set(key, host)
    for (const [oldest, { inFlight, waiting }] of hosts) {
      if (hosts.size <= MAX_IDLE_HOSTS) break
      if (inFlight === 0 && waiting.size === 0 && oldest !== key) hosts.delete(oldest)
    }
    return host
  }

  function leave(host: Host): void {
    host.inFlight--
    wakeNext(host)
  }

  return {
    started: (key) => {
      hostOf(key).startedAtMs = clock.monotonicMs()
    },
    enter: async ({ hostKey, delayMs, signal }) => {
      signal.throwIfAborted()
      const host = hostOf(hostKey)
      while (host.inFlight >= maxInFlight) {
        // oxlint-disable-next-line no-await-in-loop -- woken when a place is free
        await turn(host, signal)
      }
      host.inFlight++
      try {
        await sinceStart(host, { clock, delayMs, signal })
      } catch (error) {
        leave(host)
        throw error
      }
      host.startedAtMs = clock.monotonicMs()
      let left = false
      return () => {
        if (!left) leave(host)
        left = true
      }
    },
  }
}

function wakeNext(host: Host): void {
  for (const wake of host.waiting) {
    host.waiting.delete(wake)
    wake()
    return
  }
}

async function turn(host: Host, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const wake = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = (): void => {
      host.waiting.delete(wake)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    host.waiting.add(wake)
  })
}

interface Wait {
  readonly clock: Clock
  readonly delayMs: number
  readonly signal: AbortSignal
}

/** Others of the host may have started meanwhile: the time is looked at again after each sleep. */
async function sinceStart(host: Host, { clock, delayMs, signal }: Wait): Promise<void> {
  for (;;) {
    const leftMs = host.startedAtMs + delayMs + SLACK_MS - clock.monotonicMs()
    if (delayMs === 0 || leftMs <= 0) return
    // oxlint-disable-next-line no-await-in-loop -- see above
    await clock.sleep(leftMs, signal)
    signal.throwIfAborted()
  }
}
