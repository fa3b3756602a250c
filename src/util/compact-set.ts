/** A set of strings that keeps 52-bit hashes only: 16 to 32 bytes a member, however long the strings are. */

export interface CompactSet {
  readonly size: number
  /** True when it was not there. */
  add(text: string): boolean
  has(text: string): boolean
}

/**
 * `seed` makes the hashes those of this process: nobody outside can look for strings that collide. Two of a million
 * members are taken for one with a chance of about 1 in 10,000.
 */
export function createCompactSet(seed: number): CompactSet {
  let slots: Float64Array = new Float64Array(16)
  let size = 0

  return {
    get size() {
      return size
    },
    has: (text) => slots[slotOf(slots, hash52(text, seed))] !== 0,
    add(text) {
      const hash = hash52(text, seed)
      const slot = slotOf(slots, hash)
      if (slots[slot] !== 0) return false
      slots[slot] = hash
      size++
      if (size * 2 > slots.length) slots = grown(slots)
      return true
    },
  }
}

/** Where the hash is, or the free slot where it belongs. */
function slotOf(slots: Float64Array, hash: number): number {
  const mask = slots.length - 1
  let slot = hash % slots.length
  while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & mask
  return slot
}

function grown(slots: Float64Array): Float64Array {
  const larger = new Float64Array(slots.length * 2)
  for (const hash of slots) if (hash !== 0) larger[slotOf(larger, hash)] = hash
  return larger
}

/** 1 to 2^52: two 32-bit multiplicative hashes over the UTF-16 units, mixed. The same for the same seed everywhere. */
export function hash52(text: string, seed = 0): number {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ seed
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x9e3779b1)
    b = Math.imul(b ^ unit, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  return ((b >>> 0) & 0xfffff) * 0x100000000 + (a >>> 0) + 1
}
