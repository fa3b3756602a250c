/** The pages that processes put into a download cache on a server: told by their number alone, so that a torn one is found out. */

import type { NewCacheEntry } from '../../src/cache/contract.ts'

/** So many are on their way at a time. */
export const WRITES_AT_ONCE = 4
/** Every fourth is kept in parts. */
const LARGE_EVERY = 4
export const LARGE_BYTES = 3 * 1024 * 1024

export interface CachePage {
  readonly entry: Omit<NewCacheEntry, 'key'>
  readonly body: Uint8Array
}

export function cachePage(number: number, nowMs: number): CachePage {
  const bytes = number % LARGE_EVERY === 0 ? LARGE_BYTES + number : 2000 + (number % 7) * 5000
  const entry = {
    url: `https://h${number % 5}.test/${number}`,
    method: 'GET',
    status: 200,
    headers: [['content-type', 'image/png']] as const,
    fetchedAtMs: nowMs,
    checkedAtMs: nowMs,
    wireBytes: bytes,
  }
  return { entry, body: noise(bytes, number + 1) }
}

/** Does not pack. `seed`: not 0. */
export function noise(bytes: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(bytes / 4))
  let state = seed
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return new Uint8Array(words.buffer, 0, bytes)
}
