/** Of all seeds those that are wanted: `--limit` and `--skip`. */

import { cacheKeyOf } from '../cache/key.ts'
import type { CacheStore } from '../cache/contract.ts'
import type { ResolvedOptions } from '../config/options.ts'
import type { Clock } from '../core/clock.ts'
import type { Door } from '../engine/contract.ts'
import type { SeedEntry, Seeds } from '../engine/feed.ts'
import type { Frontier } from '../frontier/contract.ts'
import { parseHttpUrl } from '../url/canonical.ts'

export interface ChooseSeeds {
  readonly options: Pick<ResolvedOptions, 'limit' | 'skip' | 'task' | 'cacheTtlMs'>
  readonly door: Door
  readonly frontier: Frontier
  readonly cacheStore: CacheStore | undefined
  readonly clock: Clock
  /** Told of each seed that is passed over, and why. */
  readonly onPassedOver: (reason: SeedSkip) => void
}

export type SeedSkip = ResolvedOptions['skip'][number]

/** Those passed over do not count towards the limit, so that the same line with the same limit takes the next ones. */
export async function* chooseSeeds(seeds: Seeds, choice: ChooseSeeds): AsyncGenerator<SeedEntry> {
  const { limit = Number.POSITIVE_INFINITY } = choice.options
  let taken = 0
  for await (const entry of seeds) {
    if (taken >= limit) return
    const url = typeof entry === 'string' ? entry : 'url' in entry ? entry.url : undefined
    const skip = url === undefined ? undefined : await skipOf(url, choice)
    if (skip !== undefined) {
      choice.onPassedOver(skip)
      continue
    }
    if (url !== undefined) taken++
    yield entry
    if (taken >= limit) return
  }
}

async function skipOf(url: string, choice: ChooseSeeds): Promise<SeedSkip | undefined> {
  const { options, door, frontier, cacheStore, clock } = choice
  if (options.skip.length === 0) return undefined
  const parsed = parseHttpUrl(url)
  if (!parsed.ok) return undefined
  if (options.skip.includes('known')) {
    if (door.isKnown(parsed.url, 0)) return 'known'
    if ((await frontier.get(options.task, door.fingerprintOf(parsed.url))) !== undefined) return 'known'
  }
  if (!options.skip.includes('cached') || cacheStore === undefined) return undefined
  const entry = await cacheStore.head({ key: cacheKeyOf({ url: parsed.canonical }), url: parsed.canonical })
  return entry !== undefined && clock.nowMs() - entry.checkedAtMs < options.cacheTtlMs ? 'cached' : undefined
}
