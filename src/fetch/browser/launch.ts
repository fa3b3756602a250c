/** Starts Chromium: without a way to the network of its own, with its sandbox wherever it can have one. */

import { getuid } from 'node:process'
import type { Browser } from 'playwright-core'
import { INSTALL, type Playwright, unavailable } from './find-browser.ts'

const LAUNCH_MS = 30_000
/** Of the memory that a page's scripts may take: beyond it the page crashes, and the browser does not. */
const MAX_SCRIPT_MB = 512

const ARGUMENTS = [
  // names are the crawler's business: Chromium resolves none
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // peer connections would go round the proxy
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--mute-audio',
  `--js-flags=--max-old-space-size=${MAX_SCRIPT_MB}`,
]

export interface LaunchOptions {
  readonly playwright: Playwright
  readonly executable: string
  /** Where all its traffic goes. */
  readonly proxy: string
}

/** Chromium refuses to run its sandbox as root. */
export function mustGoWithoutSandbox(): boolean {
  return getuid?.() === 0
}

/** Rejects with BROWSER_UNAVAILABLE when it does not start. */
export async function launchBrowser({ playwright, executable, proxy }: LaunchOptions): Promise<Browser> {
  try {
    return await playwright.launch({
      executablePath: executable,
      headless: true,
      chromiumSandbox: !mustGoWithoutSandbox(),
      proxy: { server: proxy, bypass: '<-loopback>' },
      // the crawl decides what a signal means
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: LAUNCH_MS,
      args: ARGUMENTS,
    })
  } catch (error) {
    throw unavailable(`${executable} does not start: ${reasonOf(error)}`, error)
  }
}

/** What the browser itself said, on one line. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const missing = /error while loading shared libraries: ([^\s:]+)/.exec(text)?.[1]
  if (missing !== undefined) return `the library ${missing} is missing. ${INSTALL}`
  if (/No usable sandbox|Failed to move to new namespace|Operation not permitted/.test(text)) {
    return 'its sandbox cannot be set up here; allow user namespaces (kernel.unprivileged_userns_clone, or the seccomp profile of the container)'
  }
  const [first = ''] = text.split('\n')
  return first.slice(0, 300)
}
