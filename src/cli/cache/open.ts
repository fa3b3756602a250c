/** Opens the download cache that the options of a command speak of. */

import { resolve } from 'node:path'
import type { CacheAccess } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import { loadLibrary } from '../library.ts'

export interface CacheUse {
  /** Make one where there is none. Default: that is an error. */
  readonly create?: boolean
  /** Keep --cache-max while pages come in. Default: nothing is evicted. */
  readonly capped?: boolean
}

export async function openCache(
  { options, host, givenBy }: CommandContext,
  { create = false, capped = false }: CacheUse = {},
): Promise<CacheAccess> {
  const { openCacheAccess } = await loadLibrary()
  return openCacheAccess({
    dir: resolve(host.cwd, options.dir),
    store: options.store,
    cacheStore: givenBy.has('cacheStore') ? options.cacheStore : undefined,
    cacheMaxBytes: capped ? options.cacheMaxBytes : undefined,
    create,
  })
}

/** Where it is, for messages: as it was named. */
export function placeOf({ options }: CommandContext, cache: Pick<CacheAccess, 'kind' | 'location'>): string {
  return cache.kind === 'shared' ? cache.location : options.dir
}

export async function withCache<T>(context: CommandContext, use: (cache: CacheAccess) => Promise<T>): Promise<T> {
  const cache = await openCache(context)
  try {
    return await use(cache)
  } finally {
    await cache.close()
  }
}
