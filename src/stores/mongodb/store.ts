/** Opens the store in a MongoDB database: one log, and documents that follow it. */

import { randomInt } from 'node:crypto'
import type { MongoClient } from 'mongodb'
import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import { createBell } from '../../frontier/wait-for-work.ts'
import type { Random } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { createCache } from './cache.ts'
import { loadDriver } from './driver.ts'
import { hush, storeError, unavailable } from './errors.ts'
import { createMongoFrontier } from './frontier.ts'
import { createItems } from './items.ts'
import type { Instant } from './instant.ts'
import { createLedger } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import { createOwner, ownerName } from './owners.ts'
import type { Owner } from './owners.ts'
import { parsePlace } from './place.ts'
import type { Place } from './place.ts'
import { flush, metaOf } from './rows.ts'
import { checkFormat, prepareCollections } from './schema.ts'
import { createServer } from './server.ts'
import type { Server } from './server.ts'
import { createState } from './state.ts'
import { sweep } from './tasks.ts'
import { verifyStore } from './verify.ts'

export interface MongoStoreOptions {
  /** `mongodb://user:password@host:port/database?prefix=spoor_`; everything else in it is the driver's. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  /** Begins the name under which this process is listed. Default `worker`. */
  readonly owner?: string
  /** For looking at a crawl, also while it runs: nothing is written, no lease is taken. */
  readonly readOnly?: boolean
  /** Only for tests: in place of the server's clock. */
  readonly testTime?: () => Instant
  /** Only for tests: says which owners have died, in place of asking this machine's system. */
  readonly isGone?: (owner: string) => boolean
}

/** How long a server is looked for; a lost connection is ridden out for longer: see server.ts. */
const SELECT_WITHIN_MS = 5000
const SOCKET_TIMEOUT_MS = 45_000
const MAX_CONNECTIONS = 24
/** Of MongoDB 4.4. */
const MIN_WIRE_VERSION = 9

/**
 * Leases of processes of this machine that have died are taken back. Rejects with PEER_MISSING, STORE_UNAVAILABLE or
 * STORE_FORMAT_MISMATCH; nothing that was there is changed then.
 */
export async function openMongodbStore(options: MongoStoreOptions): Promise<Store> {
  const place = parsePlace(options.url)
  const server = await connect(place, options)
  try {
    await begin(server, options)
    const store = assemble(server, options)
    if (options.readOnly !== true) await store.start()
    return store
  } catch (error) {
    await server.close().catch(() => undefined)
    throw storeError(error, place)
  }
}

type ConnectOptions = Pick<MongoStoreOptions, 'clock' | 'random' | 'testTime'>

/** Rejects as `openMongodbStore` does. */
export async function connect(place: Place, options: ConnectOptions): Promise<Server> {
  const { clock, random, testTime } = options
  const client = await createClient(place)
  try {
    await client.connect()
    const db = client.db(place.database)
    const hello = await db.command({ hello: 1 })
    const wire = Number(hello['maxWireVersion'] ?? 0)
    const build = await db.command({ buildInfo: 1 })
    if (wire < MIN_WIRE_VERSION) {
      throw unavailable(place, `expected MongoDB 4.4 or newer, found ${String(build['version'])}`)
    }
    const isFerret = build['ferretdbVersion'] !== undefined
    return createServer({ client, place, clock, random, isFerret, testTime })
  } catch (error) {
    await client.close().catch(() => undefined)
    throw storeError(error, place)
  }
}

async function createClient(place: Place): Promise<MongoClient> {
  const { MongoClient } = await loadDriver()
  try {
    return new MongoClient(place.connection, {
      appName: 'spoor',
      ignoreUndefined: true,
      // Every command may be sent twice anyway, and a server alone has no such retries.
      retryWrites: false,
      // Only what a majority has on its disk is committed; of a server alone: what it has on its disk.
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
      serverSelectionTimeoutMS: SELECT_WITHIN_MS,
      connectTimeoutMS: SELECT_WITHIN_MS,
      socketTimeoutMS: SOCKET_TIMEOUT_MS,
      maxPoolSize: MAX_CONNECTIONS,
    })
  } catch (cause) {
    const said = hush(cause instanceof Error ? cause.message : String(cause), place)
    const problem = `Expected a store URL that the MongoDB driver understands, found: ${said}`
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  }
}

/** The format is looked at before anything is written. */
async function begin(server: Server, { readOnly = false }: MongoStoreOptions): Promise<void> {
  const found = await checkFormat(server, { readOnly })
  if (!found && readOnly) {
    throw unavailable(server.place, 'there is no crawl in this database. Begin one with `spoor crawl`')
  }
  if (!readOnly) await prepareCollections(server)
}

function assemble(server: Server, options: MongoStoreOptions): Store & { start(): Promise<void> } {
  const { clock, random, readOnly = false, testTime, isGone } = options
  const name = ownerName(options.owner)
  const bell = createBell(clock)
  const ledger = createLedger({
    server,
    cache: createCache(randomInt(2 ** 32)),
    clock,
    random,
    name,
    readOnly,
    testTime,
    onCommit: () => {
      bell.ring()
    },
    onFlush: flush,
  })
  const guarded = readOnly ? refusingWrites(ledger, server.place) : ledger
  const owner = createOwner({ server, ledger: guarded, clock, name, isGone })
  const parts = { server, ledger: guarded, bell, owner }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end({ server, ledger, owner, readOnly }))
  return {
    location: server.place.location,
    owner: readOnly ? undefined : name,
    frontier: createMongoFrontier(parts),
    items: createItems(guarded, server),
    state: createState(guarded, server),
    tasks: () =>
      guarded.read((tx) =>
        metaOf(tx)
          .tasks.map((task) => task.name)
          .toSorted(),
      ),
    verify: () => verifyStore(parts),
    start: async () => {
      await ledger.read(() => undefined)
      await owner.register()
      await owner.takeBackDead()
      await sweep({ ledger, server })
      await ledger.sweep()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Ending {
  readonly server: Server
  readonly ledger: Ledger
  readonly owner: Owner
  readonly readOnly: boolean
}

async function end({ server, ledger, owner, readOnly }: Ending): Promise<void> {
  try {
    if (!readOnly) await owner.leave()
  } finally {
    // Whatever the server says: the connection is let go, and what was held comes back when its leases expire.
    await ledger.close()
    await server.close().catch(() => undefined)
  }
}

/** Of a store that is only looked at. */
function refusingWrites(ledger: Ledger, place: Place): Ledger {
  return {
    write: () => Promise.reject(unavailable(place, 'it was opened for reading only')),
    read: (run) => ledger.read(run),
    // Whoever may not even do this sees the documents as they are.
    applyAll: () => ledger.applyAll().catch(() => undefined),
    sweep: () => Promise.resolve(),
    get head() {
      return ledger.head
    },
    nowMs: () => ledger.nowMs(),
    close: () => ledger.close(),
  }
}
