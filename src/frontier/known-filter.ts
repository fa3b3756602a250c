/** A bounded memory of URLs that the store is known to hold, so that most links of a page never reach it. */

import type { UrlPieces } from '../core/url-pieces.ts'
import type { Random } from '../util/random.ts'
import { createUrlHash, type UrlHash } from './url-hash.ts'

/**
 * Remembers URLs with the depth at which the store holds them. It forgets the oldest when full (two generations), so a
 * miss means nothing; a hit means that the store has the URL at this depth or a smaller one. Identity is a 64-bit hash
 * seeded per process, so that no page can be made to collide with another on purpose: the chance that any one URL of
 * ten million is mistaken for another is below 1 in 10^6.
 */
export interface KnownFilter {
  has(url: string, depth: number): boolean
  /** The same for a URL that has not been put together. */
  hasPieces(pieces: UrlPieces, depth: number): boolean
  note(url: string, depth: number): void
}

interface Generation {
  /** Three words a slot, side by side because they are read together: two of the hash, the depth. */
  readonly words: Int32Array
  used: number
}

const [LOW, HIGH, DEPTH, WORDS] = [0, 1, 2, 3]

/** A table begins small, so that it stays in the processor's cache while it can. */
const FIRST_SLOTS = 1 << 14
const MAX_LOAD = 0.7

/** `capacity`: slots of one generation, rounded up to a power of two; 12 bytes each, two generations. Default 2^19. */
export function createKnownFilter({
  capacity = 1 << 19,
  random,
}: {
  readonly capacity?: number
  readonly random: Random
}): KnownFilter {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(16, capacity)))
  const hash = createUrlHash(random)
  let young = newGeneration(Math.min(slots, FIRST_SLOTS))
  let old = newGeneration(16)

  function holds(depth: number): boolean {
    const at = find(young, hash)
    if (young.words[at + HIGH] === hash.high) return (young.words[at + DEPTH] ?? 0) <= depth
    const older = find(old, hash)
    if (old.words[older + HIGH] !== hash.high) return false
    const known = old.words[older + DEPTH] ?? 0
    put(known)
    return known <= depth
  }

  return {
    has(url, depth) {
      hash.take(url)
      return holds(depth)
    },
    hasPieces(pieces, depth) {
      hash.takePieces(pieces)
      return holds(depth)
    },
    note(url, depth) {
      hash.take(url)
      const { words } = young
      const at = find(young, hash)
      if (words[at + HIGH] === hash.high) words[at + DEPTH] = Math.min(words[at + DEPTH] ?? depth, depth)
      else put(depth)
    },
  }

  function put(depth: number): void {
    const size = young.words.length / WORDS
    if (young.used >= size * MAX_LOAD) {
      if (size < slots) young = grown(young)
      else {
        old = young
        young = newGeneration(Math.min(slots, FIRST_SLOTS))
      }
    }
    const { words } = young
    const at = find(young, hash)
    words[at + LOW] = hash.low
    words[at + HIGH] = hash.high
    words[at + DEPTH] = depth
    young.used++
  }
}

function newGeneration(slots: number): Generation {
  return { words: new Int32Array(slots * WORDS), used: 0 }
}

function grown({ words, used }: Generation): Generation {
  const larger = { ...newGeneration((words.length / WORDS) * 2), used }
  for (let at = 0; at < words.length; at += WORDS) {
    const low = words[at + LOW] ?? 0
    const high = words[at + HIGH] ?? 0
    if (high === 0) continue
    const to = find(larger, { low, high })
    larger.words[to + LOW] = low
    larger.words[to + HIGH] = high
    larger.words[to + DEPTH] = words[at + DEPTH] ?? 0
  }
  return larger
}

/** Where the slot begins that holds the key, or the empty one where it would go. */
function find({ words }: Generation, { low, high }: Pick<UrlHash, 'low' | 'high'>): number {
  const { length } = words
  // the number of slots is a power of two
  let at = (low & (length / WORDS - 1)) * WORDS
  while (words[at + HIGH] !== 0 && (words[at + HIGH] !== high || words[at + LOW] !== low)) {
    at += WORDS
    if (at === length) at = 0
  }
  return at
}
