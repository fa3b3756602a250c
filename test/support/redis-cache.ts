/** A download cache on a real Redis server for tests, under a prefix of its own. */

import { randomUUID } from 'node:crypto'
import { openRedisCache } from '../../src/stores/redis/cache/open.ts'
import { forgetStore, withRedis } from './redis.ts'
import type { ServerCache } from './server-cache.ts'

export interface RedisTestCache extends ServerCache {
  readonly url: string
}

export function redisCache(server: string, maxBytes?: number): RedisTestCache {
  const url = `${server}?prefix=t${randomUUID().slice(0, 8)}_`
  return {
    url,
    open: (clock) => openRedisCache({ url, clock, ...(maxBytes === undefined ? {} : { maxBytes }) }),
    change: (key, how) =>
      withRedis(url, async (client, prefix) => {
        const [, digest] = ((await client.get(`${prefix}cache:p:${key}`)) ?? '').split('\n')
        const blob = `${prefix}cache:b:${digest ?? ''}`
        const parts = (await client.hkeys(blob)).filter((field) => /^d\d+$/.test(field)).toSorted()
        const part = parts[Math.floor(parts.length / 2)] ?? 'd0'
        const data = await client.hgetBuffer(blob, part)
        if (data === null) throw new Error('expected a body, found none')
        await client.hset(blob, part, how(data))
      }),
    drop: () => forgetStore(url),
  }
}
