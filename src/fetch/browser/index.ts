/** Published as `spoor/browser`: what a handler does with the browser's page. */

import type { Page } from 'playwright-core'
import { CrawlError } from '../../core/errors.ts'
import type { LivePage } from '../contract.ts'
import { type SavedFile, saveFile } from '../../util/save-file.ts'

export type { SavedFile }

/** What a request handler is called with, as far as it matters here. */
export interface RenderedContext {
  readonly live: LivePage | undefined
}

/**
 * Playwright's page, open until the handler ends. It stays on its URL: links are for `enqueueLinks`, a click that would
 * lead elsewhere does nothing. Throws BROWSER_UNAVAILABLE when the page was not rendered now: rendering is off, `auto`
 * found it needless, or it came from the download cache.
 */
export function browserPage({ live }: RenderedContext): Page {
  return liveOf(live).page as Page
}

export interface ScreenshotOptions {
  /** Of the whole page, not of what fits the window. Default true. */
  readonly fullPage?: boolean
  /** Only the first element that fits this CSS selector. */
  readonly selector?: string
}

/** Writes a PNG into the data folder, named by its content. Throws as `browserPage` does; rejects when it cannot be written. */
export async function saveScreenshot(context: RenderedContext, options: ScreenshotOptions = {}): Promise<SavedFile> {
  const page = browserPage(context)
  const { selector, fullPage = true } = options
  const png =
    selector === undefined ? await page.screenshot({ fullPage }) : await page.locator(selector).first().screenshot()
  return saveFile(liveOf(context.live).dir, png, 'png')
}

/** Writes a PDF of the page into the data folder, named by its content. Throws and rejects as `saveScreenshot` does. */
export async function savePdf(context: RenderedContext): Promise<SavedFile> {
  const pdf = await browserPage(context).pdf()
  return saveFile(liveOf(context.live).dir, pdf, 'pdf')
}

function liveOf(live: LivePage | undefined): LivePage {
  if (live !== undefined) return live
  const problem = 'expected a page that is open in the browser, found one that was not rendered, or came from the cache'
  throw new CrawlError('BROWSER_UNAVAILABLE', { context: { problem } })
}
