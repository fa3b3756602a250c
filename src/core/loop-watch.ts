/** How long the event loop has stood still: nothing can be read then, and the network is not to blame for it. */

import type { Clock } from './clock.ts'

/** A look at the clock as often as this while somebody waits: ten a second. */
const BEAT_MS = 100
/** Two looks that lie further apart have had the loop standing still between them. */
const STILL_MS = 250

/** Costs one timer, and only between `begin` and `end`. */
export class LoopWatch {
  readonly #clock: Clock
  readonly #onStill: ((ms: number) => void) | undefined
  #waiting = 0
  #stillMs = 0
  #lastMs = 0
  #cancelBeat: (() => void) | undefined

  /** `onStill` hears of each stretch right after it, with its length. */
  constructor(clock: Clock, onStill?: (ms: number) => void) {
    this.#clock = clock
    this.#onStill = onStill
  }

  begin(): void {
    this.#waiting++
    if (this.#waiting > 1) return
    this.#lastMs = this.#clock.monotonicMs()
    this.#beatLater()
  }

  end(): void {
    this.#look()
    this.#waiting--
    if (this.#waiting === 0) this.#cancelBeat?.()
  }

  /**
   * Milliseconds in all, to be compared with what it said before. Of each stretch the time of one beat is left out: what
   * waits comes nearer to its end even if the loop does nothing but stand still.
   */
  stillMs(): number {
    this.#look()
    return this.#stillMs
  }

  /** Calls `fn` once the loop has run for `ms`, unless cancelled. */
  deadline(ms: number, fn: () => void): () => void {
    this.begin()
    let seenMs = this.stillMs()
    let isOver = false
    const end = (): void => {
      if (!isOver) this.end()
      isOver = true
    }
    let cancel = this.#clock.timer(ms, onTimer)
    const clock = this.#clock
    const stillMs = (): number => this.stillMs()
    function onTimer(): void {
      const lostMs = stillMs() - seenMs
      seenMs += lostMs
      if (lostMs > 0) cancel = clock.timer(lostMs, onTimer)
      else {
        end()
        fn()
      }
    }
    return () => {
      cancel()
      end()
    }
  }

  #beatLater(): void {
    this.#cancelBeat = this.#clock.timer(
      BEAT_MS,
      () => {
        this.#look()
        this.#lastMs = this.#clock.monotonicMs()
        this.#beatLater()
      },
      true,
    )
  }

  /** Timers fire before anything is read: whoever asks may be earlier than the beat that is due. */
  #look(): void {
    if (this.#waiting === 0) return
    const nowMs = this.#clock.monotonicMs()
    const gapMs = nowMs - this.#lastMs
    if (gapMs < STILL_MS) return
    this.#lastMs = nowMs
    this.#stillMs += gapMs - BEAT_MS
    this.#onStill?.(gapMs)
  }
}
