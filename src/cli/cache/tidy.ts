/** `spoor cache rm` and `prune`: what leaves the cache. */

import { configError } from '../../config/given.ts'
import { formatBytes, formatCount } from '../../util/format.ts'
import type { CommandContext } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { EXIT } from '../exit.ts'
import { clean, plural } from '../text.ts'
import { checkUrl } from '../urls.ts'
import { meantHosts, placeOf, withCache } from './open.ts'

export async function removeEntries(context: CommandContext): Promise<ExitCode> {
  const { options, positionals } = context
  const host = options.onlyHost?.toLowerCase()
  if ((host === undefined) === (positionals.length === 0))
    throw configError('spoor cache rm: expected URLs, or --host HOST for all of a host')
  return host === undefined ? removeUrls(context, positionals.map(checkUrl)) : removeHost(context, host)
}

async function removeUrls(context: CommandContext, urls: readonly string[]): Promise<ExitCode> {
  const { output } = context
  const [counts, place] = await withCache(context, async (cache) => [await cache.remove(urls), placeOf(context, cache)])
  let missing = 0
  for (const [index, url] of urls.entries()) {
    const removed = counts[index] ?? 0
    if (output.json) await output.jsonLine({ url, removed })
    if (removed > 0) continue
    missing += 1
    output.problem(`spoor: ${clean(url)}: not in the cache of ${place}`)
  }
  output.hint(`${plural(urls.length - missing, 'page')} removed`)
  return missing === 0 ? EXIT.done : EXIT.failed
}

async function removeHost(context: CommandContext, host: string): Promise<ExitCode> {
  const { output } = context
  return withCache(context, async (cache) => {
    const removed = await cache.removeAll({ host })
    if (output.json) await output.jsonLine({ host, removed })
    if (removed === 0) {
      const meant = await meantHosts(cache, host)
      output.problem(`spoor: ${clean(host)}: not in the cache of ${placeOf(context, cache)}${meant}`)
      return EXIT.failed
    }
    output.hint(`${plural(removed, 'entry', 'entries')} of ${clean(host)} removed`)
    return EXIT.done
  })
}

export async function pruneEntries(context: CommandContext): Promise<ExitCode> {
  const { output, options, host } = context
  const stopped = new AbortController()
  const unwatch = host.onInterrupt(() => {
    stopped.abort()
  })
  try {
    return await withCache(context, async (cache) => {
      const { cacheTtlMs: ttlMs, cacheMaxBytes: maxBytes } = options
      const cap = maxBytes === undefined ? {} : { maxBytes }
      const { entries, bytes } = await cache.prune({ ttlMs, ...cap, signal: stopped.signal })
      const left = await cache.stats()
      const rest = { entries: left.entries, diskBytes: left.diskBytes }
      if (output.json) await output.jsonLine({ entries, bytes, left: rest })
      output.hint(
        `${plural(entries, 'entry', 'entries')} deleted, ${formatBytes(bytes)} given back; ${formatCount(rest.entries)} left, ${formatBytes(rest.diskBytes)} on disk`,
      )
      if (!stopped.signal.aborted) return EXIT.done
      output.problem('spoor: stopped; the same command goes on')
      return EXIT.interrupted
    })
  } finally {
    unwatch()
  }
}
