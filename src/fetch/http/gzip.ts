/** gzip (RFC 1952): every member counts, what follows the last is padding, and a cut body is told from a whole one. */

import type { Decoded, DecodeInput } from './decoded.ts'
import { inflateBounded } from './inflate.ts'

/** Each member costs an engine: thousands of empty ones are an attack, not a page. */
const MAX_MEMBERS = 10_000

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8
}

export async function undoGzip(bytes: Buffer, input: DecodeInput): Promise<Decoded> {
  const parts: Buffer[] = []
  let room = input.limitBytes
  let rest = bytes
  while (parts.length < MAX_MEMBERS) {
    // oxlint-disable-next-line no-await-in-loop -- a member begins where the one before it ends
    const member = await nextMember(rest, room, input)
    // A later member that is none is padding that looks like one.
    if (member.kind === 'damaged')
      return parts.length > 0 ? whole(parts) : { kind: 'undecodable', problem: 'the gzip data is damaged' }
    if (member.kind === 'too-large' || member.kind === 'incomplete') return member
    parts.push(member.body)
    if (member.kind === 'cut') return { kind: 'body', body: Buffer.concat(parts), truncated: true }
    room -= member.body.length
    rest = rest.subarray(member.length)
    if (!isGzip(rest)) return whole(parts)
  }
  return { kind: 'undecodable', problem: `expected at most ${MAX_MEMBERS} gzip members, found more` }
}

type Member =
  | { readonly kind: 'member'; readonly body: Buffer; readonly length: number }
  | { readonly kind: 'cut'; readonly body: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'damaged' }

async function nextMember(bytes: Buffer, limitBytes: number, input: DecodeInput): Promise<Member> {
  const start = headerLength(bytes)
  if (start === undefined) return short(Buffer.alloc(0), input)
  const deflated = bytes.subarray(start)
  const done = await inflateBounded({ kind: 'raw', bytes: deflated, limitBytes, partial: input.wireCut })
  if (done.kind === 'over') return input.cut ? { kind: 'cut', body: done.body } : { kind: 'too-large' }
  if (done.kind === 'short') return short(done.body, input)
  if (done.kind === 'broken') return { kind: 'damaged' }
  // CRC and length, eight bytes. Their values are not checked, as in browsers; that they came tells a whole body from a cut one.
  const length = start + done.usedBytes + 8
  return bytes.length < length ? short(done.body, input) : { kind: 'member', body: done.body, length }
}

function short(body: Buffer, input: DecodeInput): Member {
  return input.wireCut ? { kind: 'cut', body } : { kind: 'incomplete' }
}

function whole(parts: readonly Buffer[]): Decoded {
  const [first] = parts
  const body = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)
  return { kind: 'body', body, truncated: false }
}

/** Where the deflate data of a member begins, or undefined when the header itself is cut. */
function headerLength(bytes: Buffer): number | undefined {
  const flags = bytes[3] ?? 0
  let at = 10
  if ((flags & 4) !== 0) at += 2 + (bytes[at] ?? 0) + ((bytes[at + 1] ?? 0) << 8)
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue
    const zero = bytes.indexOf(0, at)
    if (zero === -1) return undefined
    at = zero + 1
  }
  if ((flags & 2) !== 0) at += 2
  return at < bytes.length ? at : undefined
}
