/** What tests do to a Redis store behind its back. */

import { spawnSync } from 'node:child_process'
import { Redis } from 'ioredis'
import { parseServerUrl } from '../../src/stores/redis/server-url.ts'

export async function withRedis<T>(url: string, work: (client: Redis, prefix: string) => Promise<T>): Promise<T> {
  const { prefix, host, port } = parseServerUrl(url)
  const client = new Redis({ host, port, protocol: 2 })
  try {
    return await work(client, `{${prefix}}`)
  } finally {
    client.disconnect()
  }
}

/** Says of all owners so far that their process is another one, which has ended: what a kill leaves. */
export async function markAsGone(url: string): Promise<void> {
  const { pid } = spawnSync(process.execPath, ['--version'])
  await withRedis(url, async (client, prefix) => {
    for (const owner of await client.smembers(`${prefix}owners`)) {
      const info = JSON.parse((await client.hget(`${prefix}w:${owner}`, 'info')) ?? '{}') as object
      await client.hset(`${prefix}w:${owner}`, 'info', JSON.stringify({ ...info, pid, began: 'never' }))
    }
  })
}

/** Deletes all keys of the store. */
export async function forgetStore(url: string): Promise<void> {
  await withRedis(url, async (client, prefix) => {
    const keys = await client.keys(`${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*`)
    for (let from = 0; from < keys.length; from += 1000) await client.unlink(...keys.slice(from, from + 1000))
  })
}
