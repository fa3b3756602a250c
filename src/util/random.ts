/** Randomness, injected wherever a decision depends on it. */

/** A number in [0, 1). */
export type Random = () => number

export const systemRandom: Random = () => Math.random()

/** A repeatable source (mulberry32), for tests and for decisions that must come out the same again. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
