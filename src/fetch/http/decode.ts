/** Undoes content codings under a bound: what is cut, what lies and what explodes are told apart. */

import zlib from 'node:zlib'

import type { Coding, Decoded, DecodeInput } from './decoded.ts'
import { isGzip, undoGzip } from './gzip.ts'
import { inflateBounded, type Inflated, type InflateKind } from './inflate.ts'

/** Can this Node undo zstd? */
export const hasZstd: boolean = typeof (zlib as { zstdDecompressSync?: unknown }).zstdDecompressSync === 'function'

// Codings that exist and that nothing here undoes. Any other word ("none", "utf-8", "binary") means that nothing was coded.
const UNDOABLE: ReadonlySet<string> = new Set([
  'aes128gcm',
  'bzip2',
  'compress',
  'dcb',
  'dcz',
  'exi',
  'lzma',
  'pack200-gzip',
  'sdch',
  'x-bzip2',
  'x-compress',
  'xz',
])

const KNOWN: Readonly<Record<string, 'gzip' | 'deflate' | 'br' | 'zstd'>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  'x-deflate': 'deflate',
  br: 'br',
  zstd: 'zstd',
}

/** More layers than this are an attack. */
const MAX_CODINGS = 4

/** The codings that a Content-Encoding names; words that name none are dropped. */
export function parseCodings(tokens: readonly string[]): readonly Coding[] {
  const codings: Coding[] = []
  for (const token of tokens) {
    const known = Object.hasOwn(KNOWN, token) ? KNOWN[token] : undefined
    if (known === 'zstd' && !hasZstd) codings.push({ unknown: token })
    else if (known !== undefined) codings.push(known)
    else if (UNDOABLE.has(token)) codings.push({ unknown: token })
  }
  return codings
}

/**
 * Small bodies at once, larger ones off the event loop. A body that is not coded as its label says is delivered as it came:
 * such labels are common, and browsers show such pages.
 */
export function decodeBody(input: DecodeInput): Decoded | Promise<Decoded> {
  if (input.codings.length > MAX_CODINGS) {
    return {
      kind: 'undecodable',
      problem: `expected at most ${MAX_CODINGS} content codings, found ${input.codings.length}`,
    }
  }
  if (input.wire.length === 0 || input.codings.length === 0) return bounded(input.wire, input)
  return decodeLayers(input)
}

async function decodeLayers(input: DecodeInput): Promise<Decoded> {
  let bytes = input.wire
  let truncated = false
  for (const coding of input.codings.toReversed()) {
    if (typeof coding !== 'string')
      return { kind: 'undecodable', problem: `expected a coding that can be undone, found ${coding.unknown}` }
    // oxlint-disable-next-line no-await-in-loop -- each layer is made of the one around it
    const step = await undo(coding, bytes, input)
    if (step.kind !== 'body') return step
    bytes = step.body
    truncated ||= step.truncated
  }
  return { kind: 'body', body: bytes, truncated }
}

function bounded(body: Buffer, input: DecodeInput): Decoded {
  if (body.length <= input.limitBytes) return { kind: 'body', body, truncated: false }
  return input.cut ? { kind: 'body', body: body.subarray(0, input.limitBytes), truncated: true } : { kind: 'too-large' }
}

async function undo(coding: 'gzip' | 'deflate' | 'br' | 'zstd', bytes: Buffer, input: DecodeInput): Promise<Decoded> {
  if (bytes.length === 0) return { kind: 'body', body: bytes, truncated: false }
  if (isGzip(bytes)) return await undoGzip(bytes, input)
  if (coding === 'gzip') return bounded(bytes, input)
  const done = await inflateAs(coding, bytes, input)
  if (done.kind === 'whole') return { kind: 'body', body: done.body, truncated: false }
  if (done.kind === 'over') return overflow(done.body, input)
  if (looksPlain(bytes)) return bounded(bytes, input)
  if (done.kind === 'broken') {
    return { kind: 'undecodable', problem: `the bytes are not what Content-Encoding "${coding}" says` }
  }
  return input.wireCut ? { kind: 'body', body: done.body, truncated: true } : { kind: 'incomplete' }
}

/** deflate means zlib data, and raw deflate data at servers that read the name literally. */
async function inflateAs(coding: 'deflate' | 'br' | 'zstd', bytes: Buffer, input: DecodeInput): Promise<Inflated> {
  const inflate = (kind: InflateKind): Inflated | Promise<Inflated> =>
    inflateBounded({ kind, bytes, limitBytes: input.limitBytes, partial: input.wireCut })
  if (coding !== 'deflate') return await inflate(coding)
  const wrapped: Inflated = isZlib(bytes) ? await inflate('zlib') : { kind: 'broken' }
  return wrapped.kind === 'broken' ? await inflate('raw') : wrapped
}

function overflow(body: Buffer, input: DecodeInput): Decoded {
  return input.cut ? { kind: 'body', body, truncated: true } : { kind: 'too-large' }
}

function isZlib(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  return (first & 0x0f) === 8 && first >> 4 <= 7 && ((first << 8) | (bytes[1] ?? 0)) % 31 === 0
}

const MEDIA_MARKS: readonly string[] = [
  '\x89PNG',
  'GIF8',
  '\xff\xd8\xff',
  '%PDF-',
  'PK\x03\x04',
  'RIFF',
  'wOF',
  '\0\x01\0\0',
]

/** Text, or a picture or document known by its first bytes: never coded data, where the coding has no mark of its own. */
function looksPlain(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 512)
  const text = start.toString('latin1')
  if (MEDIA_MARKS.some((mark) => text.startsWith(mark))) return true
  // oxlint-disable-next-line no-control-regex -- control characters are the sign of coded data
  return !/[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(text) && isMostlyAscii(start)
}

function isMostlyAscii(bytes: Buffer): boolean {
  let high = 0
  for (const byte of bytes) if (byte >= 0x80) high++
  return high * 2 <= bytes.length || isUtf8(bytes)
}

/** The last three bytes may be a character that the excerpt cut. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
