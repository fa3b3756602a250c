/** The header Content-Type as data, by the parsing rules of the WHATWG MIME Sniffing standard. */

import { normalizeEncoding } from '@exodus/bytes/encoding.js'
import { MIMEType } from 'whatwg-mimetype'

export interface ParsedType {
  /** Lower case, as in `text/html`. */
  readonly essence: string
  /** Value of the parameter charset as written. */
  readonly charset: string | undefined
}

/** Headers that were parsed already: a site says the same of all its pages. */
const parsed = new Map<string, ParsedType | undefined>()
const MAX_PARSED = 256
const MAX_PARSED_LENGTH = 200

/** Undefined for what is no MIME type at all. */
export function parseType(header: string | undefined): ParsedType | undefined {
  if (header === undefined || header.length > MAX_PARSED_LENGTH) return parseNew(header)
  const known = parsed.get(header)
  if (known !== undefined || parsed.has(header)) return known
  const type = parseNew(header)
  if (parsed.size >= MAX_PARSED) parsed.clear()
  parsed.set(header, type)
  return type
}

function parseNew(header: string | undefined): ParsedType | undefined {
  if (header === undefined) return undefined
  const type = MIMEType.parse(header)
  if (type === null) return undefined
  return { essence: type.essence, charset: type.parameters.get('charset') }
}

/**
 * One header value out of several lines of Content-Type: the last usable one, with the charset of an earlier line of the
 * same type (fetch standard, "extract a MIME type").
 */
export function joinContentTypes(lines: readonly string[]): string | undefined {
  let essence = ''
  let charset: string | undefined
  let found: string | undefined
  for (const value of splitQuoted(lines.join(', '))) {
    const type = MIMEType.parse(value)
    if (type === null || type.essence === '*/*') continue
    const own = type.parameters.get('charset')
    if (type.essence === essence && own === undefined && charset !== undefined) type.parameters.set('charset', charset)
    else charset = own
    essence = type.essence
    found = type.toString()
  }
  return found
}

/** Splits at commas outside quoted strings; a quote that is never closed reaches to the end. */
function splitQuoted(text: string): string[] {
  const values = text.match(/(?:[^,"]|"(?:[^"\\]|\\[^])*(?:"|\\?$))+/g)
  return (values ?? []).map((value) => value.trim())
}

/** Encoding that the header names, lower case by the Encoding standard's names; undefined when it names none that exists. */
export function headerCharset(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const type = parseType(header)
  // a value that is no MIME type may still name its charset: servers send `charset=gbk` alone
  const label =
    type === undefined ? /(?:^|[;\s])charset\s*=\s*"?([^\s";,]+)/i.exec(header.slice(0, 1000))?.[1] : type.charset
  return label === undefined ? undefined : encodingOf(label.replace(/^'|'$/g, ''))
}

/** Name of the encoding a label stands for, or undefined. */
export function encodingOf(label: string): string | undefined {
  return normalizeEncoding(label) ?? undefined
}

export function isXmlEssence(essence: string): boolean {
  return essence === 'text/xml' || essence === 'application/xml' || essence.endsWith('+xml')
}

/** The header names an XML type: a page of that type is XHTML. */
export function isXhtml(header: string | undefined): boolean {
  return isXmlEssence(parseType(header)?.essence ?? '')
}
