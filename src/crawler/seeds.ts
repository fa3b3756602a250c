/** All seeds of a crawl as one stream: those given, those of files, those of sitemaps. */

import type { ResolvedOptions } from '../config/options.ts'
import type { Clock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import type { EngineTask } from '../engine/contract.ts'
import type { ListedUrl, SeedEntry, Seeds } from '../engine/feed.ts'
import type { Frontier } from '../frontier/contract.ts'
import { openSeedFile } from '../sources/seed-file.ts'
import { isLoopbackHost, parseHttpUrl } from '../url/canonical.ts'
import type { Parts } from './compose.ts'
import { DEFAULT_DELAY_MS } from './settings.ts'
import { findSitemapPages, type SitemapPage } from './sitemaps.ts'
import type { OpenTask } from './task.ts'

export interface SeedSources {
  readonly options: ResolvedOptions
  readonly parts: Parts
  readonly task: OpenTask
  readonly clock: Clock
  readonly stdin?: AsyncIterable<Uint8Array>
  readonly onWarning: (message: string) => void
}

export async function* allSeeds(given: Seeds, sources: SeedSources): AsyncGenerator<SeedEntry> {
  const { options, stdin } = sources
  yield* given
  for (const file of options.seedFiles) yield* openSeedFile(file, stdin === undefined ? {} : { stdin })
  for (const url of options.sitemaps) yield* sitemapSeeds(url, sources)
}

/** Pages that a sitemap lists, in the scope of the seeds and of the sitemap's own host. */
async function* sitemapSeeds(url: string, sources: SeedSources): AsyncGenerator<SeedEntry> {
  const { options, parts, task, clock } = sources
  const parsed = parseHttpUrl(url)
  if (!parsed.ok) throw unreadable(url, parsed.problem)
  // its host was named by the user, as a seed's is
  task.engineTask.door.admitSeed({ url: parsed.url })
  const delayMs = options.delayMs ?? (isLoopbackHost(parsed.hostKey) ? 0 : DEFAULT_DELAY_MS)
  const finds = findSitemapPages(
    { kind: 'url', url: parsed.url },
    {
      fetcher: parts.fetcher,
      cache: parts.cache,
      options,
      follow: true,
      pause: () => clock.sleep(options.cache === 'offline' ? 0 : delayMs),
    },
  )
  let pages = 0
  for await (const find of finds) {
    if (find.kind === 'problem') sources.onWarning(find.problem)
    else {
      pages++
      yield* listedUrls(find)
    }
  }
  if (pages === 0) sources.onWarning(`the sitemap ${url} lists no page`)
}

/** The page, and the same page in other languages. */
function* listedUrls({ url, alternates, lastmod, priority }: SitemapPage): Generator<ListedUrl> {
  const listed = {
    listed: true as const,
    ...(priority === null ? {} : { priority: priorityOf(priority) }),
    ...(lastmod === null ? {} : { userData: { lastmod } }),
  }
  yield { ...listed, url }
  for (const alternate of alternates) if (alternate !== url) yield { ...listed, url: alternate }
}

/** 0.5, which is what a page without a priority has, is ours too: 0. */
function priorityOf(sitemapPriority: number): number {
  return Math.round((sitemapPriority - 0.5) * 10)
}

function unreadable(source: string, problem: string): CrawlError {
  return new CrawlError('SEEDS_UNREADABLE', { context: { source, problem } })
}

/**
 * To be done before anything is leased: a page whose links are judged while its own seed is not known yet would lose those
 * that lie in that seed's scope.
 */
export async function admitKnownSeeds(frontier: Frontier, { settings, door }: EngineTask): Promise<void> {
  for await (const { url } of knownSeeds(frontier, settings.name)) door.admitSeed({ url })
}

/** The level-0 requests of a kept crawl, so that its scope is what it was. */
async function* knownSeeds(frontier: Frontier, task: string): AsyncGenerator<{ readonly url: string }> {
  let after: string | undefined
  for (;;) {
    const page = await frontier.list({ task, depth: 0 }, { max: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { request } of page.records) {
      if (request.skip === undefined) yield { url: request.url }
    }
    if (page.next === undefined) return
    after = page.next
  }
}
