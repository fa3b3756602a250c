/** The library that does the work, loaded only by commands that need it. */

import type { CrawlCommands } from '../crawler/contract.ts'

export async function loadLibrary(): Promise<CrawlCommands> {
  return import('../crawler/commands.ts')
}
