/** Opens a crawl's data for the commands that only look at it. */

import { resolve } from 'node:path'
import type { CrawlReader } from '../crawler/contract.ts'
import type { CommandContext } from './command.ts'
import { loadLibrary } from './library.ts'

export async function withReader<T>(
  { options, host }: CommandContext,
  use: (reader: CrawlReader) => Promise<T>,
): Promise<T> {
  const { openForReading } = await loadLibrary()
  const { store, task } = options
  const reader = await openForReading({ dir: resolve(host.cwd, options.dir), store, task })
  try {
    return await use(reader)
  } finally {
    await reader.close()
  }
}
