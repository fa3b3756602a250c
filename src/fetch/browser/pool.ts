/** The browser and its pages: started when needed, used again, renewed after so many visits, started anew when it ends. */

import type { Browser } from 'playwright-core'
import type { Clock } from '../../core/clock.ts'
import { unavailable } from './find-browser.ts'
import { openSlot, type Slot } from './slot.ts'
import { unlessAborted } from './unless-aborted.ts'

export interface PoolOptions {
  readonly launch: () => Promise<Browser>
  readonly clock: Clock
  readonly userAgent: string
  /** Pages at the same time. */
  readonly maxPages: number
  /** Visits after which a page and its context are renewed. Default 50. */
  readonly maxUses?: number
  /** Age after which they are. Default 10 minutes. */
  readonly maxAgeMs?: number
  /** Visits after which the browser is started anew: what it leaks is given back. Default 1,000. */
  readonly maxBrowserUses?: number
  /** Told each time that the browser is started after it had ended by itself. */
  readonly onRestart?: () => void
}

export interface Pool {
  /** Waits for a free place. Rejects with the signal's reason, or with BROWSER_UNAVAILABLE. */
  acquire(session: string, signal: AbortSignal | undefined): Promise<Slot>
  /** `fit`: as good as new. Never rejects. */
  release(slot: Slot, fit: boolean): void
  /** Starts the browser, if it does not run. */
  start(): Promise<void>
  close(): Promise<void>
}

/** A context that does not close (its page's scripts never end) takes the browser with it. */
const CLOSE_MS = 5000
/** Starts in a row that may fail. */
const MAX_STARTS = 3

export class BrowserPool implements Pool {
  readonly #options: PoolOptions
  #browser: Promise<Browser> | undefined
  #browserUses = 0
  #running: Browser | undefined
  readonly #idle = new Set<Slot>()
  readonly #owners = new Map<Slot, Browser>()
  readonly #waiting = new Set<() => void>()
  readonly #closing = new Set<Promise<void>>()
  #taken = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  async acquire(session: string, signal: AbortSignal | undefined): Promise<Slot> {
    await this.#place(signal)
    this.#renewInTime()
    this.#browserUses++
    try {
      return this.#takeIdle(session) ?? (await this.#open(session))
    } catch (error) {
      this.#leavePlace()
      throw error
    }
  }

  release(slot: Slot, fit: boolean): void {
    const { clock, maxUses = 50, maxAgeMs = 600_000 } = this.#options
    const isOld = slot.uses >= maxUses || clock.monotonicMs() - slot.openedAtMs >= maxAgeMs
    const isRetired = this.#owners.get(slot) !== this.#running
    if (!fit || isOld || isRetired || slot.gone.aborted || this.#closed) {
      this.#discard(slot)
      this.#leavePlace()
    } else this.#track(this.#keep(slot))
  }

  /** The page is emptied first: what its scripts still do belongs to the visit before. */
  async #keep(slot: Slot): Promise<void> {
    const isWell = await isEmptied(slot, this.#options.clock)
    if (isWell && !this.#closed && this.#owners.get(slot) === this.#running) this.#idle.add(slot)
    else this.#discard(slot)
    this.#leavePlace()
  }

  async start(): Promise<void> {
    await this.#current()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const wake of this.#waiting) wake()
    this.#idle.clear()
    const browser = await this.#browser?.catch(() => undefined)
    this.#browser = undefined
    this.#running = undefined
    await this.#end(browser)
    await Promise.all(this.#closing)
  }

  async #place(signal: AbortSignal | undefined): Promise<void> {
    const never = new AbortController().signal
    while (this.#taken >= this.#options.maxPages && !this.#closed) {
      // oxlint-disable-next-line no-await-in-loop -- woken when a place is free
      await this.#freePlace(signal ?? never)
    }
    if (this.#closed) throw unavailable('it is closed')
    this.#taken++
  }

  async #freePlace(signal: AbortSignal): Promise<void> {
    let wake: (() => void) | undefined
    const free = new Promise<void>((resolve) => {
      wake = resolve
      this.#waiting.add(resolve)
    })
    try {
      await unlessAborted(free, signal)
    } finally {
      if (wake !== undefined) this.#waiting.delete(wake)
    }
  }

  #leavePlace(): void {
    this.#taken--
    for (const wake of this.#waiting) {
      this.#waiting.delete(wake)
      wake()
      return
    }
  }

  #takeIdle(session: string): Slot | undefined {
    for (const slot of this.#idle) {
      if (slot.session !== session || slot.gone.aborted) continue
      this.#idle.delete(slot)
      return slot
    }
    // those of other sessions make room, so that there are never more than places
    for (const slot of this.#idle) {
      if (this.#idle.size + this.#taken <= this.#options.maxPages) break
      this.#idle.delete(slot)
      this.#discard(slot)
    }
    return undefined
  }

  async #open(session: string): Promise<Slot> {
    const { clock, userAgent } = this.#options
    for (let tries = 1; ; tries++) {
      // oxlint-disable-next-line no-await-in-loop -- a browser that ended in between is started again
      const browser = await this.#current()
      try {
        // oxlint-disable-next-line no-await-in-loop -- see above
        const slot = await openSlot({ browser, session, userAgent, clock })
        this.#owners.set(slot, browser)
        return slot
      } catch (error) {
        this.#retire(browser)
        if (tries >= MAX_STARTS)
          throw unavailable(`no page can be opened: ${String(error).split('\n')[0] ?? ''}`, error)
      }
    }
  }

  #renewInTime(): void {
    const { maxBrowserUses = 1000 } = this.#options
    const running = this.#running
    if (running !== undefined && this.#browserUses >= maxBrowserUses) this.#retire(running)
  }

  async #current(): Promise<Browser> {
    this.#browser ??= this.#launch()
    return this.#browser
  }

  async #launch(): Promise<Browser> {
    this.#browserUses = 0
    try {
      const browser = await this.#options.launch()
      this.#running = browser
      browser.once('disconnected', () => {
        if (this.#running !== browser) return
        this.#forget(browser)
        this.#options.onRestart?.()
      })
      return browser
    } catch (error) {
      this.#browser = undefined
      throw error
    }
  }

  /** No new pages in it: it ends with the last one that is in use. */
  #retire(browser: Browser): void {
    this.#forget(browser)
    if (![...this.#owners.values()].includes(browser)) this.#track(this.#end(browser))
  }

  #forget(browser: Browser): void {
    if (this.#running !== browser) return
    this.#running = undefined
    this.#browser = undefined
    for (const slot of this.#idle) {
      if (this.#owners.get(slot) !== browser) continue
      this.#idle.delete(slot)
      this.#discard(slot)
    }
  }

  #discard(slot: Slot): void {
    const browser = this.#owners.get(slot)
    this.#owners.delete(slot)
    const isLast = browser !== this.#running && ![...this.#owners.values()].includes(browser as Browser)
    this.#track(isLast ? this.#end(browser) : this.#closeSlot(slot, browser))
  }

  async #closeSlot(slot: Slot, browser: Browser | undefined): Promise<void> {
    if (await endsInTime(slot.context.close(), this.#options.clock)) return
    if (browser !== undefined) await this.#end(browser)
  }

  async #end(browser: Browser | undefined): Promise<void> {
    if (browser === undefined) return
    await endsInTime(browser.close(), this.#options.clock)
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#closing.delete(tracked))
    this.#closing.add(tracked)
  }
}

async function isEmptied(slot: Slot, clock: Clock): Promise<boolean> {
  let isWell = false
  const empty = async (): Promise<void> => {
    await slot.page.goto('about:blank')
    isWell = true
  }
  await endsInTime(empty(), clock)
  return isWell && !slot.gone.aborted
}

/** False: it was still under way after five seconds. A rejection is an end. */
async function endsInTime(work: Promise<unknown>, clock: Clock): Promise<boolean> {
  let cancel: (() => void) | undefined
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.timer(CLOSE_MS, () => {
      resolve(false)
    })
  })
  const ended = work.then(
    () => true,
    () => true,
  )
  const result = await Promise.race([ended, late])
  cancel?.()
  return result
}
