/** The download cache in Redis: what each of its steps asks of the server. */

import { randomUUID } from 'node:crypto'
import type { Blob, CacheRow, CacheTables, CacheTotals } from '../../../cache/tables/tables.ts'
import { PART_BYTES, UPLOAD_MS } from '../../../cache/tables/tables.ts'
import type { Connection } from '../connection.ts'
import type { RedisClient } from '../driver.ts'
import { isUnknownScript } from '../errors.ts'
import { CACHE_SCRIPTS } from './scripts.ts'

type Argument = string | Uint8Array

/** The answer with its strings as bytes. */
export type RunCacheScript = (name: keyof typeof CACHE_SCRIPTS, args: readonly Argument[]) => Promise<unknown>

/** `base`: begins the names of all keys. */
export function createRunner(client: RedisClient, connection: Connection, base: string): RunCacheScript {
  return (name, given) => {
    const args = given.map((one) => (typeof one === 'string' ? one : bufferOf(one)))
    return connection.insist(async () => {
      const { text, sha } = CACHE_SCRIPTS[name]
      try {
        return await client.callBuffer('EVALSHA', [sha, '1', base, ...args])
      } catch (error) {
        if (!isUnknownScript(error)) throw error
        return client.callBuffer('EVAL', [text, '1', base, ...args])
      }
    })
  }
}

/** The driver writes other arrays of bytes as text. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export interface RedisTablesParts {
  readonly run: RunCacheScript
  readonly client: RedisClient
  readonly connection: Connection
  readonly base: string
  readonly location: string
  readonly close: () => void
}

export function createRedisTables({ run, client, connection, base, location, close }: RedisTablesParts): CacheTables {
  const ask = async (command: string, args: readonly string[]): Promise<string[]> =>
    (await connection.ask(command, args)) as string[]
  return {
    location,
    find: async (key) => {
      const [text, checked, used, ...blob] = (await run('find', [key, String(PART_BYTES)])) as Buffer[]
      if (text === undefined) return undefined
      const row = rowOf(key, [text, checked, used])
      return row === undefined ? undefined : { row, blob: blobOf(row, blob) }
    },
    head: async (key) => {
      const [text, checked, used] = (await run('find', [key, ''])) as Buffer[]
      return text === undefined ? undefined : rowOf(key, [text, checked, used])
    },
    hasBlob: async (digest) => (await connection.ask('HEXISTS', [`${base}b:${digest}`, 'd0'])) === 1,
    beginUpload: () => Promise.resolve(randomUUID()),
    writePart: async (upload, number, data) => {
      await run('writePart', [upload, `d${number}`, data, String(UPLOAD_MS)])
    },
    readPart: async (digest, number) => {
      const data = await connection.insist(() => client.callBuffer('HGET', [`${base}b:${digest}`, `d${number}`]))
      return data === null ? undefined : (data as Buffer)
    },
    put: async (row, blob) => (await run('put', putArguments(row, blob))) === 1,
    refresh: async (key, { headers, checkedAtMs, usedHour }) =>
      (await run('refresh', [key, headers, String(checkedAtMs), String(usedHour)])) === 1,
    remove: async (keys, { checkedBeforeMs = '', usedHourAtMost = '' }) =>
      Number(await run('remove', [String(checkedBeforeMs), String(usedHourAtMost), ...keys])),
    forgetBlob: async ({ digest = '' }, blob) => {
      if (blob !== undefined) await run('forget', [digest, String(blob.crc)])
    },
    range: async ({ after, upTo, limit }) => {
      const rows = (await run('range', [`(${after}`, `[${upTo}`, String(limit)])) as Buffer[][]
      return rows.flatMap(([key, ...parts]) => rowOf(String(key), parts) ?? [])
    },
    checkedBefore: (ms, limit) => ask('ZRANGEBYSCORE', [`${base}checked`, '-inf', `(${ms}`, 'LIMIT', '0', `${limit}`]),
    leastUsed: async (limit) =>
      pairsOf(await ask('ZRANGE', [`${base}used`, '0', String(limit - 1), 'WITHSCORES'])).map(([key, hour]) => ({
        key,
        usedHour: Number(hour),
      })),
    note: async (uses, counts) => {
      const counted = Object.entries(counts).filter(([, n]) => n > 0)
      const flat = [...counted, ...uses].flat().map(String)
      await run('note', [String(counted.length), ...flat])
    },
    size: async () => {
      const [rows, bytes] = await ask('HMGET', [`${base}sums`, 'pages', 'bytes'])
      return { rows: Number(rows ?? 0), bytes: Number(bytes ?? 0) }
    },
    totals: async () => totalsOf((await run('totals', [])) as Buffer[][]),
    // uploads end by themselves, and no step leaves anything else
    sweep: () => Promise.resolve(),
    close: () => Promise.resolve(close()),
  }
}

function putArguments(row: CacheRow, blob: Blob | undefined): Argument[] {
  const { key, url, host, meta, headers, checkedAtMs, usedHour, bodyBytes, digest = '' } = row
  const bytes = Buffer.byteLength(url) + meta.length + Buffer.byteLength(headers) + host.length
  const numbers = [bodyBytes, bytes, checkedAtMs, usedHour].map(String)
  const page = [key, host, digest, ...numbers, url, meta, headers]
  if (blob === undefined) return [...page, '', '', '', '', '', '']
  const { codec, crc, packedBytes, data = '', upload = '' } = blob
  const parts = Math.ceil(packedBytes / PART_BYTES)
  return [...page, ...[codec, crc, packedBytes, parts].map(String), data, upload]
}

/** Undefined: it was removed meanwhile, or somebody else wrote it. */
function rowOf(key: string, [text, checked, used]: readonly (Buffer | null | undefined)[]): CacheRow | undefined {
  const [host, digest, bodyBytes, , url, meta, headers] = String(text ?? '').split('\n')
  if (host === undefined || url === undefined || meta === undefined || headers === undefined) return undefined
  return {
    key,
    url,
    host,
    meta,
    headers,
    checkedAtMs: Number(String(checked)),
    usedHour: Number(String(used)),
    bodyBytes: Number(bodyBytes),
    digest: digest === '' ? undefined : digest,
  }
}

function blobOf({ digest }: CacheRow, [codec, crc, packed, data]: readonly Buffer[]): Blob | undefined {
  if (codec === undefined || crc === undefined || packed === undefined) return undefined
  return {
    codec: Number(codec.toString()),
    crc: Number(crc.toString()),
    packedBytes: Number(packed.toString()),
    data,
    upload: digest,
  }
}

function pairsOf(flat: readonly unknown[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [String(flat[2 * n]), String(flat[2 * n + 1])])
}

function totalsOf([sums = [], oldest = [], newest = [], hosts = [], hostBytes = []]: readonly Buffer[][]): CacheTotals {
  const fields = new Map(pairsOf(sums))
  const of = (name: string): number => Number(fields.get(name) ?? 0)
  return {
    rows: of('pages'),
    blobs: of('blobs'),
    bodyBytes: of('bodyBytes'),
    packedBytes: of('packedBytes'),
    bytes: of('bytes'),
    oldestMs: oldest[1] === undefined ? undefined : Number(String(oldest[1])),
    newestMs: newest[1] === undefined ? undefined : Number(String(newest[1])),
    counts: {
      hits: of('hits'),
      revalidated: of('revalidated'),
      misses: of('misses'),
      savedBytes: of('savedBytes'),
    },
    hosts: pairsOf(hosts).map(([host, entries], at) => ({
      host,
      entries: Number(entries),
      bodyBytes: Number(String(hostBytes[at] ?? 0)),
    })),
  }
}
