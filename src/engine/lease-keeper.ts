/** Keeps the leases of what is in flight, and ends fetching in time when they cannot be kept. */

import { setMaxListeners } from 'node:events'
import type { Clock } from '../core/clock.ts'
import type { Frontier, Lease } from '../frontier/contract.ts'

/** What all leases of one stretch of good contact with the store share. */
export interface Hold {
  /** Aborts before the leases run out: others may take them over then. */
  readonly signal: AbortSignal
  /** To be asked right before something is sent: a process that was paused hears of its timers too late. */
  isHeld(): boolean
}

export interface LeaseKeeper {
  /** The hold of leases that were asked for at `askedAtMs` (monotonic) and have just come. */
  take(askedAtMs: number): Hold
  stop(): void
}

export interface LeaseKeeperOptions {
  readonly frontier: Pick<Frontier, 'renew'>
  readonly clock: Clock
  readonly leaseMs: number
  readonly active: () => readonly Lease[]
  /** Ends every hold: the crawl is aborted. */
  readonly signal: AbortSignal
}

/** Part of a lease after which it is renewed, and after which it is given up unless it was. */
const RENEW_AFTER = 1 / 3
const GIVE_UP_AFTER = 0.9

/**
 * A lease runs from some instant after it was asked for, or after its renewal was: so counting from those instants, by
 * this process's own clock, ends early and never late. What is given up is settled as released; the store says whether
 * it still was ours. Nothing here is a fault: whether the store is lost for good is said by the calls that need it.
 */
export function keepLeases(options: LeaseKeeperOptions): LeaseKeeper {
  return new Keeper(options)
}

class Keeper implements LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  /** All that is held is good from here for a lease's length. */
  #goodFromMs: number
  /** The earliest instant at which leases were asked for that the renewal under way does not know. */
  #takenFromMs = Infinity
  #hold: Hold | undefined
  #cut = new AbortController()
  #cancelRenewal: (() => void) | undefined
  #cancelEnd: (() => void) | undefined
  #renewing = false
  #stopped = false

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
    this.#goodFromMs = options.clock.monotonicMs()
    this.#renewLater()
  }

  take(askedAtMs: number): Hold {
    const { clock, leaseMs } = this.#options
    const nowMs = clock.monotonicMs()
    if (this.#options.active().length === 0) this.#goodFromMs = nowMs
    if (nowMs - this.#goodFromMs >= leaseMs * GIVE_UP_AFTER) this.#giveUp()
    this.#goodFromMs = Math.min(this.#goodFromMs, askedAtMs)
    this.#takenFromMs = Math.min(this.#takenFromMs, askedAtMs)
    // the answer took long: what it brought is old already
    if (nowMs - askedAtMs > leaseMs * RENEW_AFTER) queueMicrotask(() => void this.#renew())
    this.#hold ??= this.#newHold()
    const hold = this.#hold
    this.#watchEnd()
    return hold
  }

  stop(): void {
    this.#stopped = true
    this.#cancelRenewal?.()
    this.#cancelEnd?.()
  }

  #newHold(): Hold {
    const cut = this.#cut
    const signal = AbortSignal.any([this.#options.signal, cut.signal])
    // every request in flight may listen, as at the engine's own: no leak that Node should warn of
    setMaxListeners(0, signal)
    return {
      signal,
      isHeld: () => {
        if (cut === this.#cut) this.#checkEnd()
        return !signal.aborted
      },
    }
  }

  /** Others may hold soon what was held: nothing of it may be sent any more. */
  #giveUp(): void {
    const cut = this.#cut
    this.#cut = new AbortController()
    this.#hold = undefined
    this.#goodFromMs = this.#options.clock.monotonicMs()
    cut.abort()
  }

  #checkEnd(): void {
    const { clock, leaseMs } = this.#options
    if (clock.monotonicMs() - this.#goodFromMs >= leaseMs * GIVE_UP_AFTER) this.#giveUp()
  }

  #watchEnd(): void {
    if (this.#cancelEnd !== undefined || this.#hold === undefined || this.#stopped) return
    const { clock, leaseMs } = this.#options
    const inMs = Math.max(0, this.#goodFromMs + leaseMs * GIVE_UP_AFTER - clock.monotonicMs())
    const look = (): void => {
      this.#cancelEnd = undefined
      if (this.#options.active().length === 0) return
      this.#checkEnd()
      this.#watchEnd()
    }
    this.#cancelEnd = clock.timer(Math.ceil(inMs), look, true)
  }

  #renewLater(): void {
    const { clock, leaseMs } = this.#options
    this.#cancelRenewal = clock.timer(leaseMs * RENEW_AFTER, () => void this.#renew(), true)
  }

  async #renew(): Promise<void> {
    if (this.#renewing || this.#stopped) return
    this.#renewing = true
    this.#cancelRenewal?.()
    const { frontier, clock, leaseMs, active } = this.#options
    const askedAtMs = clock.monotonicMs()
    const cut = this.#cut
    const leases = active()
    this.#takenFromMs = Infinity
    try {
      if (leases.length > 0) await frontier.renew(leases, leaseMs)
      if (cut === this.#cut) this.#goodFromMs = Math.min(askedAtMs, this.#takenFromMs)
    } catch {
      // asked again soon; when it stays so, the holds end
    }
    this.#renewing = false
    if (!this.#stopped) this.#renewLater()
  }
}
