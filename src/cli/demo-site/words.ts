/** The words that the demo site is written with, and texts made of them, the same every time. */

import { seededRandom } from '../../util/random.ts'

export const KINDS = [
  'kettle',
  'lantern',
  'rucksack',
  'tent',
  'compass',
  'flask',
  'stove',
  'blanket',
  'headlamp',
  'map case',
] as const
export const TRAITS = [
  'light',
  'folding',
  'copper',
  'storm-proof',
  'two-person',
  'insulated',
  'hand-made',
  'compact',
  'heavy-duty',
  'quiet',
] as const
export const AUTHORS = ['Ada Brandt', 'Jonas Weir', 'Mila Okafor', 'Teo Lindqvist', 'Ruth Amsel', 'Ivo Marek'] as const
export const TAGS = ['trails', 'repair', 'winter', 'cooking', 'navigation', 'care', 'rivers', 'night'] as const
export const CHAPTERS = ['packing', 'fire', 'water', 'shelter', 'weather', 'first-aid', 'knots', 'food'] as const

const SUBJECTS = [
  'the path',
  'a good knot',
  'the weather',
  'an old map',
  'the river',
  'a small fire',
  'every strap',
  'the morning frost',
  'a dry sock',
  'the last hut',
]
const VERBS = [
  'holds',
  'changes',
  'teaches',
  'hides',
  'carries',
  'repairs',
  'measures',
  'outlasts',
  'follows',
  'forgives',
]
const OBJECTS = [
  'more than it seems',
  'the careless packer',
  'what the forecast left out',
  'a long day',
  'the first mistake',
  'whoever starts early',
  'half of the weight',
  'the way back',
  'a cold night',
  'the plan',
]
const TAILS = [
  '',
  ', as a rule',
  ', if you let it',
  ' in the second week',
  ' before noon',
  ', and nobody minds',
  ' more often than not',
  ' above the tree line',
]

/** Something of a list, chosen by a number. */
export function pick<T>(list: readonly T[], index: number, fallback: T): T {
  return list[((index % list.length) + list.length) % list.length] ?? fallback
}

export function paragraphs(seed: number, count: number): string[] {
  const random = seededRandom(seed)
  const of = (list: readonly string[]): string => pick(list, Math.floor(random() * list.length), '')
  const sentence = (): string => {
    const text = `${of(SUBJECTS)} ${of(VERBS)} ${of(OBJECTS)}${of(TAILS)}.`
    return text.charAt(0).toUpperCase() + text.slice(1)
  }
  return Array.from({ length: count }, () => Array.from({ length: 3 + Math.floor(random() * 4) }, sentence).join(' '))
}

/** `storm-proof map case` becomes `storm-proof-map-case`. */
export const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
