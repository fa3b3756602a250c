/** `--recrawl`: which pages a crawl that is at its end goes through once more. */

import type { RecrawlMode } from '../recrawl/contract.ts'
import { parseBoolean, parseDuration, type Parsed } from './parse.ts'

/** `off`, `all`, `sitemap`, `adaptive`, or a duration as people write it. */
export type RecrawlWord = string

const RECRAWL_WORDS = ['off', 'all', 'sitemap', 'adaptive'] as const

/** A yes is `all`, and so is the flag alone. */
export function parseRecrawl(raw: string): Parsed<RecrawlWord> {
  const word = raw.trim().toLowerCase()
  if (word === '') return { ok: true, value: 'all' }
  if ((RECRAWL_WORDS as readonly string[]).includes(word)) return { ok: true, value: word }
  if (parseDuration(word, { min: 1 }).ok) return { ok: true, value: word }
  const yes = parseBoolean(word)
  if (yes.ok) return { ok: true, value: yes.value ? 'all' : 'off' }
  return { ok: false, expected: 'all, sitemap, adaptive, or an age such as 12h or 7d' }
}

/** Undefined: it is off. A library's caller may have said true or false. */
export function recrawlModeOf(
  value: string | boolean,
): { readonly word: RecrawlWord; readonly mode: RecrawlMode } | undefined {
  const parsed = parseRecrawl(String(value))
  if (!parsed.ok || parsed.value === 'off') return undefined
  const word = parsed.value
  if (word === 'all' || word === 'sitemap' || word === 'adaptive') return { word, mode: { kind: word } }
  const age = parseDuration(word)
  return age.ok ? { word, mode: { kind: 'age', ms: age.value } } : undefined
}
