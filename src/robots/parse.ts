/** Reads robots.txt by RFC 9309, as tolerant of damage as the crawlers that sites are written for. */

/** Bytes that are read: RFC 9309, 2.5 asks for at least 500 KiB. */
export const MAX_ROBOTS_BYTES = 500 * 1024
/** Longest crawl delay that is believed, in seconds; a longer one counts as this. */
const MAX_CRAWL_DELAY_SECONDS = 86_400
const MAX_SITEMAPS = 1000

export interface RobotsRule {
  readonly allow: boolean
  /** The path pattern with its escapes made equal: see `normalisePath`. Never empty. */
  readonly pattern: string
  /** As written, without blanks around it and comment. */
  readonly text: string
  /** Counted from 1. */
  readonly line: number
}

export interface RobotsGroup {
  /** Product tokens in lower case, with what was written; `*` stands for everyone. */
  readonly agents: readonly { readonly token: string; readonly text: string }[]
  readonly rules: readonly RobotsRule[]
}

/**
 * A crawl delay, in seconds, and the tokens it is for. Kept apart from the groups: a delay between two agent lines ends
 * what it is for, but, being no rule of RFC 9309, not the group.
 */
export interface RobotsDelay {
  readonly tokens: readonly string[]
  readonly seconds: number
}

export interface ParsedRobots {
  readonly groups: readonly RobotsGroup[]
  readonly delays: readonly RobotsDelay[]
  /** As written. */
  readonly sitemaps: readonly string[]
}

/** Never throws: what cannot be read is passed over, line by line. Bytes that are no UTF-8 spoil their own line only. */
export function parseRobots(input: string | Uint8Array): ParsedRobots {
  const reading: Reading = {
    groups: [],
    delays: [],
    sitemaps: new Set(),
    tokens: [],
    isGroupClosed: true,
    isDelayClosed: true,
  }
  for (const line of readLines(decode(input))) TAKE[line.key](reading, line)
  return { groups: reading.groups, delays: reading.delays, sitemaps: [...reading.sitemaps] }
}

/**
 * The product token that an agent goes by in robots.txt: the letters, digits, `_`, `-` and bytes outside ASCII that it
 * begins with, in lower case. `agent` holds one byte a character.
 */
export function tokenOf(agent: string): string {
  if (/^\*(?:\s|$)/.test(agent)) return '*'
  return (/^[A-Za-z0-9_\u0080-\u00ff-]+/.exec(agent)?.[0] ?? agent).toLowerCase()
}

/**
 * Makes escapes comparable (RFC 9309, 2.2.2): those of unreserved characters decoded, others in upper case, and escaped
 * whatever no URL holds as it is. `text` holds one byte a character.
 */
export function normalisePath(text: string): string {
  if (!NEEDS_WORK.test(text)) return text
  return text.replace(ESCAPE_OR_BYTE, (found) => {
    if (found.length === 1) return `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(character) ? character : found.toUpperCase()
  })
}

/** Only the last `$` is an anchor; one before stands for itself. */
function patternOf(value: string): string {
  const pattern = normalisePath(value)
  const end = pattern.length - 1
  return pattern.slice(0, end).replaceAll('$', '%24') + pattern.slice(end)
}

// Reserved and unreserved characters of RFC 3986, but for the quote, which the URL standard escapes in queries only.
const NEEDS_WORK = /[^A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=]/
const ESCAPE_OR_BYTE = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]/g

type Key = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay'

interface Group {
  readonly agents: { token: string; text: string }[]
  readonly rules: RobotsRule[]
}

interface Reading {
  readonly groups: Group[]
  readonly delays: { readonly tokens: readonly string[]; seconds: number }[]
  readonly sitemaps: Set<string>
  /** Of the agent lines in a row that stand last. */
  tokens: string[]
  isGroupClosed: boolean
  isDelayClosed: boolean
}

interface Line {
  readonly key: Key
  readonly value: string
  readonly text: string
  readonly line: number
}

// The spellings that others accept, too.
const KEYS: ReadonlyMap<string, Key> = new Map([
  ...['user-agent', 'useragent', 'user agent'].map((key) => [key, 'user-agent'] as const),
  ...['disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'].map((key) => [key, 'disallow'] as const),
  ...['sitemap', 'site-map'].map((key) => [key, 'sitemap'] as const),
  ...['crawl-delay', 'crawldelay', 'crawl delay'].map((key) => [key, 'crawl-delay'] as const),
  ['allow', 'allow'],
])

function* readLines(text: string): Generator<Line> {
  let start = 0
  for (let line = 1; start < text.length; line++) {
    let end = start
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++
    const read = readLine(text.slice(start, end), line)
    if (read !== undefined) yield read
    start = text.startsWith('\r\n', end) ? end + 2 : end + 1
  }
}

function readLine(whole: string, line: number): Line | undefined {
  const hash = whole.indexOf('#')
  const text = trimBlanks(hash === -1 ? whole : whole.slice(0, hash))
  const colon = text.indexOf(':')
  const end = colon === -1 ? text.search(/[ \t]/) : colon
  // The longest key has 11 letters; a bound keeps long lines of text cheap.
  if (end <= 0 || end > 40) return undefined
  const key = KEYS.get(trimBlanks(text.slice(0, end)).toLowerCase())
  if (key === undefined) return undefined
  const value = trimBlanks(text.slice(end + 1))
  // Without a colon a line counts only when it is two words.
  return colon === -1 && /[ \t]/.test(value) ? undefined : { key, value, text, line }
}

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

const TAKE: Readonly<Record<Key, (reading: Reading, line: Line) => void>> = {
  'user-agent': takeAgent,
  allow: takeRule,
  disallow: takeRule,
  'crawl-delay': takeDelay,
  sitemap: ({ sitemaps }, { value }) => {
    if (sitemaps.size < MAX_SITEMAPS && value !== '') sitemaps.add(utf8(value))
  },
}

function takeAgent(reading: Reading, { value }: Line): void {
  const token = tokenOf(value)
  if (reading.isGroupClosed) reading.groups.push({ agents: [], rules: [] })
  if (reading.isDelayClosed) reading.tokens = []
  reading.isGroupClosed = reading.isDelayClosed = false
  reading.groups.at(-1)?.agents.push({ token, text: utf8(value) })
  reading.tokens.push(token)
}

/** An empty `Disallow:` says that nothing is disallowed: it closes the group and matches nothing. */
function takeRule(reading: Reading, { key, value, text, line }: Line): void {
  reading.isGroupClosed = reading.isDelayClosed = true
  if (value === '') return
  reading.groups.at(-1)?.rules.push({ allow: key === 'allow', pattern: patternOf(value), text: utf8(text), line })
}

function takeDelay(reading: Reading, { value }: Line): void {
  reading.isDelayClosed = true
  if (reading.tokens.length === 0 || !/^(?:\d{1,10}(?:\.\d{0,10})?|\.\d{1,10})$/.test(value)) return
  const seconds = Math.min(Number(value), MAX_CRAWL_DELAY_SECONDS)
  const last = reading.delays.at(-1)
  // One entry for each run of agent lines, the longest delay of several: work stays linear in the file.
  if (last?.tokens === reading.tokens) last.seconds = Math.max(last.seconds, seconds)
  else reading.delays.push({ tokens: reading.tokens, seconds })
}

/** One character a byte, at most 500 KiB, without byte order mark. A line that the limit cuts is left out. */
function decode(input: string | Uint8Array): string {
  const bytes = typeof input === 'string' ? Buffer.from(input.slice(0, MAX_ROBOTS_BYTES + 1), 'utf8') : bufferOf(input)
  const mark = bytes.toString('latin1', 0, 3)
  const isUtf16 = mark.startsWith('\u00ff\u00fe') || mark.startsWith('\u00fe\u00ff')
  // The mark alone proves nothing: some put it before plain bytes.
  if (isUtf16 && bytes.subarray(2, 200).includes(0)) return decodeUtf16(bytes)
  const start = isUtf16 ? 2 : mark === '\u00ef\u00bb\u00bf' ? 3 : 0
  const text = bytes.toString('latin1', start, MAX_ROBOTS_BYTES + start)
  if (bytes.length - start <= MAX_ROBOTS_BYTES) return text
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
}

function decodeUtf16(bytes: Buffer): string {
  const end = Math.min(bytes.length, MAX_ROBOTS_BYTES) & ~1
  const units = Buffer.from(bytes.subarray(2, end))
  return bytesOf((bytes[0] === 0xfe ? units.swap16() : units).toString('utf16le'))
}

/** One character for each byte of the text in UTF-8. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Back from one character a byte to what was written. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8')
}
