/** Crawls that nobody gave a name all have the same one: those of two files are told apart by the file. */

import { CrawlError } from '../core/errors.ts'
import type { FrontierStats } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import type { TaskLaunch } from './launch-options.ts'
import { fileKeyOf } from './task-keys.ts'

/** Throws CONFIG_INVALID when the crawl that is there was begun by another file. */
export async function checkFile(
  { state, location }: Store,
  { namelessIn: name, joins, options }: TaskLaunch,
  { known }: FrontierStats,
): Promise<void> {
  if (name === undefined || joins === true) return
  const { task } = options
  const key = fileKeyOf(task)
  const kept = await state.get(key)
  if (kept === name) return
  if (kept !== undefined && known > 0) {
    const problem = `the crawl ${task} in ${location} is that of ${kept}, and ${name} gives its own no name: expected task: 'NAME' in the file or --task NAME for a crawl of its own (--task ${task} goes on with this one, --fresh begins it anew)`
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  }
  await state.set({ [key]: name })
}
