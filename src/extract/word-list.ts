/** Finds the words of a short list in a text, whatever the case of their letters, without cutting anything out. */

export interface WordList {
  /** Place in the list of the word that stands from `from` to `to`, or −1. */
  find(text: string, from: number, to: number): number
}

/** Longer words are not looked for. */
const LENGTHS = 16
const LETTERS = 26

/** Words of at most 15 lower-case ASCII characters that begin with a letter. */
export function createWordList(words: readonly string[]): WordList {
  // most words are told from the listed ones by their first letter and their length
  const byShape: number[][] = Array.from({ length: LETTERS * LENGTHS }, () => [])
  for (const [place, word] of words.entries()) byShape[shapeOf(word.charCodeAt(0), word.length)]?.push(place)
  return {
    find(text, from, to) {
      const shape = shapeOf(text.charCodeAt(from), to - from)
      // a list is not asked for its element −1, which takes the engine the long way
      const places = shape === -1 ? undefined : byShape[shape]
      if (places === undefined) return -1
      for (const place of places) if (isWord(words[place] ?? '', text, from)) return place
      return -1
    },
  }
}

function shapeOf(first: number, length: number): number {
  const letter = (first | 0x20) - 0x61
  return length < LENGTHS && letter >= 0 && letter < LETTERS ? letter * LENGTHS + length : -1
}

/** Only ASCII letters have another case here: the Kelvin sign is no k. */
function isWord(word: string, text: string, from: number): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = text.charCodeAt(from + at)
    if ((code >= 0x41 && code <= 0x5a ? code + 0x20 : code) !== word.charCodeAt(at)) return false
  }
  return true
}
