/** From a text of a page to a value of the type that was asked for; null where it is none. Pure. */

import type { JsonValue } from '../../core/json.ts'
import type { FieldType } from './contract.ts'

/** Everything but `text` and `html`, which need no look at the text. */
export function convertText(text: string, as: FieldType, baseUrl: string): JsonValue {
  switch (as) {
    case 'number':
      return numberOf(text)
    case 'integer':
      return integerOf(text)
    case 'boolean':
      return booleanOf(text)
    case 'date':
      return dateOf(text)
    case 'url':
      return urlOf(text, baseUrl)
    case 'json':
      return parseJson(text) ?? null
    default:
      return text
  }
}

/** Longer than any number with its marks. */
const MAX_NUMBER_CHARS = 400

/**
 * The first number in the text: `1,299.00`, `1.299,00 €`, `1 299`, `-3`, `.5`. Of two kinds of marks the last is the decimal
 * one. Of one kind: several group digits; a single comma before exactly three digits groups them, any other single mark is
 * decimal.
 */
function numberOf(text: string): number | null {
  const match =
    /([-+\u2212]?)\s?((?:\d|[.,]\d)(?:[\d.,'\u2019\u00a0\u202f]|[ ](?=\d{3}(?!\d)))*)(e[-+]?\d{1,3})?/i.exec(text)
  const [, sign = '', digits = '', exponent = ''] = match ?? []
  if (digits === '' || digits.length > MAX_NUMBER_CHARS) return null
  const plain = digits.replace(/['\u2019\u00a0\u202f ]/g, '').replace(/[.,]+$/, '')
  const value = Number(withDecimalPoint(plain) + exponent)
  return Number.isFinite(value) ? (sign === '' || sign === '+' ? value : -value) : null
}

function withDecimalPoint(digits: string): string {
  const marks = digits.match(/[.,]/g) ?? []
  const last = marks.at(-1)
  if (last === undefined) return digits
  const isMixed = marks.some((mark) => mark !== last)
  const at = digits.lastIndexOf(last)
  const groups = !isMixed && (marks.length > 1 || (last === ',' && digits.length - at === 4 && at > 0))
  const whole = (groups ? digits : digits.slice(0, at)).replace(/[.,]/g, '')
  return groups ? whole : `${whole}.${digits.slice(at + 1)}`
}

function integerOf(text: string): number | null {
  const value = numberOf(text)
  return Number.isSafeInteger(value) ? value : null
}

const TRUE_WORDS: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1'])
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', 'no', 'off', '0'])

function booleanOf(text: string): boolean | null {
  const word = text.trim().toLowerCase()
  if (TRUE_WORDS.has(word)) return true
  return FALSE_WORDS.has(word) ? false : null
}

/** What names no zone would mean another instant on every machine. */
function dateOf(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.length > 100) return null
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(trimmed)
  if (!isDay && !/(?:Z|GMT|UTC|[+-]\d{2}:?\d{2})(?:\s*\([^)]*\))?$/i.test(trimmed)) return null
  const date = new Date(trimmed)
  if (Number.isNaN(date.getTime())) return null
  return isDay ? trimmed : date.toISOString()
}

function urlOf(text: string, baseUrl: string): string | null {
  const trimmed = text.trim()
  return trimmed !== '' && URL.canParse(trimmed, baseUrl) ? new URL(trimmed, baseUrl).href : null
}

export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
