/** One layer of compressed bytes undone under a bound: synchronously when small, on the thread pool when not. */

import zlib from 'node:zlib'

export type InflateKind = 'raw' | 'zlib' | 'br' | 'zstd'

export type Inflated =
  /** `usedBytes` of the input belonged to the stream; what follows is the caller's. */
  | { readonly kind: 'whole'; readonly body: Buffer; readonly usedBytes: number }
  /** More than the limit; `body` is as long as the limit. */
  | { readonly kind: 'over'; readonly body: Buffer }
  /** The input ends before the stream does. */
  | { readonly kind: 'short'; readonly body: Buffer }
  | { readonly kind: 'broken' }

export interface InflateInput {
  readonly kind: InflateKind
  readonly bytes: Buffer
  readonly limitBytes: number
  /** Are the bytes of an unfinished stream wanted? */
  readonly partial: boolean
}

/** Synchronous zlib costs 34 us for a page, streams 62: worth it while one body cannot hold the loop for long. */
const SYNC_WIRE_BYTES = 64 * 1024
/** 2 MB are some 5 ms. What grows beyond is begun anew on the thread pool. */
const SYNC_OUTPUT_BYTES = 2 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

interface Engine {
  readonly bytesWritten: number
}

type SyncResult = { readonly buffer: Buffer; readonly engine: Engine }
type Options = { readonly info: true; readonly maxOutputLength: number; readonly chunkSize: number }

const ENGINES: Readonly<Record<InflateKind, { readonly sync: unknown; readonly stream: unknown }>> = {
  raw: { sync: zlib.inflateRawSync, stream: zlib.createInflateRaw },
  zlib: { sync: zlib.inflateSync, stream: zlib.createInflate },
  br: { sync: zlib.brotliDecompressSync, stream: zlib.createBrotliDecompress },
  zstd: {
    sync: (zlib as { zstdDecompressSync?: unknown }).zstdDecompressSync,
    stream: (zlib as { createZstdDecompress?: unknown }).createZstdDecompress,
  },
}

export function inflateBounded(input: InflateInput): Inflated | Promise<Inflated> {
  if (input.bytes.length <= SYNC_WIRE_BYTES && !input.partial) {
    const done = inflateSync(input)
    if (done !== undefined) return done
  }
  return inflateStreamed(input)
}

/** Undefined when the output outgrew what may be made in one go. */
function inflateSync(input: InflateInput): Inflated | undefined {
  const maxOutputLength = Math.max(1, Math.min(input.limitBytes, SYNC_OUTPUT_BYTES))
  const run = ENGINES[input.kind].sync as (bytes: Buffer, options: Options) => SyncResult
  try {
    const chunkSize = Math.min(CHUNK_BYTES, Math.max(4096, input.bytes.length * 5))
    const { buffer, engine } = run(input.bytes, { info: true, maxOutputLength, chunkSize })
    if (buffer.length > input.limitBytes) return undefined
    return { kind: 'whole', body: buffer, usedBytes: engine.bytesWritten }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ERR_BUFFER_TOO_LARGE') return undefined
    return code === 'Z_BUF_ERROR' ? { kind: 'short', body: Buffer.alloc(0) } : { kind: 'broken' }
  }
}

interface InflateStream extends NodeJS.ReadWriteStream, Engine {
  destroy(): void
}

async function inflateStreamed(input: InflateInput): Promise<Inflated> {
  const stream = (ENGINES[input.kind].stream as (options: { chunkSize: number }) => InflateStream)({
    chunkSize: CHUNK_BYTES,
  })
  const parts: Buffer[] = []
  let length = 0
  const collected = (): Buffer => {
    const body = Buffer.concat(parts)
    return body.length > input.limitBytes ? body.subarray(0, input.limitBytes) : body
  }
  return await new Promise<Inflated>((resolve) => {
    const end = (result: Inflated): void => {
      resolve(result)
      stream.destroy()
    }
    stream.on('data', (part: Buffer) => {
      parts.push(part)
      length += part.length
      if (length > input.limitBytes) end({ kind: 'over', body: collected() })
    })
    stream.on('end', () => {
      end({ kind: 'whole', body: collected(), usedBytes: stream.bytesWritten })
    })
    stream.on('error', (error) => {
      end(codeOf(error) === 'Z_BUF_ERROR' ? { kind: 'short', body: collected() } : { kind: 'broken' })
    })
    stream.end(input.bytes)
  })
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code ?? '')
}
