/** Parsers of what people type as option values: pure, each answers the value or what was expected instead. */

import { STORE_URLS, storeKindOf } from './store-url.ts'

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly expected: string }

export interface Bounds {
  readonly min?: number
  readonly max?: number
}

export interface NameValue {
  readonly name: string
  readonly value: string
}

/** As src/extract/schema/contract.ts has them: a test compares the two. */
export const FIELD_TYPES = ['text', 'number', 'integer', 'boolean', 'date', 'url', 'html', 'json'] as const

/** One `--select`: a field of the item. */
export interface FieldSelector {
  readonly name: string
  /** `CSS[@attr]`, or with a prefix: `xpath:`, `re:`, `json:`, `jsonld:`, `microdata:`, `metatag:`, `opengraph:`, `readable:`. */
  readonly field: string
  /** All that fits, not only the first. */
  readonly many: boolean
  readonly as?: (typeof FIELD_TYPES)[number]
}

const DURATION_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SIZE_BYTES = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 } as const
const NUMBER_AND_UNIT = /^(\d{1,15}(?:\.\d{1,9})?|\.\d{1,9})\s*([a-z]*)$/

const value = <T>(parsed: T): Parsed<T> => ({ ok: true, value: parsed })
const wanted = (expected: string): Parsed<never> => ({ ok: false, expected })

function numberWithUnit(raw: string, units: Readonly<Record<string, number>>, bareUnit: string): number | undefined {
  const match = NUMBER_AND_UNIT.exec(raw.trim().toLowerCase())
  if (match === null) return undefined
  const unit = match[2] === '' ? bareUnit : (match[2] ?? '')
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined
  return factor === undefined ? undefined : Math.round(Number(match[1]) * factor)
}

function inBounds(amount: number | undefined, bounds: Bounds): amount is number {
  return (
    amount !== undefined &&
    Number.isSafeInteger(amount) &&
    amount >= (bounds.min ?? 0) &&
    amount <= (bounds.max ?? Number.MAX_SAFE_INTEGER)
  )
}

/** `from 1 to 9`, `of 1 or more`, `up to 9`, or nothing; bounds written by `format`. */
function boundsText(bounds: Bounds, format: (amount: number) => string): string {
  const { min = 0, max } = bounds
  if (max !== undefined) return ` from ${format(min)} to ${format(max)}`
  return min > 0 ? ` of ${format(min)} or more` : ''
}

/** Milliseconds of `250ms`, `1.5s`, `2m`, `1h`, `30d`; a bare number is seconds. */
export function parseDuration(raw: string, bounds: Bounds = {}): Parsed<number> {
  const ms = numberWithUnit(raw, DURATION_MS, 's')
  if (inBounds(ms, bounds)) return value(ms)
  return wanted(`a duration${boundsText(bounds, formatDurationOption)} such as 250ms, 1.5s, 2m, 1h or 30d`)
}

/** Bytes of `64kb`, `10mb`, `1gb`, `512b`; a bare number is bytes; units are of 1024. */
export function parseSize(raw: string, bounds: Bounds = {}): Parsed<number> {
  const bytes = numberWithUnit(raw, SIZE_BYTES, 'b')
  if (inBounds(bytes, bounds)) return value(bytes)
  return wanted(`a size${boundsText(bounds, formatSizeOption)} such as 512b, 64kb, 10mb or 1gb`)
}

/** `10000` items, or a size with its unit: what it says is told by `partOf`. */
export function parsePart(raw: string): Parsed<string> {
  const sound = parseCount(raw, { min: 1 }).ok || parseSize(raw, { min: 1 }).ok
  return sound ? value(raw.trim()) : wanted('a number of items such as 10000, or a size such as 100mb')
}

export function partOf(text: string): { readonly items?: number; readonly bytes?: number } {
  const items = parseCount(text, { min: 1 })
  if (items.ok) return { items: items.value }
  const bytes = parseSize(text, { min: 1 })
  return bytes.ok ? { bytes: bytes.value } : {}
}

/** A whole number in decimal digits; `_` between digits is allowed. */
export function parseCount(raw: string, bounds: Bounds = {}): Parsed<number> {
  const text = raw.trim()
  const count = /^\d{1,16}$|^\d{1,3}(_\d{3}){1,5}$/.test(text) ? Number(text.replaceAll('_', '')) : undefined
  if (inBounds(count, bounds)) return value(count)
  const { min = 0, max } = bounds
  return wanted(max === undefined ? `a whole number of ${min} or more` : `a whole number from ${min} to ${max}`)
}

export function parseChoice<const C extends string>(raw: string, choices: readonly C[]): Parsed<C> {
  const found = choices.find((choice) => choice === raw.trim())
  return found === undefined ? wanted(`one of ${choices.join(', ')}`) : value(found)
}

const TRUE_WORDS: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on'])
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', '0', 'no', 'off'])

export function parseBoolean(raw: string): Parsed<boolean> {
  const word = raw.trim().toLowerCase()
  if (TRUE_WORDS.has(word)) return value(true)
  return FALSE_WORDS.has(word) ? value(false) : wanted('true or false')
}

export function parseText(raw: string): Parsed<string> {
  return raw === '' || raw.includes('\0') ? wanted('a value that is not empty') : value(raw)
}

const WAITS: ReadonlySet<string> = new Set(['load', 'domcontentloaded', 'networkidle'])

/** When a rendered page is ready: the word of an event, or `selector:CSS`. */
export function parseRenderWait(raw: string): Parsed<string> {
  const isSelector = raw.startsWith('selector:') && raw.slice('selector:'.length).trim() !== ''
  if (WAITS.has(raw) || isSelector) return value(raw)
  return wanted('load, domcontentloaded, networkidle or selector:CSS')
}

/** A regular expression, as JavaScript has them, with the `u` flag when it is valid with it. */
export function parseRegex(raw: string): Parsed<RegExp> {
  if (raw === '') return wanted('a regular expression')
  try {
    return value(new RegExp(raw, 'u'))
  } catch {
    // `\-` and the like are refused by `u` alone, and common in patterns that people bring along
  }
  try {
    return value(new RegExp(raw))
  } catch (error) {
    const why = error instanceof Error ? (error.message.split(': ').at(-1) ?? '') : ''
    return wanted(`a regular expression (${why.toLowerCase()})`)
  }
}

/** `Name: value`, as in curl. */
export function parseHeader(raw: string): Parsed<NameValue> {
  const colon = raw.indexOf(':')
  const name = raw.slice(0, Math.max(0, colon)).trim()
  const text = raw.slice(colon + 1).trim()
  const sound = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && !/[\0\r\n]/.test(text)
  return sound ? value({ name, value: text }) : wanted("a header such as 'Accept-Language: en'")
}

/** `name=value`. */
export function parseCookie(raw: string): Parsed<NameValue> {
  const equals = raw.indexOf('=')
  const name = raw.slice(0, Math.max(0, equals)).trim()
  const text = raw.slice(equals + 1).trim()
  const sound = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && !/[\0\r\n;]/.test(text)
  return sound ? value({ name, value: text }) : wanted("a cookie such as 'session=abc123'")
}

const FIELD_EXAMPLES =
  "a field such as 'price=.price', 'image=img.main@src', 'links[]=a@href' or 'price as number=.price'"
const FIELD_NAME = new RegExp(String.raw`^(.+?)(\[\])?(?:\s+as\s+(${FIELD_TYPES.join('|')}))?$`, 's')
/** What would else be a field with an odd name, such as `price as numbr`. */
const UNKNOWN_TYPE = /\S\s+as\s+\S+$/

/** `name=CSS`, `name=CSS@attr`, `name=xpath:…`; `name[]=` for all that fits, `name as TYPE=` for another type than text. */
export function parseSelect(raw: string): Parsed<FieldSelector> {
  const equals = raw.indexOf('=')
  const match = FIELD_NAME.exec(raw.slice(0, Math.max(0, equals)).trim())
  const field = raw.slice(equals + 1).trim()
  const name = match?.[1]
  if (name === undefined || field === '' || /^@[\w:.-]+$/.test(field)) return wanted(FIELD_EXAMPLES)
  if (match?.[3] === undefined && UNKNOWN_TYPE.test(name)) return wanted(`a type after "as": ${FIELD_TYPES.join(', ')}`)
  const as = FIELD_TYPES.find((type) => type === match?.[3])
  return value({ name, field, many: match?.[2] !== undefined, ...(as === undefined ? {} : { as }) })
}

/** A field whose values are URLs: `CSS@ATTR`, or with a prefix as in `--select`. */
export function parseFileField(raw: string): Parsed<string> {
  const field = raw.trim()
  const isSound = /^[a-z]+:\s*\S/.test(field) || /\S@[A-Za-z_][\w:.-]*$/.test(field)
  return isSound ? value(field) : wanted(`CSS@ATTR, as in 'img@src' or 'a[href$=".pdf"]@href'`)
}

const PORT = String.raw`\d{0,5}`
const HOST = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[^:[\]\s]*)`
const CONNECT_TO = new RegExp(`^${HOST}:(${PORT}):${HOST}:(${PORT})$`)

/** `H1:P1:H2:P2` as curl's --connect-to; empty parts match or keep any; IPv6 in brackets. */
export function parseConnectTo(raw: string): Parsed<string> {
  const match = CONNECT_TO.exec(raw.trim())
  const sound =
    match !== null && [match[1], match[2]].every((port) => port === '' || (Number(port) >= 1 && Number(port) <= 65_535))
  return sound ? value(raw.trim()) : wanted('HOST1:PORT1:HOST2:PORT2, as in site.test:80:127.0.0.1:8080')
}

const PROXY_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks5h:'])

/** `http://user:password@host:port`, also https and socks5. */
export function parseProxy(raw: string): Parsed<string> {
  const url = urlOf(raw)
  const sound = url !== undefined && PROXY_SCHEMES.has(url.protocol) && url.hostname !== ''
  return sound ? value(raw.trim()) : wanted('a proxy such as http://user:password@host:8080 or socks5://host:1080')
}

/** An absolute http or https URL. */
export function parseHttpOption(raw: string): Parsed<string> {
  const url = urlOf(raw)
  const sound = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')
  return sound ? value(raw.trim()) : wanted('an http or https URL')
}

export function urlOf(raw: string): URL | undefined {
  try {
    return new URL(raw)
  } catch {
    return undefined
  }
}

/** `500ms`, `1.5s`, `2m`, `30d`: what parseDuration reads back. */
export function formatDurationOption(ms: number): string {
  if (ms === 0) return '0'
  const unit = (['d', 'h', 'm', 's'] as const).find((name) => ms % DURATION_MS[name] === 0)
  if (unit !== undefined) return `${ms / DURATION_MS[unit]}${unit}`
  return ms >= 1_000 ? `${ms / 1_000}s` : `${ms}ms`
}

/** `64kb`, `32mb`: what parseSize reads back. */
export function formatSizeOption(bytes: number): string {
  const unit = (['gb', 'mb', 'kb'] as const).find((name) => bytes > 0 && bytes % SIZE_BYTES[name] === 0)
  return unit === undefined ? `${bytes}b` : `${bytes / SIZE_BYTES[unit]}${unit}`
}

/** The address of a shared store. */
export function parseStoreUrl(raw: string): Parsed<string> {
  return storeKindOf(raw) === undefined ? wanted(STORE_URLS) : value(raw.trim())
}

/** What may stand in a cookie and in an address as it is. */
export function parseToken(raw: string): Parsed<string> {
  return /^[\w.~+-]{8,200}$/.test(raw) ? value(raw) : wanted('8 to 200 letters, digits, and . _ ~ + -')
}
