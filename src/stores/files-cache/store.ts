/** The readable cache: each page a file under its host and path, with its metadata beside it. */

import { randomUUID } from 'node:crypto'
import { readdir, readFile, writeFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  CacheCounts,
  CachedAnswer,
  CacheFilter,
  CacheId,
  CacheListPage,
  CacheStats,
  CacheStore,
  NewCacheEntry,
} from '../../cache/contract.ts'
import { hostOf } from '../../cache/key.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { CrawlError, isCrawlError } from '../../core/errors.ts'
import { makeFolder } from '../../util/make-folder.ts'
import { placeOf } from './file-name.ts'
import * as page from './page-file.ts'
import { diskBytesOf, pageBytes, pruneFiles, type PrunePlace } from './prune.ts'
import { createTurns, type Turns } from './turns.ts'
import { removeEmptyFolders, walkLeftovers, walkPages } from './walk.ts'

export interface FilesCacheOptions {
  /** Made when it is not there. A folder that holds anything else is refused. */
  readonly dir: string
  /** Most that pages and their metadata may take of the disk, in bytes: the least recently used go. Default: no cap. */
  readonly maxBytes?: number
  readonly clock?: Clock
  /** Pages of one folder; more go into folders of two digits below it. Default 1000. */
  readonly maxPagesPerFolder?: number
}

const MARKER = '~spoor-cache.json'
const FORMAT = 1
/** Uses are dated anew after so long. */
const USE_STEP_MS = 60_000
const MAX_BODY_BYTES = 256 * 1024 * 1024
/** Folders whose number of pages is remembered. */
const MAX_COUNTED_FOLDERS = 5000
/** Pages go until so much of the cap is taken. */
const CAP_TARGET = 0.8
/** So much may come in before pages go again, and as much while they do; the rest is for what is on its way. */
const CAP_STEP = 0.08

/** Rejects with STORE_FORMAT_MISMATCH when the folder is not a cache's, STORE_UNAVAILABLE when it cannot be had. */
export async function openFilesCache(options: FilesCacheOptions): Promise<CacheStore> {
  const { dir, clock = systemClock, maxPagesPerFolder = 1000, maxBytes } = options
  try {
    await claim(dir)
  } catch (error) {
    throw faultOf(error, dir)
  }
  return createStore({
    root: dir,
    clock,
    maxPagesPerFolder,
    maxBytes,
    turns: createTurns(),
    pagesIn: new Map(),
    progress: { after: '' },
    counts: { hits: 0, revalidated: 0, misses: 0, savedBytes: 0 },
  })
}

/** A folder of somebody's own files is left alone. */
async function claim(dir: string): Promise<void> {
  makeFolder(dir)
  const marker = await page.readIfThere(join(dir, MARKER))
  if (marker === undefined) {
    const names = (await readdir(dir)).filter((name) => !name.startsWith(MARKER))
    if (names.length > 0) throw mismatch(dir, `a folder with other files (${names[0] ?? ''})`)
    await replaceFile(join(dir, MARKER), JSON.stringify({ format: FORMAT }))
    return
  }
  const { format } = readJson(marker.toString('utf8'))
  if (format !== FORMAT) throw mismatch(dir, `format ${String(format)}`)
}

function mismatch(location: string, found: string): CrawlError {
  return new CrawlError('STORE_FORMAT_MISMATCH', { context: { location, found, expected: `format ${FORMAT}` } })
}

interface FilesState extends PrunePlace {
  readonly maxPagesPerFolder: number
  readonly maxBytes: number | undefined
  /** One writer a page at a time, in this process. */
  readonly turns: Turns
  /** Pages of folders that were written to; about, since other processes write too. */
  readonly pagesIn: Map<string, number>
  counts: CacheCounts
}

function createStore(state: FilesState): CacheStore {
  const { root, clock, turns } = state
  const cap = createCap(state)
  let closing: Promise<void> | undefined
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new CrawlError('STORE_CLOSED', { context: { location: root } })
    try {
      return await work()
    } catch (error) {
      throw faultOf(error, root)
    }
  }
  const store: CacheStore = {
    location: root,
    get: (id) => run(() => getAnswer(state, id)),
    head: (id) => run(async () => (await findPage(state, id))?.entry),
    put: (entry, body) =>
      run(async () => {
        if (body.length > MAX_BODY_BYTES) return
        await cap.room()
        const file = await turns.take(entry.key, () => putPage(state, entry, body))
        await cap.wrote(file)
      }),
    refresh: (id, change) =>
      run(() =>
        turns.take(id.key, async () => {
          const found = await findPage(state, id)
          if (found === undefined) return false
          const { checkedAtMs, headers } = change
          await page.writeMeta(found.file, { ...found.meta, checkedAtMs, headers }, randomUUID())
          await page.setUsed(found.file, clock.nowMs())
          return true
        }),
      ),
    delete: (id) => run(() => turns.take(id.key, () => deletePage(state, id))),
    list: (filter, options) => run(() => listPages(root, filter, options)),
    prune: (options) => run(() => pruneFiles(state, options)),
    stats: () => run(() => readStats(state)),
    note: (counts) => {
      state.counts = addCounts(state.counts, counts)
    },
    close: () => (closing ??= Promise.all([turns.idle(), cap.stop()]).then(() => saveCounts(state))),
    [Symbol.asyncDispose]: () => store.close(),
  }
  return store
}

interface FoundPage {
  readonly file: string
  readonly meta: page.PageMeta
  readonly entry: ReturnType<typeof page.entryOf>
}

/** In its own folder, or where pages go when that is full. */
async function findPage({ root }: FilesState, id: CacheId): Promise<FoundPage | undefined> {
  for (const folders of foldersOf(id)) {
    const file = join(root, ...folders, placeOf(id).name)
    const meta = await page.readMeta(file, id)
    if (meta !== undefined) return { file, meta, entry: page.entryOf(meta) }
  }
  return undefined
}

function foldersOf(id: CacheId): readonly (readonly string[])[] {
  const { folders, shard } = placeOf(id)
  return [folders, [...folders, shard]]
}

async function getAnswer(state: FilesState, id: CacheId): Promise<CachedAnswer | undefined> {
  const found = await findPage(state, id)
  if (found === undefined) return undefined
  const body = await page.readBody(found.file, found.meta)
  if (body === undefined) return undefined
  const nowMs = state.clock.nowMs()
  const usedMs = (await page.usedAtMs(found.file)) ?? nowMs
  if (nowMs - usedMs >= USE_STEP_MS) await page.setUsed(found.file, nowMs)
  return { entry: found.entry, body }
}

async function putPage(state: FilesState, entry: NewCacheEntry, body: Uint8Array): Promise<string> {
  const found = await findPage(state, entry)
  const { name } = placeOf(entry)
  const file = found?.file ?? join(state.root, ...(await roomFor(state, entry)), name)
  const meta: page.PageMeta = { format: FORMAT, ...entry, bodyBytes: body.length, bodyHash: page.bodyHashOf(body) }
  await page.writePage(file, meta, { body, unique: randomUUID() })
  await page.setUsed(file, state.clock.nowMs())
  return file
}

/** The page's own folder while that has room. */
async function roomFor(state: FilesState, id: CacheId): Promise<readonly string[]> {
  const [own = [], shard = []] = foldersOf(id)
  const path = own.join('/')
  const { pagesIn, maxPagesPerFolder } = state
  let pages = pagesIn.get(path) ?? (await countPages(join(state.root, path)))
  if (pages >= maxPagesPerFolder) return shard
  pages += 1
  if (pagesIn.size >= MAX_COUNTED_FOLDERS) pagesIn.clear()
  pagesIn.set(path, pages)
  return own
}

async function countPages(folder: string): Promise<number> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(page.META_ENDING)).length
  } catch {
    return 0
  }
}

async function deletePage({ root, pagesIn }: FilesState, id: CacheId): Promise<boolean> {
  let was = false
  for (const folders of foldersOf(id)) {
    const file = join(root, ...folders, placeOf(id).name)
    if ((await page.readMeta(file, id)) === undefined) continue
    was = (await page.removePage(file)) || was
    pagesIn.delete(folders.join('/'))
    await removeEmptyFolders(root, folders)
  }
  return was
}

async function listPages(
  root: string,
  filter: CacheFilter,
  { cursor = '', max = 100 }: { readonly cursor?: string; readonly max?: number } = {},
): Promise<CacheListPage> {
  const entries = []
  for await (const path of walkPages(root, cursor)) {
    const meta = await page.readMeta(join(root, path))
    if (meta === undefined || !fits(meta, filter)) continue
    if (entries.push(page.entryOf(meta)) >= max) return { entries, cursor: path }
  }
  return { entries, cursor: undefined }
}

function fits({ url }: CacheId, { host, urlPrefix }: CacheFilter): boolean {
  return (host === undefined || hostOf(url) === host) && (urlPrefix === undefined || url.startsWith(urlPrefix))
}

async function readStats(state: FilesState): Promise<CacheStats> {
  const { root } = state
  const hosts = new Map<string, { host: string; entries: number; bodyBytes: number }>()
  let [entries, bodyBytes, diskBytes, oldest, newest] = [0, 0, 0, Infinity, -Infinity]
  for await (const path of walkPages(root)) {
    const meta = await page.readMeta(join(root, path))
    if (meta === undefined) continue
    entries += 1
    bodyBytes += meta.bodyBytes
    diskBytes += await pageBytes(join(root, path))
    oldest = Math.min(oldest, meta.checkedAtMs)
    newest = Math.max(newest, meta.checkedAtMs)
    const host = hostOf(meta.url)
    const of = hosts.get(host) ?? { host, entries: 0, bodyBytes: 0 }
    hosts.set(host, { host, entries: of.entries + 1, bodyBytes: of.bodyBytes + meta.bodyBytes })
  }
  for await (const path of walkLeftovers(root)) diskBytes += await diskBytesOf(path)
  return {
    entries,
    bodies: entries,
    bodyBytes,
    packedBytes: bodyBytes,
    diskBytes,
    oldestMs: entries === 0 ? undefined : oldest,
    newestMs: entries === 0 ? undefined : newest,
    counts: addCounts(await savedCounts(root), state.counts),
    hosts: [...hosts.values()].toSorted((a, b) => b.entries - a.entries).slice(0, 100),
  }
}

const COUNT_NAMES = ['hits', 'revalidated', 'misses', 'savedBytes'] as const

function addCounts(a: CacheCounts, b: Partial<CacheCounts>): CacheCounts {
  const sum = (name: keyof CacheCounts): number => a[name] + (b[name] ?? 0)
  return { hits: sum('hits'), revalidated: sum('revalidated'), misses: sum('misses'), savedBytes: sum('savedBytes') }
}

async function savedCounts(root: string): Promise<CacheCounts> {
  const saved = readJson(await readFile(join(root, MARKER), 'utf8').catch(() => '{}'))
  const [hits, revalidated, misses, savedBytes] = COUNT_NAMES.map((name) => Number(saved[name] ?? 0))
  return { hits: hits ?? 0, revalidated: revalidated ?? 0, misses: misses ?? 0, savedBytes: savedBytes ?? 0 }
}

/** Two processes that end in the same instant may lose counts of one: they are for people, not for accounts. */
async function saveCounts({ root, counts }: FilesState): Promise<void> {
  if (COUNT_NAMES.every((name) => counts[name] === 0)) return
  const sum = addCounts(await savedCounts(root), counts)
  await replaceFile(join(root, MARKER), JSON.stringify({ format: FORMAT, ...sum })).catch(() => undefined)
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}${page.TEMPORARY}${randomUUID()}`
  await writeFile(temporary, text)
  await rename(temporary, file)
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

interface Cap {
  /** Waits while pages go and too much has come in meanwhile. */
  room(): Promise<void>
  wrote(file: string): Promise<void>
  stop(): Promise<void>
}

/** Weighs the folder when it is first written to and counts from there; what is too much goes in the background. */
function createCap(state: FilesState): Cap {
  const { maxBytes } = state
  const stopper = new AbortController()
  let unseen = Infinity
  let pruning: Promise<unknown> | undefined
  const prune = async (limit: number): Promise<void> => {
    unseen = 0
    const { signal } = stopper
    // The next write meets the same fault and tells it.
    await pruneFiles(state, { maxBytes: limit * CAP_TARGET, signal }).catch(() => undefined)
    pruning = undefined
  }
  return {
    room: async () => {
      if (maxBytes !== undefined && unseen > maxBytes * CAP_STEP) await pruning
    },
    wrote: async (file) => {
      if (maxBytes === undefined) return
      unseen += await pageBytes(file)
      if (unseen > maxBytes * CAP_STEP) pruning ??= prune(maxBytes)
    },
    stop: async () => {
      stopper.abort()
      await pruning
    },
  }
}

function faultOf(error: unknown, location: string): CrawlError {
  if (isCrawlError(error)) return error
  const { code, message } = error as NodeJS.ErrnoException
  const options = { cause: error, context: { location, problem: message } }
  return new CrawlError(code === 'ENOSPC' || code === 'EDQUOT' ? 'STORE_FULL' : 'STORE_UNAVAILABLE', options)
}
