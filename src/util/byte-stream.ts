/** Streams of bytes: looking at their beginning, and unpacking gzip within bounds. */

import { Readable, pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

export type Bytes = AsyncIterable<Uint8Array>

export interface PeekedBytes {
  /** The first bytes: as many as asked for, fewer when there are no more. */
  readonly head: Uint8Array
  /** All bytes, the first ones too. To be read once. */
  readonly bytes: Bytes
  /** Lets go of the source without reading on. */
  readonly close: () => Promise<void>
}

/** Reads until `count` bytes are there. */
export async function peekBytes(source: Bytes, count: number): Promise<PeekedBytes> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < count) {
    const next = await iterator.next()
    if (next.done === true) break
    chunks.push(next.value)
    length += next.value.length
  }
  const head = Buffer.concat(chunks)
  const close = async (): Promise<void> => {
    await iterator.return?.()
  }
  return { head: head.subarray(0, count), bytes: resume(head, iterator), close }
}

async function* resume(head: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}

export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8
}

/** Rejects with zlib's error for damaged or cut data, after what could be read. Lets go of its source when left early. */
export async function* gunzip(source: Bytes): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(source, { objectMode: false, highWaterMark: 64 * 1024 })
  const unpacked = createGunzip({ chunkSize: 64 * 1024 })
  // its errors reach whoever reads `unpacked`
  pipeline(packed, unpacked, () => undefined)
  try {
    for await (const chunk of unpacked) yield chunk as Uint8Array
  } finally {
    packed.destroy()
    unpacked.destroy()
  }
}
