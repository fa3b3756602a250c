/** Finds what pages are rendered with: playwright-core, an optional peer, and a Chromium on this machine. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { env, platform } from 'node:process'
import type { chromium } from 'playwright-core'
import { CrawlError } from '../../core/errors.ts'

// it is CommonJS, and imported as such it fails under loaders that compile TypeScript
const requireHere = createRequire(import.meta.url)

export type Playwright = typeof chromium

/** Names under which Chromium and its kin are installed, best first. */
const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
]
const PLACES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
}

/** Throws PEER_MISSING when the package is not installed. */
export function loadPlaywright(load: () => unknown = () => requireHere('playwright-core')): Playwright {
  let loaded: unknown
  try {
    loaded = load()
  } catch (error) {
    if (Object(error).code !== 'MODULE_NOT_FOUND') throw error
    const context = { feature: 'Rendering pages in a browser', name: 'playwright-core' }
    throw new CrawlError('PEER_MISSING', { cause: error, context })
  }
  return (loaded as { readonly chromium: Playwright }).chromium
}

export interface BrowserSearch {
  /** As the user named it. */
  readonly named: string | undefined
  /** Where playwright-core would have put one of its own. */
  readonly own: string | undefined
  /** Default: that of this process. */
  readonly path?: string | undefined
}

/** The path of an executable. Rejects with BROWSER_UNAVAILABLE, which names the command to install one. */
export async function findBrowser({ named, own, path = env['PATH'] }: BrowserSearch): Promise<string> {
  if (named !== undefined) {
    if (await isExecutable(named)) return named
    throw unavailable(`--browser: expected a file that can be executed, found none at ${named}`)
  }
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '')
  const inPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const candidates = [...inPath, ...(PLACES[platform] ?? []), ...(own === undefined ? [] : [own])]
  for (const candidate of candidates) {
    // oxlint-disable-next-line no-await-in-loop -- the first one counts
    if (await isExecutable(candidate)) return candidate
  }
  throw unavailable(`expected a Chromium, found none. ${INSTALL}, or name one with --browser PATH`)
}

export const INSTALL =
  'Run `npx playwright-core install --with-deps chromium`, or on Debian and Ubuntu `apt-get install chromium`'

export function unavailable(problem: string, cause?: unknown): CrawlError {
  return new CrawlError('BROWSER_UNAVAILABLE', { context: { problem }, ...(cause === undefined ? {} : { cause }) })
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
