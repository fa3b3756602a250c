/** Response heads as real servers send them, made into heads that a strict parser takes: what browsers forgive, in one place. */

export type CleanHead =
  | { readonly kind: 'final'; readonly head: string }
  /** A 1xx answer: another head follows. */
  | { readonly kind: 'interim' }
  | { readonly kind: 'broken'; readonly problem: string }

const FIELD = String.raw`[!#$%&'*+\-.^_\x60|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n`
// The whole of a head without anything to forgive. 1xx, 204 and 304 need a look; so do repeated framing fields.
const CLEAN = new RegExp(String.raw`^HTTP/1\.[01] (?!204|304)[2-9]\d\d [\t\x20-\x7e\x80-\xff]*\r\n(?:${FIELD})*\r\n$`)
const STATUS_LINE = /^(?:HTTP\/(\d+)(?:\.(\d+))?|ICY)[ \t]+(\d{3})(?![0-9])[ \t]*(.*)$/i
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FRAMING = /content-length|transfer-encoding/gi
const SOUND_FRAMING = /\n(?:content-length:[ \t]*\d{1,15}|transfer-encoding:[ \t]*chunked)[ \t]*\r\n/i

/** `head` is latin1 text up to and with the empty line. */
export function cleanHead(head: string): CleanHead {
  if (CLEAN.test(head) && isSoundlyFramed(head)) return { kind: 'final', head }
  const [first = '', ...lines] = head.replace(/^(?:\r?\n)+/, '').split(/\r?\n/)
  const status = parseStatusLine(first)
  if (status === undefined) return { kind: 'broken', problem: `expected an HTTP status line, found ${excerpt(first)}` }
  const { code } = status
  if (code >= 100 && code < 200 && code !== 101) return { kind: 'interim' }
  if (code < 200) return { kind: 'broken', problem: `expected a status of 200 or more, found ${code}` }
  const framed = frame(parseFields(lines), code)
  if (typeof framed === 'string') return { kind: 'broken', problem: framed }
  const text = framed.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return { kind: 'final', head: `HTTP/${status.version} ${code} ${status.reason}\r\n${text}\r\n` }
}

function isSoundlyFramed(head: string): boolean {
  const fields = head.match(FRAMING)?.length ?? 0
  return fields === 0 || (fields === 1 && SOUND_FRAMING.test(head))
}

interface StatusLine {
  readonly version: '1.0' | '1.1'
  readonly code: number
  readonly reason: string
}

function parseStatusLine(line: string): StatusLine | undefined {
  const match = STATUS_LINE.exec(line)
  if (match === null) return undefined
  const [, major, minor, code, reason = ''] = match
  // Radio servers say ICY and mean HTTP/1.0.
  const old = major === undefined || (major === '1' && minor === '0')
  return { version: old ? '1.0' : '1.1', code: Number(code), reason: visible(reason) }
}

type Field = readonly [name: string, value: string]

/** Lines without a colon and names that are none are dropped; folded lines are joined; control characters go. */
function parseFields(lines: readonly string[]): Field[] {
  const fields: Field[] = []
  for (const line of lines) {
    if (line === '') continue
    const last = fields.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) fields[fields.length - 1] = [last[0], `${last[1]} ${visible(line)}`.trim()]
      continue
    }
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim()
    const value = line.slice(colon + 1)
    // RFC 6265bis, 5.6: a cookie with a control character is refused whole, never mended.
    const refused = name.toLowerCase() === 'set-cookie' && visible(value) !== value.trim()
    if (TOKEN.test(name) && !refused) fields.push([name, visible(value)])
  }
  return fields
}

function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, '').trim()
}

/** One framing rule a response (RFC 9112, 6.3): chunked wins over a length, equal lengths are one, a length that is none is none. */
function frame(fields: readonly Field[], code: number): Field[] | string {
  const rest = fields.filter(([name]) => !/^(?:content-length|transfer-encoding)$/i.test(name))
  if (code === 204 || code === 304) return rest
  if (valuesOf(fields, 'transfer-encoding').at(-1) === 'chunked') return [...rest, ['Transfer-Encoding', 'chunked']]
  const lengths = new Set(valuesOf(fields, 'content-length').filter((value) => /^\d{1,15}$/.test(value)))
  if (lengths.size > 1) return `expected one Content-Length, found ${[...lengths].slice(0, 4).join(' and ')}`
  const [length] = lengths
  return length === undefined ? rest : [...rest, ['Content-Length', length]]
}

function valuesOf(fields: readonly Field[], wanted: string): readonly string[] {
  return fields
    .filter(([name]) => name.toLowerCase() === wanted)
    .flatMap(([, value]) => value.split(','))
    .map((value) => value.trim().toLowerCase())
    .filter((value) => value !== '')
}

function excerpt(line: string): string {
  return JSON.stringify(visible(line).slice(0, 60))
}
