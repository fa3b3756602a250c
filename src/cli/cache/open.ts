/** Opens the download cache that the options of a command speak of. */

import { resolve } from 'node:path'
import { nearestName } from '../../config/nearest.ts'
import type { CacheAccess } from '../../crawler/contract.ts'
import type { CommandContext } from '../command.ts'
import { loadLibrary } from '../library.ts'
import { clean } from '../text.ts'

export interface CacheUse {
  /** Make one where there is none. Default: that is an error. */
  readonly create?: boolean
  /** Pages come in: they are packed by --cache-codec, and --cache-max is kept. Default: nothing is evicted. */
  readonly fills?: boolean
}

export async function openCache(
  { options, host, givenBy }: CommandContext,
  { create = false, fills = false }: CacheUse = {},
): Promise<CacheAccess> {
  const { openCacheAccess } = await loadLibrary()
  return openCacheAccess({
    dir: resolve(host.cwd, options.dir),
    store: options.store,
    cacheStore: givenBy.has('cacheStore') ? options.cacheStore : undefined,
    cacheMaxBytes: fills ? options.cacheMaxBytes : undefined,
    ...(fills ? { cacheCodec: options.cacheCodec } : {}),
    create,
  })
}

/** Where it is, for messages: as it was named. */
export function placeOf({ options }: CommandContext, cache: Pick<CacheAccess, 'kind' | 'location'>): string {
  return cache.kind === 'shared' ? cache.location : options.dir
}

/** Hosts that are there and may have been meant; names are told apart by their ports, which people leave out. */
export async function meantHosts(cache: Pick<CacheAccess, 'stats'>, host: string): Promise<string> {
  const hosts = (await cache.stats()).hosts.map((one) => one.host)
  const same = hosts.filter((one) => withoutPort(one) === withoutPort(host))
  const near = same.length > 0 ? same : [nearestName(host, hosts) ?? []].flat()
  return near.length === 0 ? '' : `; did you mean --host ${near.slice(0, SHOWN_HOSTS).map(clean).join(' or ')}?`
}

const SHOWN_HOSTS = 3

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}

export async function withCache<T>(context: CommandContext, use: (cache: CacheAccess) => Promise<T>): Promise<T> {
  const cache = await openCache(context)
  try {
    return await use(cache)
  } finally {
    await cache.close()
  }
}
