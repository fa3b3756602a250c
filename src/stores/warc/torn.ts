/** Where the whole records of a WARC file end: what a killed writer left behind it is cut off. */

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { constants, crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import type { IndexLine } from '../../warc/cdxj.ts'

const GZIP_HEAD = 10
const GZIP_TAIL = 8
const FIRST_WINDOW = 256 * 1024
/** No record of ours is longer. */
const MAX_WINDOW = 512 * 1024 * 1024
/** No warcinfo of ours is as long. */
const MAX_TORN_BYTES = 8192
/** Of a block: enough for the fields of its HTTP message that an index line needs. */
const BLOCK_HEAD = 64 * 1024

export interface WholeFile {
  /** Bytes up to the end of the last whole exchange. */
  readonly end: number
  /** WARC-Record-ID of the file's warcinfo. */
  readonly warcinfoId: string
  /** Answers behind `from`, as their index lines would be. */
  readonly answers: readonly Omit<IndexLine, 'filename'>[]
}

export interface WholeFileOptions {
  readonly packed: boolean
  /** Where a record begins, from which on the file is looked at. */
  readonly from: number
}

/** Undefined: the file does not begin with a warcinfo record that is whole. */
export async function findWholeEnd(file: string, { packed, from }: WholeFileOptions): Promise<WholeFile | undefined> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const first = await readOne({ handle, at: 0, size, packed })
    const warcinfoId = first === undefined ? undefined : fieldOf(first.head, 'WARC-Record-ID')
    if (first === undefined || warcinfoId === undefined || fieldOf(first.head, 'WARC-Type') !== 'warcinfo') {
      return undefined
    }
    let at = Math.max(from, first.length)
    let end = at
    const answers: Omit<IndexLine, 'filename'>[] = []
    const waiting: typeof answers = []
    while (at < size) {
      const record = await readOne({ handle, at, size, packed })
      if (record === undefined) break
      const type = fieldOf(record.head, 'WARC-Type')
      if (type === 'response' || type === 'revisit') waiting.push(answerOf(record, at))
      at += record.length
      // The request closes a group: an answer without it was not written to its end.
      if (type !== 'request') continue
      end = at
      answers.push(...waiting.splice(0))
    }
    return { end, warcinfoId, answers }
  } finally {
    await handle.close()
  }
}

/** A writer died in the very first record of the file: what is there is short, and begins as ours do. */
export async function isTornBeginning(file: string): Promise<boolean> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    if (size >= MAX_TORN_BYTES) return false
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
    const bytes = buffer.subarray(0, bytesRead)
    const isPacked = bytes[0] === 0x1f
    const text = isPacked ? beginningOf(bytes) : bytes
    return text !== undefined && text.subarray(0, 8).equals(Buffer.from('WARC/1.1').subarray(0, text.length))
  } finally {
    await handle.close()
  }
}

/** What can be unpacked of a member that breaks off. */
function beginningOf(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return undefined
  }
}

function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(String.raw`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim()
}

function answerOf({ head, http, length }: OneRecord, offset: number): Omit<IndexLine, 'filename'> {
  const isRevisit = fieldOf(head, 'WARC-Type') === 'revisit'
  const mime = fieldOf(http, 'content-type')?.split(';')[0]?.toLowerCase()
  return {
    url: fieldOf(head, 'WARC-Target-URI') ?? '',
    dateMs: Date.parse(fieldOf(head, 'WARC-Date') ?? '') || 0,
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(http)?.[1] ?? 0),
    mime: isRevisit ? 'warc/revisit' : (mime ?? 'unk'),
    digest: fieldOf(head, 'WARC-Payload-Digest') ?? '-',
    offset,
    length,
  }
}

interface Place {
  readonly handle: FileHandle
  readonly at: number
  readonly size: number
  readonly packed: boolean
}

interface OneRecord {
  /** In the file. */
  readonly length: number
  readonly head: string
  /** The first bytes of the block. */
  readonly http: string
}

/** Undefined: it is torn, or none. */
async function readOne({ handle, at, size, packed }: Place): Promise<OneRecord | undefined> {
  for (let window = FIRST_WINDOW; ; window *= 4) {
    const bytes = Buffer.alloc(Math.min(window, size - at))
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, at)
    const found = packed ? parseMember(bytes.subarray(0, bytesRead)) : parsePlain(bytes.subarray(0, bytesRead))
    if (found !== undefined || bytes.length === size - at || window >= MAX_WINDOW) return found
  }
}

function parseMember(bytes: Buffer): OneRecord | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || bytes[3] !== 0) return undefined
  try {
    // With `info` the answer says how much of the input was read; the types do not know it.
    const { buffer, engine } = inflateRawSync(bytes.subarray(GZIP_HEAD), { info: true }) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    const tail = GZIP_HEAD + engine.bytesWritten
    if (bytes.length < tail + GZIP_TAIL || bytes.readUInt32LE(tail) !== crc32(buffer)) return undefined
    const record = parsePlain(buffer)
    return record?.length === buffer.length ? { ...record, length: tail + GZIP_TAIL } : undefined
  } catch {
    return undefined
  }
}

function parsePlain(bytes: Buffer): OneRecord | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1 || !bytes.subarray(0, 8).equals(Buffer.from('WARC/1.1'))) return undefined
  const head = bytes.toString('utf8', 0, end)
  const block = Number(fieldOf(head, 'Content-Length') ?? Number.NaN)
  const start = end + 4
  const length = start + block + 4
  if (!(length <= bytes.length) || bytes.toString('latin1', length - 4, length) !== '\r\n\r\n') return undefined
  const message = bytes.subarray(start, Math.min(start + block, start + BLOCK_HEAD))
  const http = message.subarray(0, Math.max(0, message.indexOf('\r\n\r\n'))).toString('latin1')
  return { length, head, http }
}
