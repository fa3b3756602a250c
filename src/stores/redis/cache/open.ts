/** Opens the download cache in Redis or Valkey. */

import { type CodecName, COMMON_CODEC } from '../../../cache/codec.ts'
import type { CacheStore } from '../../../cache/contract.ts'
import { createTableCache } from '../../../cache/tables/store.ts'
import type { Clock } from '../../../core/clock.ts'
import { CrawlError } from '../../../core/errors.ts'
import { createConnection } from '../connection.ts'
import { loadClient } from '../driver.ts'
import { unavailable } from '../errors.ts'
import { type ServerFacts, readServerFacts } from '../server.ts'
import { parseServerUrl } from '../server-url.ts'
import { connect, prefixOf } from '../store.ts'
import { createRedisTables, createRunner, type RunCacheScript } from './tables.ts'

export interface RedisCacheOptions {
  /** As of the store. */
  readonly url: string
  readonly clock: Clock
  /**
   * Size cap of pages and bodies: the least recently used go, in the background. All of it is memory of the server, so there
   * always is one. Default: 1 GiB, or a quarter of the server's `maxmemory` when that is less.
   */
  readonly maxBytes?: number
  /** How new bodies are packed. Default: brotli. */
  readonly codec?: CodecName
  /** Begin one where there is none. Default true; false: its absence is STORE_UNAVAILABLE. */
  readonly create?: boolean
}

/** Grows when an older version could not read what this one writes. */
const FORMAT = '1'
const MAX_BYTES = 1024 ** 3

/** Rejects as `openRedisStore` does. */
export async function openRedisCache(options: RedisCacheOptions): Promise<CacheStore> {
  const { url, clock, codec = COMMON_CODEC, create = true } = options
  const address = parseServerUrl(url)
  const { location } = address
  const client = (await loadClient())(address)
  const base = `${prefixOf(address)}cache:`
  const connection = createConnection({ client, clock, location, key: base })
  const close = (): void => {
    connection.close()
    client.disconnect()
  }
  try {
    await connect(client, location)
    const facts = readServerFacts(String(await connection.ask('INFO', [])), location)
    const run = createRunner(client, connection, base)
    await checkFormat(run, { location, create })
    const tables = createRedisTables({ run, client, connection, base, location, close })
    return createTableCache({ tables, clock, codec, maxBytes: options.maxBytes ?? capOf(facts) })
  } catch (error) {
    close()
    throw error
  }
}

function capOf({ maxMemoryBytes }: ServerFacts): number {
  return Math.min(MAX_BYTES, maxMemoryBytes === undefined ? MAX_BYTES : maxMemoryBytes / 4)
}

interface Opening {
  readonly location: string
  readonly create: boolean
}

async function checkFormat(run: RunCacheScript, { location, create }: Opening): Promise<void> {
  const found = String(await run('open', [FORMAT, create ? '1' : '']))
  if (found === FORMAT) return
  if (found === '') {
    throw unavailable(location, 'it holds no download cache; spoor crawl makes one, and so does spoor cache import')
  }
  const context = { location, found: `${found} of its download cache`, expected: FORMAT }
  throw new CrawlError('STORE_FORMAT_MISMATCH', { context })
}
