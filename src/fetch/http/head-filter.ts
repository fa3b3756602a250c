/** Sits where the HTTP parser reads from a socket: hands it clean heads and lets bodies through untouched. */

import type { Socket } from 'node:net'

import { cleanHead } from './clean-head.ts'
import { faultError } from './faults.ts'

/** Browsers stop at 256 KB of head too. */
export const MAX_HEAD_BYTES = 256 * 1024

export interface HeadFilter {
  /** The next bytes are the head of an answer. Called when a request is written. */
  expectHead(): void
  /** Did any byte come since `expectHead`? */
  sawBytes(): boolean
}

const NOTHING = Buffer.alloc(0)

interface Held {
  bytes: Buffer
  length: number
}

/**
 * Replaces `read` of this one socket. The parser (undici's HTTP/1) pulls every byte through it, so nothing is copied but the
 * heads that need mending, some 300 bytes; a wrapping stream would cost more than the whole request.
 */
export function attachHeadFilter(socket: Socket): HeadFilter {
  const read = socket.read.bind(socket)
  let inHead = false
  let seen = false
  const held: Held = { bytes: NOTHING, length: 0 }
  const giveUp = (why: string): null => {
    held.length = 0
    socket.destroy(faultError({ failure: 'protocol', error: why }))
    return null
  }
  const filter = (chunk: Buffer): Buffer | null => {
    const step = nextHead(held, chunk)
    if (step.kind === 'broken') return giveUp(step.problem)
    if (step.kind === 'wait') return null
    inHead = false
    // What is handed out lies in this memory: a page must not change when the next head is held.
    held.bytes = NOTHING
    return step.bytes
  }
  socket.read = (size?: number): Buffer | string | null => {
    const chunk: unknown = size === undefined ? read() : read(size)
    if (!Buffer.isBuffer(chunk)) return null
    seen = true
    return inHead ? filter(chunk) : chunk
  }
  return {
    expectHead: () => {
      inHead = true
      seen = false
      held.length = 0
    },
    sawBytes: () => seen,
  }
}

type Step =
  | { readonly kind: 'wait' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'broken'; readonly problem: string }

function nextHead(held: Held, chunk: Buffer): Step {
  let from = Math.max(0, held.length - 3)
  let bytes = held.length === 0 ? chunk : append(held, chunk)
  for (;;) {
    const junk = notHttp(bytes)
    if (junk !== undefined) return { kind: 'broken', problem: junk }
    const end = endOfHead(bytes, from)
    if (end === -1 || end > MAX_HEAD_BYTES) return hold(held, bytes)
    const head = bytes.toString('latin1', 0, end)
    const clean = cleanHead(head)
    if (clean.kind === 'broken') return clean
    const rest = bytes.subarray(end)
    held.length = 0
    if (clean.kind === 'final') {
      if (clean.head === head) return { kind: 'bytes', bytes }
      return { kind: 'bytes', bytes: Buffer.concat([Buffer.from(clean.head, 'latin1'), rest]) }
    }
    if (rest.length === 0) return { kind: 'wait' }
    bytes = rest
    from = 0
  }
}

function hold(held: Held, bytes: Buffer): Step {
  if (bytes.length > MAX_HEAD_BYTES) {
    return { kind: 'broken', problem: `expected a head of at most ${MAX_HEAD_BYTES} bytes, found more` }
  }
  if (held.length === 0) append(held, bytes)
  return { kind: 'wait' }
}

/** Grows by doubling, so that a head that comes byte by byte costs what its length is, not its square. */
function append(held: Held, chunk: Buffer): Buffer {
  const length = held.length + chunk.length
  if (length > held.bytes.length) {
    const grown = Buffer.allocUnsafeSlow(Math.max(1024, length * 2))
    held.bytes.copy(grown, 0, 0, held.length)
    held.bytes = grown
  }
  chunk.copy(held.bytes, held.length)
  held.length = length
  return held.bytes.subarray(0, length)
}

/** After the empty line, or -1. Bare line feeds count, as everywhere; empty lines before the status line do not. */
function endOfHead(bytes: Buffer, from: number): number {
  let start = 0
  while (bytes[start] === 0x0d || bytes[start] === 0x0a) start++
  const search = Math.max(from, start)
  const crlf = bytes.indexOf('\n\r\n', search, 'latin1')
  const bare = (crlf === -1 ? bytes : bytes.subarray(0, crlf)).indexOf('\n\n', search, 'latin1')
  if (bare !== -1) return bare + 2
  return crlf === -1 ? -1 : crlf + 3
}

/** A head that cannot become one is told at once and not at the deadline. */
function notHttp(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 16).replace(/^[\r\n]+/, '')
  if (start.length < 4 || /^(?:HTTP|ICY )/i.test(start)) return undefined
  return `expected an HTTP status line, found ${JSON.stringify(start.replace(/[^\x20-\x7e]+/g, '?'))}`
}
