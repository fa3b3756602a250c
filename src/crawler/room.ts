/** A full disk is waited for: what found no room is tried again until there is some, and people are told meanwhile. */

import type { Clock } from '../core/clock.ts'
import { isCrawlError } from '../core/errors.ts'
import { isDiskFull } from '../items/export-failed.ts'
import { formatDuration } from '../util/format.ts'

export interface Room {
  /**
   * Does the work, again and again while it finds no room at this place. Rejects with what it found last when nobody makes
   * room in time or `giveUp` was called, and at once with anything else.
   */
  patiently<T>(place: string, work: () => Promise<T>): Promise<T>
  /** Resolves when no other place is waited for: what would only need more room is not begun meanwhile. Undefined: now. */
  besides(place: string): Promise<void> | undefined
  /** Nothing is waited for any more. */
  giveUp(): void
}

export interface RoomOptions {
  readonly clock: Clock
  /** Of one wait; 0: none. */
  readonly waitMs: number
  /** Milliseconds of the clock that never jumps: no wait goes on after it. Default: none. */
  readonly untilMs?: number | undefined
  /** One line when it begins, and one each half minute; one when it goes on. */
  readonly onWait: (message: string) => void
}

const RETRY_MS = 2000
const TELL_EVERY_MS = 30_000

interface Wait {
  readonly sinceMs: number
  toldMs: number
}

export function createRoom(options: RoomOptions): Room {
  return new WaitingRoom(options)
}

class WaitingRoom implements Room {
  readonly #options: RoomOptions
  readonly #stop = new AbortController()
  /** By place. */
  readonly #waits = new Map<string, Wait>()
  /** All that waits goes on in one turn, in its order: a store makes that one transaction. */
  #pause: Promise<void> | undefined

  constructor(options: RoomOptions) {
    this.#options = options
  }

  async patiently<T>(place: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const done = await work()
        if (this.#waits.size > 0) this.#goOn(place)
        return done
      } catch (error) {
        if (!isFull(error) || !this.#mayWait(place)) throw error
        this.#tell(place, error)
      }
      await this.#nextTry()
    }
  }

  besides(place: string): Promise<void> | undefined {
    return this.#isHeldBeside(place) ? this.#waitBeside(place) : undefined
  }

  giveUp(): void {
    this.#stop.abort()
  }

  async #waitBeside(place: string): Promise<void> {
    while (this.#isHeldBeside(place)) await this.#nextTry()
  }

  #isHeldBeside(place: string): boolean {
    if (this.#stop.signal.aborted) return false
    for (const held of this.#waits.keys()) if (held !== place) return true
    return false
  }

  #nextTry(): Promise<void> {
    const { clock } = this.#options
    this.#pause ??= clock.sleep(RETRY_MS, this.#stop.signal).finally(() => {
      this.#pause = undefined
    })
    return this.#pause
  }

  #mayWait(place: string): boolean {
    const { clock, waitMs, untilMs = Infinity } = this.#options
    const nowMs = clock.monotonicMs()
    const sinceMs = this.#waits.get(place)?.sinceMs ?? nowMs
    const may = !this.#stop.signal.aborted && nowMs - sinceMs < waitMs && nowMs < untilMs
    if (!may) this.#waits.delete(place)
    return may
  }

  #tell(place: string, error: unknown): void {
    const { clock, waitMs, onWait } = this.#options
    const nowMs = clock.monotonicMs()
    const wait = this.#waits.get(place)
    if (wait !== undefined && nowMs - wait.toldMs < TELL_EVERY_MS) return
    const sinceMs = wait?.sinceMs ?? nowMs
    this.#waits.set(place, { sinceMs, toldMs: nowMs })
    const left = formatDuration(waitMs - (nowMs - sinceMs))
    onWait(
      `no room is left for ${place}, and the crawl waits: make some, and it goes on by itself (for ${left} yet; Ctrl-C ends it, and the same command goes on later). ${reasonOf(error)}`,
    )
  }

  #goOn(place: string): void {
    if (this.#waits.delete(place)) this.#options.onWait(`there is room for ${place} again: the crawl goes on`)
  }
}

function isFull(error: unknown): boolean {
  return isCrawlError(error, 'STORE_FULL') || isDiskFull(error)
}

/** What the system said, without what to do about it. */
function reasonOf(error: unknown): string {
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) ({ cause } = cause)
  const said = cause instanceof Error ? cause.message : String(cause)
  return `(${said.split('. ')[0] ?? said})`
}
