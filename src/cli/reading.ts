/** Opens a crawl's data for the commands that only look at it. */

import { resolve } from 'node:path'
import { configError } from '../config/given.ts'
import type { ResolvedOptions } from '../config/options.ts'
import type { CrawlReader } from '../crawler/contract.ts'
import type { CommandContext } from './command.ts'
import { loadLibrary } from './library.ts'
import { clean } from './text.ts'
import { placeOf } from './where.ts'

/** Of the crawls in a store that are named to somebody who asked for one that is not there. */
const MAX_NAMES = 10

/** Rejects with CONFIG_INVALID, and the names of the crawls that are there, when there is none of the name of `--task`. */
export function withReader<T>(context: CommandContext, use: (reader: CrawlReader) => Promise<T>): Promise<T> {
  return withAnyReader(context, async (reader) => {
    const names = await reader.tasks()
    if (!names.includes(context.options.task)) throw noSuchCrawl(context.options, names)
    return use(reader)
  })
}

/** For what concerns the whole store, whichever crawls it holds. */
export async function withAnyReader<T>(
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

function noSuchCrawl(options: ResolvedOptions, names: readonly string[]): Error {
  const shown = names.slice(0, MAX_NAMES).map(clean).join(', ')
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  const others = names.length === 0 ? 'nor any other' : `but ${shown}${more}: name one with --task`
  return configError(`${placeOf(options)} holds no crawl named ${clean(options.task)}, ${others}`)
}
