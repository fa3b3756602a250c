/** Settings of the JavaScript engine for processes that are ours: never for a program that uses the library. */

import { setFlagsFromString } from 'node:v8'

/**
 * V8 puts objects that once lived long straight into its old space. Once garbage there, they keep all that they lead to
 * alive until the next full collection: in a crawl every page's text (measured: a tenth of the processor time).
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
