/** Every kind of server that a download cache can be on, for tests that are the same on all. */

import { mongodbCache } from './mongodb-cache.ts'
import { postgresCache } from './postgres-cache.ts'
import { redisCache } from './redis-cache.ts'
import type { ServerCache } from './server-cache.ts'
import { serviceUrl, type ServiceName } from './services.ts'

export interface CacheServer {
  readonly kind: ServiceName
  /** Undefined: there is none to test on, which was said aloud. */
  readonly server: string | undefined
  make(maxBytes?: number): Promise<ServerCache>
}

const MAKERS = { POSTGRES: postgresCache, REDIS: redisCache, MONGODB: mongodbCache } as const

export const CACHE_SERVERS: readonly CacheServer[] = (['POSTGRES', 'REDIS', 'MONGODB'] as const).map((kind) => {
  const server = serviceUrl(kind)
  return { kind, server, make: async (maxBytes) => MAKERS[kind](server ?? '', maxBytes) }
})
