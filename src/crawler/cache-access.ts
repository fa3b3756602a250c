/** The download cache of a data folder for those who look at it, tidy it, fill it or take it elsewhere. */

import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CacheEntry, CacheFilter, CacheStore } from '../cache/contract.ts'
import { cacheKeyOf } from '../cache/key.ts'
import { systemClock } from '../core/clock.ts'
import { CrawlError, isCrawlError } from '../core/errors.ts'
import { canonicalOf, parseHttpUrl } from '../url/canonical.ts'
import { makeFolder } from '../util/make-folder.ts'
import { systemRandom } from '../util/random.ts'
import type { ArchiveExport, CacheAccess, CacheKind, CacheLocation } from './cache-contract.ts'
import { cacheExists, cacheKindOf, exportWarc, importWarc, openCacheStore, openWarcFile } from './compose.ts'

/** Rejects with STORE_UNAVAILABLE when there is no cache, and with the STORE_… errors of one that cannot be opened. */
export async function openCacheAccess(place: CacheLocation): Promise<CacheAccess> {
  const { create = false, ...rest } = place
  const kind = cacheKindOf(place)
  if (!create && kind !== 'shared' && !cacheExists(place.dir, kind)) throw noCache(place)
  const store = await openCacheStore(
    { ...rest, cacheStore: kind },
    { clock: systemClock, random: systemRandom, create },
  )
  return accessTo(store, kind)
}

/** What is wrong with the caches of a folder as a whole. A damaged page is none: it is downloaded again. */
export async function cacheProblems(dir: string): Promise<readonly string[]> {
  const problems: string[] = []
  for (const cacheStore of ['sqlite', 'files'] as const) {
    if (!cacheExists(dir, cacheStore)) continue
    try {
      const cache = await openCacheAccess({ dir, store: undefined, cacheStore, cacheMaxBytes: undefined })
      await cache.stats().finally(() => cache.close())
    } catch (error) {
      if (!isCrawlError(error) || !DAMAGES.has(error.code)) throw error
      problems.push(error.message)
    }
  }
  return problems
}

const DAMAGES: ReadonlySet<string> = new Set(['STORE_CORRUPT', 'STORE_FORMAT_MISMATCH'])

function noCache({ dir, cacheStore }: CacheLocation): CrawlError {
  const what = cacheStore === undefined ? 'download cache' : `download cache of the kind ${cacheStore}`
  const problem = `it holds no ${what}; spoor crawl makes one, and so does spoor cache import`
  return new CrawlError('STORE_UNAVAILABLE', { context: { location: dir, problem } })
}

function accessTo(store: CacheStore, kind: CacheKind): CacheAccess {
  return {
    kind,
    location: store.location,
    entries: ({ urlPrefix, ...rest }) =>
      allEntries(store, urlPrefix === undefined ? rest : { ...rest, urlPrefix: identityOf(urlPrefix) }),
    get: async (url) => {
      const identity = identityOf(url)
      return store.get({ key: cacheKeyOf({ url: identity }), url: identity })
    },
    remove: (urls) => removeUrls(store, kind, urls),
    removeAll: async (filter) => {
      let removed = 0
      for await (const entry of allEntries(store, filter)) if (await store.delete(entry)) removed += 1
      return removed
    },
    prune: ({ ttlMs, maxBytes, signal }) =>
      store.prune({
        // an age of nothing means everything, also what a clock that was ahead has dated
        checkedBeforeMs: ttlMs === 0 ? Number.MAX_SAFE_INTEGER : systemClock.nowMs() - ttlMs,
        ...(maxBytes === undefined ? {} : { maxBytes }),
        ...(signal === undefined ? {} : { signal }),
      }),
    stats: () => store.stats(),
    importWarc: (source, onFault) => importWarc(source, store, { canonicalOf, onFault, nowMs: systemClock.nowMs() }),
    exportWarc: (target) => exportWhole(store, target),
    close: () => store.close(),
  }
}

/** What the crawl names an entry by. */
function identityOf(url: string): string {
  const parsed = parseHttpUrl(url)
  if (parsed.ok) return parsed.canonical
  throw new CrawlError('CONFIG_INVALID', { context: { problem: `${url}: ${parsed.problem}` } })
}

async function* allEntries(store: CacheStore, filter: CacheFilter): AsyncGenerator<CacheEntry> {
  let cursor: string | undefined
  do {
    const page = await store.list(filter, { max: 500, ...(cursor === undefined ? {} : { cursor }) })
    yield* page.entries
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** Variants of an answer (Vary, credentials, HEAD) have keys of their own: they are found by their URL. */
async function removeUrls(store: CacheStore, kind: CacheKind, urls: readonly string[]): Promise<readonly number[]> {
  const counts = new Map(urls.map((url) => [identityOf(url), 0]))
  // others go straight to a host; the readable one is walked once for all
  const filters: readonly CacheFilter[] =
    kind !== 'files' ? [...counts.keys()].map((urlPrefix) => ({ urlPrefix })) : [{}]
  for (const filter of filters) {
    for await (const entry of allEntries(store, filter)) {
      const count = counts.get(entry.url)
      const isSame = filter.urlPrefix === undefined || filter.urlPrefix === entry.url
      if (count !== undefined && isSame && (await store.delete(entry))) counts.set(entry.url, count + 1)
    }
  }
  return urls.map((url) => counts.get(identityOf(url)) ?? 0)
}

/** Written into a folder beside, then put in place: a file that is there is whole. */
async function exportWhole(store: CacheStore, { file, filter, onEntry, signal }: ArchiveExport): Promise<number> {
  const beside = `${file}.partial`
  try {
    if (await isThere(file)) throw new Error('it is there already; choose another name')
    await rm(beside, { recursive: true, force: true })
    makeFolder(beside)
    const writer = await openWarcFile(join(beside, basename(file)), systemClock)
    const exported = await exportWarc({
      store,
      writer: {
        ...writer,
        write: async (exchange) => {
          if (signal?.aborted === true) throw new CrawlError('CRAWL_ABORTED')
          await writer.write(exchange)
          onEntry?.()
        },
      },
      filter,
    })
    await writer.close()
    // the file that was asked for comes last: where it is, all of it is
    const names = (await readdir(beside)).toSorted(
      (a, b) => Number(a === basename(file)) - Number(b === basename(file)),
    )
    for (const name of names) await rename(join(beside, name), join(dirname(file), name))
    return exported
  } catch (error) {
    if (error instanceof CrawlError) throw error
    const problem = error instanceof Error ? error.message : String(error)
    throw new CrawlError('EXPORT_FAILED', { cause: error, context: { file, problem } })
  } finally {
    await rm(beside, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
