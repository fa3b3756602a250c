/** A download cache on a real Redis server for tests, under a prefix of its own. */

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { openRedisCache } from '../../src/stores/redis/cache/open.ts'
import { forgetStore, withRedis } from './redis.ts'
import type { CacheContents, ServerCache } from './server-cache.ts'

export function redisCache(server: string, maxBytes?: number): ServerCache {
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
    contents: () => withRedis(url, (client, prefix) => contentsOf(client, `${prefix}cache:`)),
    uploads: () => withRedis(url, (client, prefix) => keysOf(client, `${prefix}cache:u:`)),
    age: (ms) =>
      withRedis(url, async (client, prefix) => {
        for (const upload of await keysOf(client, `${prefix}cache:u:`)) {
          const leftMs = await client.pttl(upload)
          // one without an end is never older
          if (leftMs >= 0) await client.pexpire(upload, leftMs - ms)
        }
      }),
    drop: () => forgetStore(url),
  }
}

function keysOf(client: Redis, base: string): Promise<string[]> {
  return client.keys(`${base.replaceAll(/[*?[\]\\]/g, '\\$&')}*`)
}

async function contentsOf(client: Redis, base: string): Promise<CacheContents> {
  const pages = await keysOf(client, `${base}p:`)
  let bodyBytes = 0
  for (const page of pages) bodyBytes += Number((await client.get(page))?.split('\n')[2] ?? 0)
  const blobs = await keysOf(client, `${base}b:`)
  let packedBytes = 0
  for (const blob of blobs) packedBytes += Number((await client.hget(blob, 'packed')) ?? 0)
  const uploads = await keysOf(client, `${base}u:`)
  let looseParts = 0
  for (const upload of uploads) looseParts += await client.hlen(upload)
  return { pages: pages.length, blobs: blobs.length, bodyBytes, packedBytes, looseParts, uploads: uploads.length }
}
