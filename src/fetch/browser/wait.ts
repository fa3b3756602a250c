/** Waiting until a page is ready, as its wait condition says. */

import type { CDPSession, Page } from 'playwright-core'
import type { Clock } from '../../core/clock.ts'
import type { RenderWait } from '../contract.ts'
import type { Slot } from './slot.ts'

/** Nothing asked for so long: the page has come to rest. */
const QUIET_MS = 500
/** A page that is never idle (an animation) is looked at after this. */
const IDLE_MS = 2000

/** Who knows what the page still asks for. */
interface Activity {
  readonly active: number
  /** So far. */
  readonly asked: number
  onChange(listener: () => void): void
}

export interface ReadyOptions {
  readonly slot: Slot
  readonly url: string
  readonly wait: RenderWait
  readonly activity: Activity
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Resolves when the page asks to be loaded again, which is refused. */
  readonly reloading: Promise<void>
}

/**
 * Loads the page. No deadline of its own: what it waits for may never come. `stopped`: it asked to be loaded again while
 * it was read, which ends the reading of its markup for good.
 */
export async function loadUntilReady(options: ReadyOptions): Promise<'ready' | 'stopped'> {
  const { slot, url, wait, reloading } = options
  const { cdp, mainFrameId, page } = slot
  const events = watchLifecycle(cdp)
  try {
    const { loaderId, errorText } = await cdp.send('Page.navigate', { url, frameId: mainFrameId })
    if (errorText !== undefined) throw new Error(`expected a page that can be shown, found ${errorText}`)
    const name = wait === 'load' ? 'load' : 'DOMContentLoaded'
    const arriving = typeof wait === 'object' ? whenThere(page, wait.selector) : events.wait(name, loaderId ?? '')
    const arrived = arriving.then(() => 'ready' as const)
    const stopped = reloading.then(() => (events.has(name, loaderId ?? '') ? arrived : ('stopped' as const)))
    const first = await Promise.race([arrived, stopped])
    if (wait === 'networkidle' || first === 'stopped') await quiet(options)
    return first
  } finally {
    events.end()
  }
}

async function whenThere(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { state: 'attached', timeout: 0 })
}

interface Lifecycle {
  has(name: string, loaderId: string): boolean
  /** Also when it has been already. */
  wait(name: string, loaderId: string): Promise<void>
  end(): void
}

/** By the browser's own events: a navigation that was refused leaves the document of before to be waited for. */
function watchLifecycle(cdp: CDPSession): Lifecycle {
  const seen = new Set<string>()
  let onEvent: (() => void) | undefined
  const take = ({ name, loaderId }: { readonly name: string; readonly loaderId: string }): void => {
    seen.add(`${name} ${loaderId}`)
    onEvent?.()
  }
  cdp.on('Page.lifecycleEvent', take)
  return {
    has: (name, loaderId) => seen.has(`${name} ${loaderId}`),
    wait: (name, loaderId) =>
      new Promise((resolve) => {
        onEvent = () => {
          if (seen.has(`${name} ${loaderId}`)) resolve()
        }
        onEvent()
      }),
    end: () => {
      cdp.off('Page.lifecycleEvent', take)
    },
  }
}

/**
 * Requests that wait for their turn at a host count as asked. On a busy machine half a second goes by before a script
 * that has come is run: the page itself must have had nothing to do, at the beginning of that time and at its end.
 */
async function quiet({ slot, activity, clock, signal }: ReadyOptions): Promise<void> {
  for (;;) {
    const { asked } = activity
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    await whenIdle(slot)
    // oxlint-disable-next-line no-await-in-loop -- see above
    await withoutRequests(activity, clock, signal)
    // oxlint-disable-next-line no-await-in-loop -- see above
    await whenIdle(slot)
    if (activity.active === 0 && activity.asked === asked) return
    signal.throwIfAborted()
  }
}

async function withoutRequests(activity: Activity, clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    let cancel: (() => void) | undefined
    const look = (): void => {
      cancel?.()
      cancel = activity.active === 0 ? clock.timer(QUIET_MS, resolve) : undefined
    }
    signal.addEventListener('abort', () => cancel?.(), { once: true })
    activity.onChange(look)
    look()
  })
}

/** The page's thread has nothing to do, or is never without work. */
async function whenIdle({ cdp, mainFrameId }: Slot): Promise<void> {
  const world = await cdp.send('Page.createIsolatedWorld', { frameId: mainFrameId, worldName: 'spoor' })
  await cdp.send('Runtime.evaluate', {
    expression: `new Promise((resolve) => requestIdleCallback(resolve, { timeout: ${IDLE_MS} })).then(() => 0)`,
    contextId: world.executionContextId,
    awaitPromise: true,
  })
}

/** In words, for messages. */
export function describeWait(wait: RenderWait): string {
  return typeof wait === 'object' ? `an element that fits ${wait.selector}` : wait
}
