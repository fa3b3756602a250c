/** The vocabulary of a host's paths: words that turn up at every level are what relative links gone wrong are made of. */

import { hash52 } from '../util/compact-set.ts'
import { createWeightedLru } from '../util/weighted-lru.ts'

const MAX_HOSTS = 500
const MAX_WORDS_PER_HOST = 256
/** Levels at which a word must have been met to count as one that wanders. */
const MIN_LEVELS = 3
const MIN_WANDERING_WORDS = 3
/** Words in front that may stand still. */
const MAX_FIXED_WORDS = 2

export type PathWordsState = readonly (readonly [hostKey: string, words: readonly (readonly [number, number])[]])[]

export interface PathWords {
  /**
   * Takes the path in, and says whether it is made of words that wander: after at most two that stand still, three or more
   * that this host has shown at three levels or more each. Numbers are no words.
   */
  isShuffled(hostKey: string, segments: readonly string[]): boolean
  state(): PathWordsState
}

/** Memory is bounded: 500 hosts, 256 words each, those that were met longest ago and at one level only go first. */
export function createPathWords(state: PathWordsState = []): PathWords {
  const hosts = createWeightedLru<Map<number, number>>(MAX_HOSTS)
  for (const [hostKey, words] of state) hosts.set(hostKey, new Map(words), 1)

  return {
    isShuffled(hostKey, segments) {
      if (segments.length === 0) return false
      let levels = hosts.get(hostKey)
      if (levels === undefined) hosts.set(hostKey, (levels = new Map()), 1)
      let fixed = 0
      let wandering = 0
      for (const [level, segment] of segments.entries()) {
        const wanders = !/^\d*$/.test(segment) && countBits(note(levels, segment, level)) >= MIN_LEVELS
        if (wanders) wandering++
        else fixed = wandering === 0 ? fixed + 1 : Number.POSITIVE_INFINITY
      }
      return wandering >= MIN_WANDERING_WORDS && fixed <= MAX_FIXED_WORDS
    },
    state: () => [...hosts.entries()].map(([hostKey, levels]) => [hostKey, [...levels]] as const),
  }
}

/** The levels at which the word was met, one bit each. */
function note(levels: Map<number, number>, segment: string, level: number): number {
  const word = hash52(segment) % 2 ** 32
  const before = levels.get(word)
  if (before === undefined && levels.size >= MAX_WORDS_PER_HOST) makeRoom(levels)
  const after = (before ?? 0) | (1 << Math.min(level, 30))
  if (after !== before) levels.set(word, after)
  return after
}

/** Looks at a few of the oldest and lets the first go that was met at one level only; else the oldest. */
function makeRoom(levels: Map<number, number>): void {
  let looked = 0
  for (const [word, bits] of levels) {
    levels.delete(word)
    if (countBits(bits) === 1 || ++looked > 8) return
    levels.set(word, bits)
  }
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
