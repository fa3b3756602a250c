/** How bodies are packed: the codec's number is kept with each, so that a change of codec leaves old ones readable. */

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { CrawlError } from '../core/errors.ts'

export type CodecName = 'none' | 'zlib' | 'brotli' | 'zstd'

/** Never renumbered. */
const CODEC_IDS = { none: 0, zlib: 1, brotli: 2, zstd: 3 } as const satisfies Record<CodecName, number>

/** What every supported Node can read, and the fastest of these to pack: docs/benchmarks.md. */
export const COMMON_CODEC: CodecName = 'brotli'
/** As fast to pack and nearly twice as fast to unpack, where Node has it. */
export const DEFAULT_CODEC: CodecName = 'zstdCompressSync' in zlib ? 'zstd' : COMMON_CODEC

interface Codec {
  packSync(body: Uint8Array): Uint8Array
  pack(body: Uint8Array): Promise<Uint8Array>
  /** Throws for what is no such data or is longer than `maxOutputLength`. */
  unpackSync(data: Uint8Array, maxOutputLength: number): Uint8Array
  unpack(data: Uint8Array, maxOutputLength: number): Promise<Uint8Array>
}

const DEFLATE_LEVEL = 3
const BROTLI_QUALITY = 0
/** `ZSTD_c_compressionLevel`, which the types of Node 20 do not know. */
const ZSTD_PARAM_LEVEL = 100
const ZSTD_OPTIONS = { params: { [ZSTD_PARAM_LEVEL]: 1 } }
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants

const deflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw)
const inflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflateRaw)
const brotliCompress = promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const brotliDecompress = promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)

const deflateCodec: Codec = {
  packSync: (body) => zlib.deflateRawSync(body, { level: DEFLATE_LEVEL }),
  pack: (body) => deflateRaw(body, { level: DEFLATE_LEVEL }),
  unpackSync: (data, maxOutputLength) => zlib.inflateRawSync(data, inOnePiece(maxOutputLength)),
  unpack: (data, maxOutputLength) => inflateRaw(data, { maxOutputLength }),
}

const brotliCodec: Codec = {
  packSync: (body) => zlib.brotliCompressSync(body, brotliOptions(body)),
  pack: (body) => brotliCompress(body, brotliOptions(body)),
  unpackSync: (data, maxOutputLength) => zlib.brotliDecompressSync(data, inOnePiece(maxOutputLength)),
  unpack: (data, maxOutputLength) => brotliDecompress(data, { maxOutputLength }),
}

/** Room for all of the output at once saves copying the pieces together: a third of the time of `inflate`. */
function inOnePiece(maxOutputLength: number): { readonly maxOutputLength: number; readonly chunkSize: number } {
  return { maxOutputLength, chunkSize: maxOutputLength + 64 }
}

function brotliOptions(body: Uint8Array): zlib.BrotliOptions {
  return { params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: body.length } }
}

/** In Node since 22.15; the types of Node 20 do not know it. */
interface ZstdFunctions {
  zstdCompressSync(body: Uint8Array, options: typeof ZSTD_OPTIONS): Buffer
  zstdDecompressSync(data: Uint8Array, options: { maxOutputLength: number }): Buffer
  zstdCompress(body: Uint8Array, options: typeof ZSTD_OPTIONS, done: (error: Error | null, data: Buffer) => void): void
  zstdDecompress(
    data: Uint8Array,
    options: { maxOutputLength: number },
    done: (error: Error | null, body: Buffer) => void,
  ): void
}

function zstdCodec(): Codec | undefined {
  const found = zlib as unknown as Partial<ZstdFunctions>
  if (found.zstdCompressSync === undefined || found.zstdDecompressSync === undefined) return undefined
  const functions = found as ZstdFunctions
  const compress = promisify(functions.zstdCompress)
  const decompress = promisify(functions.zstdDecompress)
  return {
    packSync: (body) => functions.zstdCompressSync(body, ZSTD_OPTIONS),
    pack: (body) => compress(body, ZSTD_OPTIONS),
    unpackSync: (data, maxOutputLength) => functions.zstdDecompressSync(data, inOnePiece(maxOutputLength)),
    unpack: (data, maxOutputLength) => decompress(data, { maxOutputLength }),
  }
}

const CODECS: ReadonlyMap<number, Codec> = new Map(
  [
    [CODEC_IDS.zlib, deflateCodec] as const,
    [CODEC_IDS.brotli, brotliCodec] as const,
    [CODEC_IDS.zstd, zstdCodec()] as const,
  ].filter((pair): pair is [1 | 2 | 3, Codec] => pair[1] !== undefined),
)

/** Throws CONFIG_INVALID for zstd on a Node without it. */
export function requireCodec(name: CodecName): void {
  if (name === 'none' || CODECS.has(CODEC_IDS[name])) return
  const problem = `--cache-codec ${name}: expected brotli, zlib or none, as this Node has no ${name} (22.15 and later have)`
  throw new CrawlError('CONFIG_INVALID', { context: { problem } })
}

/**
 * SHA-256 of a body, by which equal ones are kept once. Those that not every Node can unpack are told apart from all
 * others: who puts a body is then sure to be able to read it, whoever has put the same one before.
 */
export function digestOf(body: Uint8Array, name: CodecName): Buffer {
  const digest = hash('sha256', body, 'buffer')
  if (name === 'zstd') digest[0] = (digest[0] ?? 0) ^ 0xff
  return digest
}

export interface PackedBody {
  /** Number of the codec; 0: as it is. */
  readonly codec: number
  readonly data: Uint8Array
}

/** Packed long ago by whoever made them; packing them again costs time and gains nothing. */
const PACKED_TYPES =
  /^(?:image\/(?!svg|bmp|x-ms-bmp|vnd\.microsoft|x-icon)|audio\/|video\/|font\/woff|application\/(?:zip|gzip|x-gzip|x-bzip2?|x-7z|x-rar|vnd\.rar|x-xz|zstd|java-archive|epub|vnd\.openxmlformats|vnd\.oasis|font-woff))/i

const MIN_PACKED_BYTES = 128
/** Above it, packing runs in the thread pool. */
const SYNC_BYTES = 256 * 1024

/** Undefined: pack it as it is. */
function codecFor(body: Uint8Array, name: CodecName, contentType: string | undefined): Codec | undefined {
  if (body.length < MIN_PACKED_BYTES || name === 'none') return undefined
  if (contentType !== undefined && PACKED_TYPES.test(contentType)) return undefined
  return CODECS.get(CODEC_IDS[name])
}

/** At once for what is small, else through a promise, so that the event loop is not held up. */
export function packBody(
  body: Uint8Array,
  name: CodecName,
  contentType: string | undefined,
): PackedBody | Promise<PackedBody> {
  const codec = codecFor(body, name, contentType)
  if (codec === undefined) return { codec: CODEC_IDS.none, data: body }
  const choose = (data: Uint8Array): PackedBody =>
    data.length < body.length * 0.95 ? { codec: CODEC_IDS[name], data } : { codec: CODEC_IDS.none, data: body }
  return body.length <= SYNC_BYTES ? choose(codec.packSync(body)) : codec.pack(body).then(choose)
}

/** Undefined: damaged, not `bodyBytes` long, or of a codec that this Node does not have. */
export function unpackBody(
  packed: PackedBody,
  bodyBytes: number,
): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  const whole = (body: Uint8Array): Uint8Array | undefined => (body.length === bodyBytes ? body : undefined)
  if (packed.codec === CODEC_IDS.none) return whole(packed.data)
  const codec = CODECS.get(packed.codec)
  if (codec === undefined) return undefined
  const limit = Math.max(1, bodyBytes)
  if (bodyBytes > SYNC_BYTES) return codec.unpack(packed.data, limit).then(whole, () => undefined)
  try {
    return whole(codec.unpackSync(packed.data, limit))
  } catch {
    return undefined
  }
}

/** Throws CACHE_CODEC_MISSING when the body is there, but this Node cannot read it. */
export function checkReadable(codec: number, url: string): void {
  if (codec === CODEC_IDS.none || CODECS.has(codec)) return
  const name = Object.entries(CODEC_IDS).find(([, id]) => id === codec)?.[0] ?? `codec ${codec}`
  throw new CrawlError('CACHE_CODEC_MISSING', { context: { url, codec: name } })
}
