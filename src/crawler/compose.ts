/** The only place that wires adapters: opens the store, the fetcher and what stands around them. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ResolvedOptions } from '../config/options.ts'
import { STORE_URLS, storeKindOf } from '../config/store-url.ts'
import { type CodecName, COMMON_CODEC, DEFAULT_CODEC, requireCodec } from '../cache/codec.ts'
import type { CacheGate, CacheStore } from '../cache/contract.ts'
import { createCacheGate } from '../cache/gate.ts'
import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { CrawlError } from '../core/errors.ts'
import type { StoredRequest } from '../core/request.ts'
import { userAgentOf } from '../util/package-version.ts'
import type { BrowserFetcher } from '../fetch/browser/fetcher.ts'
import type { Fetcher, WireStep } from '../fetch/contract.ts'
import { type CookieJars, createCookieJars } from '../fetch/cookies.ts'
import { openHttpFetcher } from '../fetch/http/fetcher.ts'
import { createRandomIdentities, type Identities, openBrowserDraw } from '../fetch/user-agent.ts'
import { withCookies } from '../fetch/with-cookies.ts'
import { withIdentity } from '../fetch/with-identity.ts'
import type { WriteOutput } from '../items/byte-sink.ts'
import type { OpenSqliteDatabase } from '../items/sqlite.ts'
import type { RobotsSource } from '../robots/contract.ts'
import { createRobotsSource } from '../robots/service.ts'
import type { Store, StorePort } from '../stores/contract.ts'
import { openFilesCache } from '../stores/files-cache/store.ts'
import { openMemoryStore } from '../stores/memory/store.ts'
import { loadDriver } from '../stores/sqlite-driver.ts'
import { connectStore } from '../stores/sqlite/served/client.ts'
import { openStoreInThread } from '../stores/sqlite/served/open.ts'
import { serveGuests } from '../stores/sqlite/served/server.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'
import { openSqliteCache } from '../stores/sqlite-cache/store.ts'
export { exportWarc, importWarc } from '../stores/warc/import.ts'
import { openWarcWriter } from '../stores/warc/writer.ts'
import { canonicalOf } from '../url/canonical.ts'
import type { WarcWriter } from '../warc/contract.ts'
import { recordExchanges } from '../warc/record-exchanges.ts'
import type { Random } from '../util/random.ts'
import { systemRandom } from '../util/random.ts'
import type { CacheKind } from './cache-contract.ts'
import type { StoreLocation } from './contract.ts'
import type { Room } from './room.ts'
import { DEFAULT_DELAY_MS, renderSettingsOf } from './settings.ts'
import { withRoom } from './with-room.ts'

/** What only a caller can give. */
export interface PartsExtras {
  readonly clock: Clock
  readonly random: Random
  /** Proxy variables are read from it. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly writeOutput?: WriteOutput
  /** Told of what a person should know of the store; one sentence. */
  readonly onWarning?: (message: string) => void
  /** Where the store waits when its disk is full. */
  readonly room: Room
  /** Something beside the crawl has failed; the crawl goes on without it. */
  readonly onFault: (what: string, error: unknown) => void
  /** What `-` among the seed files reads. */
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Worker processes do the work: an embedded store is theirs through this process. */
  readonly leads?: boolean
  /** The process that leads has the embedded store open, and is asked for it. */
  readonly storePort?: StorePort
  /** Told of requests that other processes have added to that store. */
  readonly onKnown?: (requests: readonly StoredRequest[]) => void
  /** A task or a rule has its pages rendered, whatever the options of the crawl say. */
  readonly renders?: boolean
  /** One of several worker processes: what all would tell is told by the one that leads. */
  readonly works?: boolean
  /** Opened already, and not closed here: instead of what the options name. */
  readonly opened?: OpenedParts
}

export interface OpenedParts {
  readonly store?: Store
  readonly cacheStore?: CacheStore
}

export interface Parts extends AsyncDisposable {
  readonly store: Store
  /** Where a full disk is waited for. */
  readonly room: Room
  readonly fetcher: Fetcher
  /** Undefined: `--cache off`. */
  readonly cache: CacheGate | undefined
  /** What the gate keeps its answers in. */
  readonly cacheStore: CacheStore | undefined
  readonly robots: RobotsSource
  readonly cookies: CookieJars
  /** Lets a worker process work through the store of this one. Undefined: each opens it by itself. */
  readonly serve: ((port: StorePort) => void) | undefined
  close(): Promise<void>
}

interface Closeable {
  close(): Promise<void>
}

/** Opened in this order, closed in the reverse one, also when one cannot be had. Rejects with STORE_… and CONFIG_INVALID. */
export async function openParts(options: ResolvedOptions, extras: PartsExtras): Promise<Parts> {
  // before a folder is made
  if (options.cache !== 'off' && extras.opened?.cacheStore === undefined) requireCodec(codecOf(options))
  const opened: Closeable[] = []
  const close = async (): Promise<void> => {
    const faults: unknown[] = []
    // one that cannot write its last bytes must not keep the others open
    for (let part = opened.pop(); part !== undefined; part = opened.pop()) {
      await part.close().catch((error: unknown) => faults.push(error))
    }
    if (faults.length > 0) throw faults[0]
  }
  const keep = <T extends Closeable | undefined>(part: T): T => {
    const isGiven = part === extras.opened?.store || part === extras.opened?.cacheStore
    if (part !== undefined && !isGiven) opened.push(part)
    return part
  }
  try {
    return { ...(await assembleParts(options, extras, keep)), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close().catch(() => undefined) // what could not be opened is the news
    throw error
  }
}

type Keep = <T extends Closeable | undefined>(part: T) => T

async function assembleParts(
  options: ResolvedOptions,
  extras: PartsExtras,
  keep: Keep,
): Promise<Omit<Parts, 'close' | typeof Symbol.asyncDispose>> {
  const { store: opened, serve } = await openWorkingStore(options, extras)
  keep(opened)
  const store = withRoom(opened, extras.room)
  const cookies = createCookieJars({ clock: extras.clock, state: store.state })
  const cacheStore = keep(await openCacheFor(options, extras))
  const warc = keep(await openWarc(options, extras))
  const identities = await openIdentities(options, extras.random)
  const plain = keep(openHttp(options, extras, identities))
  const http = warc === undefined ? plain : recordExchanges({ fetcher: plain, writer: warc, clock: extras.clock })
  const jars = jarsOf(cookies, options)
  const documents = withCookies(http, jars)
  const robots = createRobotsSource({
    fetcher: documents,
    state: store.state,
    clock: extras.clock,
    random: extras.random,
    agent: options.robotsAgent,
    session: options.task,
    allowPrivate: options.allowPrivate,
  })
  const cache = cacheStore === undefined ? undefined : createGate(cacheStore, options, extras)
  const below = { documents, http, jars, robots, identities }
  const browser = await openBrowser(below, options, extras)
  keep(browser === undefined ? undefined : { close: () => browser.closeBrowser() })
  return { store, room: extras.room, fetcher: browser ?? documents, cache, cacheStore, robots, cookies, serve }
}

interface Below {
  /** With cookies. */
  readonly documents: Fetcher
  readonly http: Fetcher
  readonly jars: CookieJars
  readonly robots: RobotsSource
  readonly identities: Identities | undefined
}

/** Around all others, where pages are rendered. A process that leads only tries whether there is a browser. */
async function openBrowser(
  below: Below,
  options: ResolvedOptions,
  extras: PartsExtras,
): Promise<BrowserFetcher | undefined> {
  const { documents, http, jars, robots, identities } = below
  if (renderSettingsOf(options) === undefined && extras.renders !== true) return undefined
  const { clock, leads, works, onWarning = () => undefined } = extras
  const { openBrowserFetcher } = await import('../fetch/browser/fetcher.ts')
  const fetcher = await openBrowserFetcher({
    documents,
    http,
    jars,
    robots: options.robots ? robots : undefined,
    clock,
    userAgent: options.userAgent ?? userAgentOf(),
    ...(identities === undefined
      ? {}
      : { userAgentFor: (session, url) => identities.headersFor(session, url)['user-agent'] }),
    browser: options.browser,
    dir: options.dir,
    maxPages: options.renderPages,
    maxPerHost: options.perHost,
    delayMs: options.delayMs ?? DEFAULT_DELAY_MS,
    loopbackDelayMs: options.delayMs ?? 0,
    maxBodyBytes: options.maxBodyBytes,
    onWarning: works === true ? () => undefined : onWarning,
  })
  if (leads !== true) return fetcher
  await fetcher.closeBrowser()
  return undefined
}

/** Around a fetcher that a task brings. */
export function withJars(fetcher: Fetcher, cookies: CookieJars, options: ResolvedOptions): Fetcher {
  return withCookies(fetcher, jarsOf(cookies, options))
}

function jarsOf(cookies: CookieJars, { keepCookies }: ResolvedOptions): CookieJars {
  return keepCookies ? cookies : { ...cookies, receive: () => undefined }
}

export async function openFetcher(
  options: ResolvedOptions,
  extras: HttpExtras & Pick<PartsExtras, 'random'>,
): Promise<Fetcher> {
  return openHttp(options, extras, await openIdentities(options, extras.random))
}

async function openIdentities({ randomUserAgent }: ResolvedOptions, random: Random): Promise<Identities | undefined> {
  return randomUserAgent ? createRandomIdentities({ draw: await openBrowserDraw(random) }) : undefined
}

interface HttpExtras extends Pick<PartsExtras, 'clock' | 'env'> {
  readonly onStep?: (step: WireStep) => void
}

function openHttp(options: ResolvedOptions, extras: HttpExtras, identities: Identities | undefined): Fetcher {
  const http = openHttpFetcher({
    userAgent: options.userAgent ?? userAgentOf(),
    connectTo: options.connectTo,
    timeoutMs: options.timeoutMs,
    connectTimeoutMs: options.connectTimeoutMs,
    ...(options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }),
    maxBodyBytes: options.maxBodyBytes,
    insecure: options.insecure,
    http2: options.http2,
    proxies: options.proxies,
    proxyRotation: options.proxyRotation,
    ...(options.caFile === undefined ? {} : { caFile: options.caFile }),
    ...(extras.env === undefined ? {} : { env: extras.env }),
    ...(extras.onStep === undefined ? {} : { onStep: extras.onStep }),
    clock: extras.clock,
  })
  return identities === undefined ? http : withIdentity(http, identities)
}

type CachePlace = Pick<ResolvedOptions, 'dir' | 'store' | 'cacheStore' | 'cacheMaxBytes'> &
  Partial<Pick<ResolvedOptions, 'cacheCodec'>>

/**
 * Which one it is when nobody says so: machines that share a crawl share its downloads, and a folder keeps the kind that
 * it has. Throws CONFIG_INVALID.
 */
export function cacheKindOf({ dir, store, cacheStore }: Pick<CachePlace, 'dir' | 'store' | 'cacheStore'>): CacheKind {
  const isShared = store !== undefined && storeKindOf(store) !== 'memory'
  if (cacheStore !== 'shared') return cacheStore ?? (isShared ? 'shared' : (kindInFolder(dir) ?? 'sqlite'))
  if (isShared) return cacheStore
  const problem = '--cache-store shared: expected the URL of a server in --store, which is where it is shared'
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

/** Not every machine of a store need have the same Node. */
function codecOf(place: CachePlace): CodecName {
  return place.cacheCodec ?? (cacheKindOf(place) === 'shared' ? COMMON_CODEC : DEFAULT_CODEC)
}

/** Everything about a cache but the crawl itself. `create` false: of a shared one that is not there, STORE_UNAVAILABLE. */
export async function openCacheStore(
  place: CachePlace,
  { clock, random, create = true }: Pick<PartsExtras, 'clock' | 'random'> & { readonly create?: boolean },
): Promise<CacheStore> {
  const { dir, store: url = '', cacheMaxBytes } = place
  const kind = cacheKindOf(place)
  const codec = codecOf(place)
  requireCodec(codec)
  const cap = cacheMaxBytes === undefined ? {} : { maxBytes: cacheMaxBytes }
  switch (kind) {
    case 'files':
      return openFilesCache({ dir: filesCacheIn(dir), clock, ...cap })
    case 'sqlite':
      return openSqliteCache({ dir, clock, codec, ...cap })
    case 'shared':
      return openSharedCache(url, { clock, random, create, codec, ...cap })
  }
}

interface SharedCacheOptions extends Pick<PartsExtras, 'clock' | 'random'> {
  readonly create: boolean
  readonly codec: CodecName
  readonly maxBytes?: number
}

async function openSharedCache(url: string, options: SharedCacheOptions): Promise<CacheStore> {
  switch (storeKindOf(url)) {
    case 'postgres': {
      const { openPostgresCache } = await import('../stores/postgres/cache/open.ts')
      return openPostgresCache({ url, ...options })
    }
    case 'mongodb': {
      const { openMongodbCache } = await import('../stores/mongodb/cache/open.ts')
      return openMongodbCache({ url, ...options })
    }
    case 'redis': {
      const { openRedisCache } = await import('../stores/redis/cache/open.ts')
      return openRedisCache({ url, ...options })
    }
    default:
      throw unknownStore()
  }
}

function unknownStore(): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem: `--store: expected ${STORE_URLS}` } })
}

const filesCacheIn = (dir: string): string => join(dir, 'cache-files')

/** Opens nothing. */
export function cacheExists(dir: string, cacheStore: CacheKind): boolean {
  return existsSync(cacheStore === 'files' ? filesCacheIn(dir) : join(dir, 'cache.sqlite'))
}

function kindInFolder(dir: string): CacheKind | undefined {
  return (['sqlite', 'files'] as const).find((kind) => cacheExists(dir, kind))
}

async function openCacheFor(options: ResolvedOptions, extras: PartsExtras): Promise<CacheStore | undefined> {
  return options.cache === 'off' ? undefined : (extras.opened?.cacheStore ?? openCacheStore(options, extras))
}

/** Closing the store stays the caller's business. */
export function createGate(
  store: CacheStore,
  options: Pick<ResolvedOptions, 'cache' | 'cacheTtlMs'>,
  { clock, onFault }: Pick<PartsExtras, 'clock' | 'onFault'>,
): CacheGate {
  return createCacheGate({
    store,
    mode: options.cache,
    ttlMs: options.cacheTtlMs,
    clock,
    canonicalOf,
    onFault: (error) => {
      onFault('the download cache', error)
    },
  })
}

async function openWarc({ warc }: ResolvedOptions, { clock }: PartsExtras): Promise<WarcWriter | undefined> {
  return warc === undefined ? undefined : openWarcFile(warc, clock)
}

export function openWarcFile(path: string, clock: Clock): Promise<WarcWriter> {
  return openWarcWriter({ path, clock, info: { software: userAgentOf() } })
}

/** Databases that are exports of items. */
export const openItemDatabase: OpenSqliteDatabase = (file) => {
  const { DatabaseSync } = loadDriver()
  return new DatabaseSync(file)
}

/** Of the embedded database. Throws what loading it throws. */
export function sqliteVersion(): string {
  const { DatabaseSync } = loadDriver()
  const database = new DatabaseSync(':memory:')
  try {
    const row = database.prepare('SELECT sqlite_version() AS version').get() as { readonly version: string }
    return row.version
  } finally {
    database.close()
  }
}

/** Of the Chromium that pages would be rendered with. Rejects with PEER_MISSING and BROWSER_UNAVAILABLE. */
export async function browserPath(named: string | undefined): Promise<string> {
  const { findBrowser, loadPlaywright } = await import('../fetch/browser/find-browser.ts')
  return findBrowser({ named, own: loadPlaywright().executablePath() })
}

/** Is there anything to go on with? Opens nothing. */
export function storeExists(options: Pick<ResolvedOptions, 'dir' | 'store'>): boolean {
  return options.store === undefined ? existsSync(join(options.dir, 'spoor.db')) : options.store !== 'memory:'
}

export async function openStoreForReading(location: StoreLocation): Promise<Store> {
  return openStore(location, { clock: systemClock, random: systemRandom, readOnly: true })
}

export async function openStoreForWriting(location: StoreLocation): Promise<Store> {
  return openStore(location, { clock: systemClock, random: systemRandom })
}

/** For what needs a store and keeps nothing. */
export function openScratchStore(): Store {
  return openMemoryStore({ clock: systemClock, random: systemRandom })
}

/** The store of a crawl. An embedded one has one writer, however many processes work on it. */
async function openWorkingStore(
  options: Pick<ResolvedOptions, 'dir' | 'store'>,
  extras: PartsExtras,
): Promise<Pick<Parts, 'store' | 'serve'>> {
  const { clock, random, leads = false, storePort, onKnown, opened } = extras
  if (opened?.store !== undefined) return { store: opened.store, serve: undefined }
  if (storePort !== undefined) return { store: await connectStore(storePort, onKnown), serve: undefined }
  if (options.store !== undefined) return { store: await openStore(options, extras), serve: undefined }
  const { dir } = options
  if (!leads && canUseThread(clock)) return { store: await openStoreInThread({ dir }), serve: undefined }
  const store = await openSqliteStore({ dir, clock, random })
  return { store, serve: serveGuests(store) }
}

/** A thread has the system's clock, and runs what was compiled. */
function canUseThread(clock: Clock): boolean {
  return clock === systemClock && import.meta.url.endsWith('.js')
}

type StoreExtras = Pick<PartsExtras, 'clock' | 'random' | 'onWarning'> & { readonly readOnly?: boolean }

/** The drivers of shared stores are loaded only when one is asked for: PEER_MISSING names what to install. */
async function openStore(
  { dir, store: url }: Pick<ResolvedOptions, 'dir' | 'store'>,
  extras: StoreExtras,
): Promise<Store> {
  const { clock, random, readOnly = false, onWarning } = extras
  if (url === undefined) return openSqliteStore({ dir, clock, random, readOnly })
  switch (storeKindOf(url)) {
    case 'memory':
      return openMemoryStore({ clock, random })
    case 'postgres': {
      const { openPostgresStore } = await import('../stores/postgres/store.ts')
      return openPostgresStore({ url, clock, random, readOnly })
    }
    case 'mongodb': {
      const { openMongodbStore } = await import('../stores/mongodb/store.ts')
      return openMongodbStore({ url, clock, random, readOnly })
    }
    case 'redis': {
      const { openRedisStore } = await import('../stores/redis/store.ts')
      return openRedisStore({ url, clock, random, readOnly, ...(onWarning === undefined ? {} : { onWarning }) })
    }
    case undefined:
      throw unknownStore()
  }
}
