/** One page of the browser, in a context of its own, ready to be used for one visit after the other. */

import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import type { Clock } from '../../core/clock.ts'
import { refuse } from './traffic.ts'
import type { Paused } from './sub-request.ts'

export interface Slot {
  readonly session: string
  readonly context: BrowserContext
  readonly page: Page
  readonly cdp: CDPSession
  readonly mainFrameId: string
  readonly openedAtMs: number
  /** Aborts when the page has crashed or its browser is gone, with an error that says which. */
  readonly gone: AbortSignal
  /** Visits so far. */
  uses: number
  /** Who answers what the page asks for. Undefined: everything is refused. */
  onPaused: ((paused: Paused) => void) | undefined
}

export interface SlotOptions {
  readonly browser: Browser
  readonly session: string
  readonly userAgent: string
  readonly clock: Clock
}

/** Sizes that pages are made for; screenshots have them. */
const VIEWPORT = { width: 1280, height: 1024 }

/** What was half open is closed when it fails. */
export async function openSlot(options: SlotOptions): Promise<Slot> {
  const { browser, session, userAgent, clock } = options
  const context = await browser.newContext({
    userAgent,
    viewport: VIEWPORT,
    locale: 'en-US',
    acceptDownloads: false,
    serviceWorkers: 'block',
  })
  try {
    const page = await context.newPage()
    const cdp = await context.newCDPSession(page)
    const { frameTree } = await cdp.send('Page.getFrameTree')
    const gone = new AbortController()
    const slot: Slot = {
      session,
      context,
      page,
      cdp,
      mainFrameId: frameTree.frame.id,
      openedAtMs: clock.monotonicMs(),
      gone: gone.signal,
      uses: 0,
      onPaused: undefined,
    }
    watch(slot, browser, gone)
    await cdp.send('Page.enable')
    await cdp.send('Page.setLifecycleEventsEnabled', { enabled: true })
    await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
    return slot
  } catch (error) {
    await context.close().catch(() => undefined)
    throw error
  }
}

export class BrowserGone extends Error {}

function watch(slot: Slot, browser: Browser, gone: AbortController): void {
  const { page, context, cdp } = slot
  cdp.on('Fetch.requestPaused', (paused) => {
    if (slot.onPaused === undefined) void refuse(cdp, paused, 'Aborted')
    else slot.onPaused(paused)
  })
  page.on('crash', () => {
    gone.abort(new Error('the page crashed, as pages do that take too much memory'))
  })
  // a browser that ends closes its pages first
  page.on('close', () => {
    gone.abort(new BrowserGone('the page was closed'))
  })
  const onDisconnected = (): void => {
    gone.abort(new BrowserGone('the browser ended'))
  }
  browser.once('disconnected', onDisconnected)
  context.once('close', () => {
    browser.off('disconnected', onDisconnected)
  })
  context.on('page', (popup) => {
    if (popup !== page) popup.close().catch(() => undefined)
  })
}
