/** The browser that tests render with: the first Chromium of this machine, never passed over in silence. */

import { findBrowser } from '../../src/fetch/browser/find-browser.ts'

/** Undefined: its tests are skipped, and one loud line says so. */
export const chromium: string | undefined = await findBrowser({ named: undefined, own: undefined }).catch(() => {
  console.error('SKIPPED LOUDLY: no Chromium on this machine: nothing is rendered')
  return undefined
})
