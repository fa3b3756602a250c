/** Opens a store in Redis or Valkey, which any number of machines may share. */

import type { Clock } from '../../core/clock.ts'
import { CrawlError } from '../../core/errors.ts'
import type { Random } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { createConnection } from './connection.ts'
import type { Connection } from './connection.ts'
import { loadClient } from './driver.ts'
import type { RedisClient } from './driver.ts'
import { storeError, unavailable } from './errors.ts'
import { createRedisFrontier } from './frontier.ts'
import { createItems, createState } from './items-state.ts'
import { thisProcess } from '../../util/local-process.ts'
import { BEAT_MS, createOwnerWatch, ownerName } from './owners.ts'
import type { OwnerInfo } from './owners.ts'
import { askServerFacts, warningsOf } from './server.ts'
import type { ServerFacts } from './server.ts'
import { parseServerUrl } from './server-url.ts'
import type { ServerAddress } from './server-url.ts'
import { answerOf, createSession, FORMAT, headerOf } from './session.ts'
import type { Session, StoreTime } from './session.ts'
import { sweep } from './tasks.ts'
import { verifyStore } from './verify.ts'
import { createServerBell } from './wait.ts'
import type { ServerBell } from './wait.ts'

export interface RedisStoreOptions {
  /** `redis://[[user]:password@]host[:port][/db][?prefix=name_]`, `rediss:` for TLS. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  /** Begins the name under which this process is listed. Default `worker`. */
  readonly owner?: string
  /** For looking at a crawl, also while it runs: nothing is written, no lease is taken. */
  readonly readOnly?: boolean
  /** Told once, at opening, of settings of the server under which a crawl may be lost. Default: nobody. */
  readonly onWarning?: (sentence: string) => void
  /** Only for tests: stands in for the server's clock. */
  readonly time?: () => StoreTime
}

/**
 * What crawls need is made when it is not there. Rejects with CONFIG_INVALID for a bad address, PEER_MISSING without the
 * driver, STORE_UNAVAILABLE for a server that cannot be reached, refuses the password or is too old, and
 * STORE_FORMAT_MISMATCH; nothing that was there is changed then.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const address = parseServerUrl(options.url)
  const newClient = await loadClient()
  const client = newClient(address)
  const { location } = address
  const { owner: name = 'worker' } = options
  const key = `${prefixOf(address)}meta`
  const connection = createConnection({ client, clock: options.clock, location, key })
  try {
    await connect(client, location)
    const facts = await askServerFacts(connection, location)
    for (const warning of warningsOf(facts, location)) options.onWarning?.(warning)
    const session = await openSession(connection, { ...options, location, name, key })
    const bell = createServerBell(options.clock, () => newClient(address), `${prefixOf(address)}bell`)
    const parts = { session, connection, bell, facts, prefix: prefixOf(address), name }
    if (session.owner !== undefined) await tidy(session)
    return assemble(parts, client)
  } catch (error) {
    connection.close()
    client.disconnect()
    throw error
  }
}

/** A hash tag: in a cluster all keys of a store live in one slot. */
export function prefixOf({ prefix }: ServerAddress): string {
  return `{${prefix}}`
}

export async function connect(client: RedisClient, location: string): Promise<void> {
  let reason: unknown
  client.on('error', (error) => {
    reason ??= error
  })
  try {
    await client.connect()
    await client.call('PING', [])
    // A database that cannot be chosen is told by an event alone: everything would go to another one.
    if (reason !== undefined) throw reason
  } catch (error) {
    // The driver tells by an event what was wrong, and by the rejection only that something was.
    throw storeError(reason ?? error, location)
  }
}

interface OpenOptions extends RedisStoreOptions {
  readonly location: string
  readonly name: string
  readonly key: string
}

async function openSession(connection: Connection, options: OpenOptions): Promise<Session> {
  const { clock, random, location, time, name, readOnly = false, key } = options
  const info = JSON.stringify({ name, ...thisProcess() } satisfies OwnerInfo)
  const rest = { connection, clock, random, location, info, time }
  if (!readOnly) {
    const [owner] = answerOf(await connection.run('register', [...headerOf(time), FORMAT, info]), location)
    return createSession({ ...rest, owner: String(owner) })
  }
  const found = await connection.ask('HGET', [key, 'format'])
  if (found === null) {
    throw unavailable(location, 'there is no crawl in it. Begin one with `spoor crawl --store`, or check its ?prefix=')
  }
  if (found !== FORMAT) {
    throw new CrawlError('STORE_FORMAT_MISMATCH', { context: { location, found: String(found), expected: FORMAT } })
  }
  return createSession({ ...rest, owner: undefined })
}

/** What others left when they died: leases of processes that are known to be gone, queues of cleared tasks. */
async function tidy(session: Session): Promise<void> {
  await createOwnerWatch(session).takeBackDead()
  await sweep(session)
}

interface Parts {
  readonly session: Session
  readonly connection: Connection
  readonly bell: ServerBell
  readonly facts: ServerFacts
  readonly prefix: string
  /** Begins the owner's name. */
  readonly name: string
}

function assemble({ session, connection, bell, facts, prefix, name }: Parts, client: RedisClient): Store {
  const { location, owner } = session
  const stopBeating = owner === undefined ? undefined : keepBeating(session)
  const command = async (word: string, args: readonly string[]): Promise<unknown> => connection.ask(word, args)
  const end = async (): Promise<void> => {
    stopBeating?.()
    try {
      if (owner !== undefined) await session.write('owner', 'bury', [owner, ''])
    } finally {
      await session.end()
      connection.close()
      bell.ring()
      bell.close()
      client.disconnect()
    }
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end())
  return {
    location,
    owner: owner === undefined ? undefined : ownerName({ name }, owner),
    frontier: createRedisFrontier({
      session,
      bell,
      owners: createOwnerWatch(session),
      capabilities: facts.capabilities,
    }),
    items: createItems(session),
    state: createState({ session, command, prefix }),
    tasks: async () => ((await command('HKEYS', [`${prefix}tasks`])) as string[]).toSorted(),
    verify: () => verifyStore(session),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Shows that the owner is alive, also while it has nothing to ask. */
function keepBeating(session: Session): () => void {
  const { clock } = session
  let cancel: (() => void) | undefined
  const beat = async (): Promise<void> => {
    try {
      await session.write('owner', 'beat', [])
    } catch {
      // whoever needs the store hears of it
    }
    schedule()
  }
  let stopped = false
  const schedule = (): void => {
    if (!stopped) cancel = clock.timer(BEAT_MS, () => void beat(), true)
  }
  schedule()
  return () => {
    stopped = true
    cancel?.()
  }
}
