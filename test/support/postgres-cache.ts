/** A download cache on a real PostgreSQL server for tests, under a prefix of its own. */

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { openPostgresCache } from '../../src/stores/postgres/cache/open.ts'
import { seededRandom } from '../../src/util/random.ts'
import { dropPostgres } from './server-url.ts'
import type { CacheContents, ServerCache } from './server-cache.ts'

export interface PostgresTestCache extends ServerCache {
  /** `@name` stands for a table of the store. */
  sql(text: string, ...values: readonly unknown[]): Promise<Record<string, unknown>[]>
}

export async function postgresCache(server: string, maxBytes?: number): Promise<PostgresTestCache> {
  const prefix = `t${randomUUID().slice(0, 8)}_`
  const url = `${server}${server.includes('?') ? '&' : '?'}prefix=${prefix}`
  const client = new Client({ connectionString: server })
  await client.connect()
  const sql = async (text: string, ...values: readonly unknown[]): Promise<Record<string, unknown>[]> => {
    const { rows } = await client.query<Record<string, unknown>>(text.replaceAll(/@(\w)/g, `${prefix}$1`), [...values])
    return rows
  }
  return {
    url,
    sql,
    open: (clock) =>
      openPostgresCache({ url, clock, random: seededRandom(1), ...(maxBytes === undefined ? {} : { maxBytes }) }),
    change: async (key, how) => {
      const [blob] = await sql(
        'SELECT b.* FROM @cache_blobs b JOIN @cache_pages p ON p.blob = b.id WHERE p.key = $1',
        Buffer.from(key, 'hex'),
      )
      if (Buffer.isBuffer(blob?.['data'])) {
        await sql('UPDATE @cache_blobs SET data = $1 WHERE id = $2', how(blob['data']), blob['id'])
        return
      }
      const parts = await sql('SELECT * FROM @cache_parts WHERE upload = $1 ORDER BY number', blob?.['upload'])
      const part = parts[Math.floor(parts.length / 2)]
      if (part === undefined) throw new Error('expected parts of the body, found none')
      await sql(
        'UPDATE @cache_parts SET data = $1 WHERE upload = $2 AND number = $3',
        how(part['data'] as Buffer),
        part['upload'],
        part['number'],
      )
    },
    contents: async () => {
      const [found] = await sql(CONTENTS)
      return Object.fromEntries(
        Object.entries(found ?? {}).map(([name, n]) => [name, Number(n)]),
      ) as unknown as CacheContents
    },
    uploads: async () => {
      const found = await sql(
        'SELECT id FROM @cache_uploads u WHERE EXISTS (SELECT 1 FROM @cache_parts WHERE upload = u.id)',
      )
      return found.map(({ id }) => String(id))
    },
    drop: async () => {
      await client.end()
      await dropPostgres(server, prefix)
    },
  }
}

const CONTENTS = `SELECT (SELECT count(*) FROM @cache_pages) AS pages, (SELECT count(*) FROM @cache_blobs) AS blobs,
  (SELECT coalesce(sum(body_bytes), 0) FROM @cache_pages) AS "bodyBytes",
  (SELECT coalesce(sum(packed_bytes), 0) FROM @cache_blobs) AS "packedBytes",
  (SELECT count(*) FROM @cache_parts p WHERE NOT EXISTS (SELECT 1 FROM @cache_blobs b WHERE b.upload = p.upload))
    AS "looseParts",
  (SELECT count(*) FROM @cache_uploads) AS uploads`
