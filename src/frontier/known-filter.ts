/** A bounded memory of URLs that the store is known to hold, so that most links of a page never reach it. */

import type { Random } from '../util/random.ts'

/**
 * Remembers URLs with the depth at which the store holds them. It forgets the oldest when full (two generations), so a
 * miss means nothing; a hit means that the store has the URL at this depth or a smaller one. Identity is a 64-bit hash
 * seeded per process, so that no page can be made to collide with another on purpose: the chance that any one URL of
 * ten million is mistaken for another is below 1 in 10^6.
 */
export interface KnownFilter {
  has(url: string, depth: number): boolean
  note(url: string, depth: number): void
}

interface Generation {
  readonly low: Uint32Array
  readonly high: Uint32Array
  readonly depth: Uint32Array
  used: number
}

/** `capacity`: slots of one generation, rounded up to a power of two; 12 bytes each, two generations. Default 2^19. */
export function createKnownFilter({
  capacity = 1 << 19,
  random,
}: {
  readonly capacity?: number
  readonly random: Random
}): KnownFilter {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(16, capacity)))
  const full = Math.floor(slots * 0.7)
  const seedLow = Math.floor(random() * 0x100000000)
  const seedHigh = Math.floor(random() * 0x100000000)
  let young = newGeneration(slots)
  let old = newGeneration(16)
  let low = 0
  let high = 0

  function hash(url: string): void {
    let a = seedLow
    let b = seedHigh
    for (let i = 0; i < url.length; i++) {
      const code = url.charCodeAt(i)
      a = Math.imul(a ^ code, 2654435761)
      b = Math.imul(b ^ code, 1597334677)
      a ^= a >>> 15
      b ^= b >>> 13
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
    low = a >>> 0
    // 0 marks an empty slot
    high = b >>> 0 || 1
  }

  return {
    has(url, depth) {
      hash(url)
      const slot = find(young, low, high)
      if (young.high[slot] === high) return (young.depth[slot] ?? 0) <= depth
      const older = find(old, low, high)
      if (old.high[older] !== high) return false
      const known = old.depth[older] ?? 0
      put(low, high, known)
      return known <= depth
    },
    note(url, depth) {
      hash(url)
      const slot = find(young, low, high)
      if (young.high[slot] === high) young.depth[slot] = Math.min(young.depth[slot] ?? depth, depth)
      else put(low, high, depth)
    },
  }

  function put(keyLow: number, keyHigh: number, depth: number): void {
    if (young.used >= full) {
      old = young
      young = newGeneration(slots)
    }
    const slot = find(young, keyLow, keyHigh)
    young.low[slot] = keyLow
    young.high[slot] = keyHigh
    young.depth[slot] = depth
    young.used++
  }
}

function newGeneration(slots: number): Generation {
  return { low: new Uint32Array(slots), high: new Uint32Array(slots), depth: new Uint32Array(slots), used: 0 }
}

/** The slot that holds the key, or the empty one where it would go. */
function find(generation: Generation, low: number, high: number): number {
  const mask = generation.low.length - 1
  let slot = low & mask
  while (generation.high[slot] !== 0 && (generation.high[slot] !== high || generation.low[slot] !== low)) {
    slot = (slot + 1) & mask
  }
  return slot
}
