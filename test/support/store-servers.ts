/** The servers that shared stores run on, for tests that are the same for each of them. */

import { start as startMongodb } from '../../scripts/services/mongodb.mjs'
import { start as startPostgres } from '../../scripts/services/postgres.mjs'
import { start as startRedis } from '../../scripts/services/redis.mjs'
import { serviceUrl } from './services.ts'

/** A private server, to be killed and started again. */
export interface StoreServer {
  readonly url: string
  halt(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

export interface StoreServerKind {
  readonly name: 'postgres' | 'redis' | 'mongodb'
  /** False: there is none on this machine, which has been said aloud. */
  readonly isThere: boolean
  readonly start: () => Promise<StoreServer>
}

/** `wanted`: also those that the environment does not name; they are installed when they are missing. */
export function storeServers(wanted = false): readonly StoreServerKind[] {
  return [
    { name: 'postgres', isThere: wanted || serviceUrl('POSTGRES') !== undefined, start: () => startPostgres() },
    { name: 'redis', isThere: wanted || serviceUrl('REDIS') !== undefined, start: () => startRedis() },
    { name: 'mongodb', isThere: wanted || serviceUrl('MONGODB') !== undefined, start: () => startMongodb() },
  ]
}
