/** Guesses the encoding of a page that names none and is not UTF-8, and says nothing rather than nonsense. */

import type * as Detector from 'jschardet'
import { loadLate } from '../util/load-late.ts'

const detector = loadLate<typeof Detector>('jschardet')

/** Names of the detector → encodings of the web. What is not here no page is written in. */
const WEB_NAMES: ReadonlyMap<string, string> = new Map([
  ['windows-1250', 'windows-1250'],
  ['windows-1251', 'windows-1251'],
  ['windows-1252', 'windows-1252'],
  ['windows-1253', 'windows-1253'],
  ['windows-1254', 'windows-1254'],
  ['windows-1255', 'windows-1255'],
  ['windows-1256', 'windows-1256'],
  ['windows-1257', 'windows-1257'],
  // Cyrillic code pages that share their letters with windows-1251 and are not in use on the web
  ['kz1048', 'windows-1251'],
  ['ptcp154', 'windows-1251'],
  ['maccyrillic', 'windows-1251'],
  ['iso-8859-1', 'windows-1252'],
  ['iso-8859-2', 'iso-8859-2'],
  ['iso-8859-5', 'iso-8859-5'],
  ['iso-8859-6', 'iso-8859-6'],
  ['iso-8859-7', 'iso-8859-7'],
  ['iso-8859-8', 'windows-1255'],
  ['iso-8859-9', 'windows-1254'],
  ['koi8-r', 'koi8-r'],
  ['koi8-u', 'koi8-u'],
  ['cp874', 'windows-874'],
  ['tis-620', 'windows-874'],
  ['cp932', 'shift_jis'],
  ['shift_jis', 'shift_jis'],
  ['euc-jp', 'euc-jp'],
  ['iso-2022-jp', 'iso-2022-jp'],
  ['gb2312', 'gbk'],
  ['gb18030', 'gb18030'],
  ['big5', 'big5'],
  ['cp949', 'euc-kr'],
  ['euc-kr', 'euc-kr'],
])
const LATIN: ReadonlySet<string> = new Set([
  'windows-1250',
  'windows-1252',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
])

const MAX_SAMPLE_BYTES = 4096
/** Words further down are not looked for. */
const MAX_SEARCHED_BYTES = 2 << 20
/** Fewer bytes outside ASCII tell nothing. */
const MIN_HIGH_BYTES = 6
/** In words of other scripts nearly every byte is outside ASCII; in Latin ones few are. */
const OTHER_SCRIPT_SHARE = 0.5
const MIN_CONFIDENCE = 0.05
/** Latin alphabets differ in a few letters: more text, and clearly better than windows-1252. */
const MIN_LATIN_HIGH_BYTES = 25
const LATIN_LEAD = 1.2

/** Encoding by the Encoding standard's name, lower case; undefined when the bytes do not tell. */
export function guessCharset(bytes: Uint8Array): string | undefined {
  const sample = sampleOf(bytes)
  if (sample.bytes.includes(ESCAPE)) return guessOf(sample.bytes).find(({ name }) => name === 'iso-2022-jp')?.name
  if (sample.highBytes < MIN_HIGH_BYTES) return undefined
  const guesses = guessOf(sample.bytes)
  return sample.highBytes < sample.wordBytes * OTHER_SCRIPT_SHARE
    ? latinGuess(guesses, sample.highBytes)
    : guesses.find(({ name, confidence }) => !LATIN.has(name) && confidence >= MIN_CONFIDENCE)?.name
}

function latinGuess(guesses: readonly Guess[], highBytes: number): string | undefined {
  const best = guesses[0]
  if (best === undefined || !LATIN.has(best.name) || highBytes < MIN_LATIN_HIGH_BYTES) return undefined
  const western = guesses.find(({ name }) => name === 'windows-1252')?.confidence ?? 0
  return best.confidence >= western * LATIN_LEAD ? best.name : undefined
}

interface Guess {
  readonly name: string
  readonly confidence: number
}

function guessOf(sample: Uint8Array): readonly Guess[] {
  return detector()
    .detectAll(sample, { minimumThreshold: 0 })
    .flatMap(({ encoding, confidence }) => {
      const name = WEB_NAMES.get(encoding?.toLowerCase() ?? '')
      return name === undefined ? [] : [{ name, confidence }]
    })
}

interface Sample {
  /** Words that hold bytes outside ASCII, and their blanks. */
  readonly bytes: Uint8Array
  readonly highBytes: number
  /** Letters of those words. */
  readonly wordBytes: number
}

const ESCAPE = 0x1b
const LESS = 0x3c
const GREATER = 0x3e

/** Text outside tags, only its words with bytes outside ASCII: markup and English would drown what tells. */
function sampleOf(body: Uint8Array): Sample {
  const bytes = body.subarray(0, MAX_SEARCHED_BYTES)
  const out = new Uint8Array(MAX_SAMPLE_BYTES)
  const sample = { length: 0, highBytes: 0, wordBytes: 0 }
  let pos = 0
  while (pos < bytes.length && sample.length < MAX_SAMPLE_BYTES) {
    const byte = bytes[pos] ?? 0
    if (byte === LESS) {
      const close = bytes.indexOf(GREATER, pos)
      pos = close < 0 ? bytes.length : close + 1
      continue
    }
    const end = endOfWord(bytes, pos)
    copyWord(bytes.subarray(pos, end), { out, sample })
    pos = end
  }
  return { bytes: out.subarray(0, sample.length), highBytes: sample.highBytes, wordBytes: sample.wordBytes }
}

interface SampleDraft {
  readonly out: Uint8Array
  readonly sample: { length: number; highBytes: number; wordBytes: number }
}

/** Takes a word when it has bytes outside ASCII, or an escape of ISO-2022. */
function copyWord(word: Uint8Array, { out, sample }: SampleDraft): void {
  let high = 0
  let escapes = false
  for (const byte of word) {
    if (byte > 0x7f) high++
    escapes ||= byte === ESCAPE
  }
  if (high === 0 && !escapes) return
  const room = word.subarray(0, MAX_SAMPLE_BYTES - sample.length)
  out.set(room, sample.length)
  sample.length += room.length
  if (sample.length < MAX_SAMPLE_BYTES) out[sample.length++] = 0x20
  sample.highBytes += high
  sample.wordBytes += word.length
}

/** A word ends before white space or `<`; it has at least one byte. */
function endOfWord(bytes: Uint8Array, start: number): number {
  let end = start + 1
  for (;;) {
    const byte = bytes[end]
    if (byte === undefined || byte <= 0x20 || byte === LESS) return end
    end++
  }
}
