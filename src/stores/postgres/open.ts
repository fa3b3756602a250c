/** Wires a PostgreSQL store for one process; tests open several in one. */

import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../util/random.ts'
import type { Store } from '../contract.ts'
import { parseAddress } from './address.ts'
import type { Address } from './address.ts'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'
import { loadDriver } from './driver.ts'
import { isRestart, storeError } from './errors.ts'
import { createPostgresFrontier } from './frontier.ts'
import { createItems, createState } from './items-state.ts'
import { createLink } from './link.ts'
import type { Link } from './link.ts'
import { createOwnerWatch, giveBack, registerOwner, startHeart } from './owners.ts'
import type { Owner } from './owners.ts'
import { prepareSchema, requireSchema } from './schema.ts'
import type { Session } from './session.ts'
import { sweep } from './tasks.ts'
import { verifyStore } from './verify.ts'
import { createSharedBell } from './bell.ts'
import type { SharedBell } from './bell.ts'

export interface PostgresStoreOptions {
  /** postgres://user:password@host:port/database; `?prefix=` begins the names of all tables. Default `spoor_`. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  /** Begins the name under which this process is listed. Default `worker`. */
  readonly owner?: string
  /** For looking at a crawl, also while it runs: nothing is written, no lease is taken. */
  readonly readOnly?: boolean
}

export interface OpenedStore {
  readonly store: Store
  readonly ownerId: number
  /** Lets go of everything at once, as a killed process does. */
  abandon(): void
}

export async function openStoreAs(options: PostgresStoreOptions): Promise<OpenedStore> {
  const { url, clock, random, owner = 'worker', readOnly = false } = options
  const address = parseAddress(url)
  const driver = await loadDriver()
  const connectTo = (): Promise<Connection> =>
    connect({ driver, address, name: `spoor ${owner}`.slice(0, 63), readOnly, clock })
  const { location, prefix } = address
  await reachServer({ connectTo, location, clock }, (connection) =>
    (readOnly ? requireSchema : prepareSchema)(connection, address),
  )
  const link = createLink({ connect: connectTo, clock, random, location, readOnly })
  const bell = createSharedBell({ connect: connectTo, clock, random, channel: `${prefix}changes` })
  try {
    const registered = readOnly ? { id: 0, name: '' } : await registerOwner(link, owner)
    const session = createSession({
      options,
      address,
      link,
      bell,
      owner: registered,
    })
    return await assemble(session, { bell, readOnly })
  } catch (error) {
    await bell.close()
    await link.close()
    throw error
  }
}

/** A server that is about to start or stop is waited for so long. */
const OPENING_MS = 10_000

interface Opening {
  readonly connectTo: () => Promise<Connection>
  readonly location: string
  readonly clock: Clock
}

/** Whoever opens a store is told at once when the server cannot be reached, or refuses: it may be the wrong one. */
export async function reachServer(
  { connectTo, location, clock }: Opening,
  prepare: (connection: Connection) => Promise<void>,
): Promise<void> {
  const sinceMs = clock.monotonicMs()
  for (;;) {
    try {
      const connection = await connectTo()
      try {
        await prepare(connection)
        return
      } finally {
        await connection.close()
      }
    } catch (error) {
      if (!isRestart(error) || clock.monotonicMs() - sinceMs > OPENING_MS) throw storeError(error, location)
    }
    await clock.sleep(200)
  }
}

function createSession(parts: {
  readonly options: PostgresStoreOptions
  readonly address: Address
  readonly link: Link
  readonly bell: SharedBell
  readonly owner: Owner
}): Session {
  const { options, address, link, bell, owner } = parts
  return {
    link,
    prefix: address.prefix,
    location: address.location,
    clock: options.clock,
    random: options.random,
    bell,
    ownerId: owner.id,
    ownerName: owner.name,
    tasksByName: new Map(),
    tasksById: new Map(),
    queues: new Map(),
    lastToken: 0,
  }
}

interface Parts {
  readonly bell: SharedBell
  readonly readOnly: boolean
}

async function assemble(session: Session, { bell, readOnly }: Parts): Promise<OpenedStore> {
  const { link, clock } = session
  const nobody = { buryDead: () => Promise.resolve(false) }
  const owners = readOnly ? nobody : createOwnerWatch(session)
  if (!readOnly) {
    await owners.buryDead()
    await sweep(session)
  }
  const heart = readOnly ? undefined : startHeart(session, clock)
  const end = async (): Promise<void> => {
    await heart?.stop()
    try {
      if (!readOnly) await giveBack(session, session.ownerId, { charged: false })
    } finally {
      await bell.close()
      await link.close()
    }
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end())
  const store: Store = {
    location: session.location,
    owner: readOnly ? undefined : session.ownerName,
    frontier: createPostgresFrontier({ session, bell, owners }),
    items: createItems(session),
    state: createState(link),
    tasks: async () => {
      const rows = await link.run((connection) =>
        connection.rows<{ readonly name: string }>(
          'SELECT name FROM @tasks WHERE name IS NOT NULL ORDER BY name COLLATE "C"',
        ),
      )
      return rows.map(({ name }) => name)
    },
    verify: () => verifyStore(session),
    close,
    [Symbol.asyncDispose]: close,
  }
  return {
    store,
    ownerId: session.ownerId,
    abandon: () => {
      closing ??= Promise.resolve()
      void heart?.stop()
      void bell.close()
      link.abandon()
    },
  }
}
