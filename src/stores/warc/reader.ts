/** WARC files from disk or anywhere else, plain or packed with gzip. */

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { WarcRecord } from '../../warc/contract.ts'
import { readRecords, type ReadWarcOptions } from '../../warc/read.ts'

/**
 * Reads records until the bytes end or cannot be unpacked any more; `onFault` hears of everything that is not as it
 * should be. Holds one record at a time. Rejects as its source does.
 */
export async function* readWarc(
  source: AsyncIterable<Uint8Array>,
  options: ReadWarcOptions = {},
): AsyncGenerator<WarcRecord> {
  const { first, all } = await peek(source)
  if (first[0] === 0x1f && first[1] === 0x8b) yield* readRecords(unpack(all, options), options)
  else yield* readRecords(all, options)
}

async function peek(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly first: Uint8Array; readonly all: AsyncIterable<Uint8Array> }> {
  const chunks = source[Symbol.asyncIterator]()
  let first: Uint8Array = new Uint8Array(0)
  while (first.length < 2) {
    const next = await chunks.next()
    if (next.done === true) break
    first = first.length === 0 ? next.value : Buffer.concat([first, next.value])
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield first
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }
  return { first, all: all() }
}

/** A member that is damaged ends the reading: where the next begins cannot be told for certain. */
async function* unpack(source: AsyncIterable<Uint8Array>, { onFault }: ReadWarcOptions): AsyncGenerator<Uint8Array> {
  let sourceError: unknown
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* source
    } catch (error) {
      sourceError = error
      throw error
    }
  }
  const input = Readable.from(watched(), { objectMode: false })
  const gunzip = createGunzip()
  input.on('error', (error) => gunzip.destroy(error))
  let bytes = 0
  try {
    for await (const chunk of input.pipe(gunzip) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      yield chunk
    }
  } catch (error) {
    if (sourceError !== undefined) throw sourceError
    onFault?.(`expected gzip data: ${error instanceof Error ? error.message : String(error)}`, bytes)
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}
