/** Reads seed files of any size as a stream: text, tables and JSON Lines, plain, gzip or zip. */

import { createReadStream } from 'node:fs'
import { TextDecoder, getBOMEncoding } from '@exodus/bytes/encoding.js'
import { type Bytes, gunzip, isGzip, peekBytes } from '../util/byte-stream.ts'
import { createLineSplitter } from '../util/lines.ts'
import type { SeedLine } from './contract.ts'
import { createSeedReader } from './seed-reader.ts'
import { seedsUnreadable } from './seeds-unreadable.ts'
import { type ZipEntry, isZip, openZipBuffer, openZipFile } from './zip.ts'

export interface SeedFileOptions {
  /** What `-` reads. */
  readonly stdin?: Bytes
}

/** In `--seeds -`. */
const STDIN = '-'
/** A longer line is a problem, not a seed; its rest is passed over. */
const MAX_LINE_CHARS = 1024 * 1024
const HEAD_BYTES = 4096
const MAX_PACKINGS = 3
/** A zip's table of contents is at its end, so that one from stdin must be held. */
const MAX_STDIN_ZIP_BYTES = 256 * 1024 * 1024
/** Packed data that grows beyond both is a bomb, no list. */
const MAX_EXPANDED_BYTES = 64 * 1024 * 1024
const MAX_EXPANSION = 200

/**
 * The seeds of a file, read no faster than they are taken. What kind of file it is, is told by its content: text (one
 * URL a line, `#` comments), `rank,domain` rows, CSV with a column of URLs, JSON Lines of requests; each of them also in
 * gzip or zip. Bare domains become `http://domain/`.
 * Throws SEEDS_UNREADABLE when it cannot be read, is damaged, packed as nothing we know, or holds no line at all.
 */
export async function* openSeedFile(path: string, options: SeedFileOptions = {}): AsyncGenerator<SeedLine> {
  const name = path === STDIN ? 'stdin' : path
  let isEmpty = true
  try {
    for await (const source of openSource(path, options)) {
      for await (const line of readSeeds(source)) {
        isEmpty = false
        yield line
      }
    }
  } catch (error) {
    throw seedsUnreadable(name, error)
  }
  if (isEmpty) throw seedsUnreadable(name, new Error('it holds no URL'))
}

async function* openSource(path: string, { stdin }: SeedFileOptions): AsyncGenerator<ZipEntry> {
  const isStdin = path === STDIN
  if (isStdin && stdin === undefined) throw new Error('there is no stdin to read')
  const name = isStdin ? 'stdin' : path
  const { head, bytes, close } = await peekBytes(
    stdin !== undefined && isStdin ? stdin : createReadStream(path),
    HEAD_BYTES,
  )
  if (!isZip(head)) {
    yield { entry: name, bytes }
  } else if (isStdin) {
    yield* openZipBuffer(await collect(bytes, MAX_STDIN_ZIP_BYTES), name)
  } else {
    await close()
    yield* openZipFile(path)
  }
}

async function collect(bytes: Bytes, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length > maxBytes) throw new Error('a zip of that size cannot be read from stdin: name it as a file')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function* readSeeds(source: ZipEntry): AsyncGenerator<SeedLine> {
  const lines = createLineSplitter(MAX_LINE_CHARS)
  const reader = createSeedReader(source.entry)
  for await (const text of decodeText(await unpack(source))) {
    for (const line of lines.push(text)) yield* reader.read(line)
  }
  for (const line of lines.end()) yield* reader.read(line)
  yield* reader.end()
}

/** Unpacks gzip as often as it was packed. */
async function unpack({ bytes: source, packedBytes }: ZipEntry): Promise<Bytes> {
  const packed = count(source)
  let { head, bytes } = await peekBytes(packed.bytes, HEAD_BYTES)
  for (let packings = 0; isGzip(head) && packings < MAX_PACKINGS; packings += 1) {
    ;({ head, bytes } = await peekBytes(gunzip(bytes), HEAD_BYTES))
  }
  refuseBinary(head)
  return refuseBomb(bytes, () => packedBytes ?? packed.length())
}

function count(source: Bytes): { readonly bytes: Bytes; readonly length: () => number } {
  let length = 0
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      length += chunk.length
      yield chunk
    }
  }
  return { bytes: bytes(), length: () => length }
}

async function* refuseBomb(bytes: Bytes, packedLength: () => number): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length > MAX_EXPANDED_BYTES && length > MAX_EXPANSION * packedLength()) {
      throw new Error(`it unpacks to more than ${String(MAX_EXPANSION)} times its size: no list does`)
    }
    yield chunk
  }
}

const SIGNATURES: readonly (readonly [signature: string, kind: string])[] = [
  ['\u00fd7zXZ', 'packed with xz: unpack it first'],
  ['BZh', 'packed with bzip2: unpack it first'],
  ['(\u00b5/\u00fd', 'packed with zstd: unpack it first'],
  ['7z\u00bc\u00af', 'packed with 7-Zip: unpack it first'],
  ['PAR1', 'a Parquet file: save it as CSV'],
  ['SQLite format 3', 'a database: save its URLs as CSV'],
  ['%PDF', 'a PDF'],
]

function refuseBinary(head: Uint8Array): void {
  const text = Buffer.from(head.subarray(0, 16)).toString('latin1')
  const known = SIGNATURES.find(([signature]) => text.startsWith(signature))
  if (known !== undefined) throw new Error(`it is ${known[1]}`)
  if (head.includes(0) && getBOMEncoding(head) === null) throw new Error('it is no text: expected one URL a line')
}

/** UTF-8, or what a byte order mark says. */
async function* decodeText(bytes: Bytes): AsyncGenerator<string> {
  const peeked = await peekBytes(bytes, 4)
  const decoder = new TextDecoder(getBOMEncoding(peeked.head) ?? 'utf-8')
  for await (const chunk of peeked.bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
