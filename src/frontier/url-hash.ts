/** A seeded 64-bit hash of URLs that can be taken of pieces, so that no URL has to be put together to be told. */

import type { UrlPieces } from '../core/url-pieces.ts'
import type { Random } from '../util/random.ts'

export interface UrlHash {
  /** Of what was hashed last. `high` is never 0. */
  low: number
  high: number
  take(url: string): void
  takePieces(pieces: UrlPieces): void
}

/** States after prefixes are kept: the folders of the pages that are being read. */
const MAX_PREFIXES = 256
const MAX_PREFIX_LENGTH = 1024

/** Nobody who does not know the seed can look for URLs that collide. */
export function createUrlHash(random: Random): UrlHash {
  const start = Int32Array.of(Math.floor(random() * 0x100000000), Math.floor(random() * 0x100000000))
  const state = new Int32Array(2)
  const prefixes = new Map<string, Int32Array>()
  // links of one page nearly all have the same one, the very same string
  let last: { readonly prefix: string; readonly after: Int32Array } = { prefix: '', after: start }

  const stateAfter = (prefix: string): Int32Array => {
    if (prefix === last.prefix) return last.after
    last = { prefix, after: prefixes.get(prefix) ?? newStateAfter(prefix) }
    return last.after
  }
  const newStateAfter = (prefix: string): Int32Array => {
    const after = new Int32Array(2)
    mix(after, start, { text: prefix, from: 0, to: prefix.length })
    if (prefixes.size >= MAX_PREFIXES) prefixes.clear()
    if (prefix.length <= MAX_PREFIX_LENGTH) prefixes.set(prefix, after)
    return after
  }
  const finish = (): void => {
    let a = state[0] ?? 0
    let b = state[1] ?? 0
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
    hash.low = a
    hash.high = b === 0 ? 1 : b
  }
  const hash: UrlHash = {
    low: 0,
    high: 1,
    take: (url) => {
      mix(state, start, { text: url, from: 0, to: url.length })
      finish()
    },
    takePieces: (pieces) => {
      mix(state, stateAfter(pieces.prefix), pieces)
      finish()
    },
  }
  return hash
}

/** Takes a stretch of text into the hash: `from` is the state before it, `into` the one after it. */
function mix(into: Int32Array, from: Int32Array, stretch: Pick<UrlPieces, 'text' | 'from' | 'to'>): void {
  const { text, to } = stretch
  let a = from[0] ?? 0
  let b = from[1] ?? 0
  for (let at = stretch.from; at < to; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
    a ^= a >>> 15
    b ^= b >>> 13
  }
  into[0] = a
  into[1] = b
}
