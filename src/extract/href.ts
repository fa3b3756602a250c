/** From what a page writes in `href` to the URL it means: base, white space, schemes, the encoding of queries. */

import { normalizeEncoding } from '@exodus/bytes/encoding.js'
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js'
import type { HrefResolver } from './contract.ts'

/** Resolves with the platform's URL parser; without a usable base only absolute links. Null for what is no http(s) URL. */
export function createUrlResolver(base: string): HrefResolver {
  const root = URL.canParse(base) ? base : undefined
  return (href) => {
    try {
      const url = new URL(href, root)
      if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
      url.hash = ''
      return url.href
    } catch {
      return null
    }
  }
}

/** The white space of a link that URL parsing ignores: at its ends all controls and blanks, inside tabs and newlines. */
export function trimHref(href: string): string {
  let start = 0
  let end = href.length
  while (start < end && href.charCodeAt(start) <= 0x20) start++
  while (end > start && href.charCodeAt(end - 1) <= 0x20) end--
  const trimmed = href.slice(start, end)
  return /[\t\n\r]/.test(trimmed) ? trimmed.replace(/[\t\n\r]+/g, '') : trimmed
}

/** The link names a scheme that is not http or https: nothing a crawler follows. */
export function hasOtherScheme(href: string): boolean {
  const first = href.charCodeAt(0) | 0x20
  if (!(first >= 0x61 && first <= 0x7a)) return false
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(href)?.[0]
  return scheme !== undefined && !/^https?$/i.test(scheme)
}

/** Characters of a query that are escaped in URLs of http and https, besides controls and what is not ASCII. */
const QUERY_ESCAPES = ' "#\'<>'
/** In two-byte encodings the second byte can be an ASCII one; of those, also what is escaped in paths. */
const SECOND_BYTE_ESCAPES = ' "#\'<>?^`{}'

/**
 * Percent-encodes what is not ASCII in the query of a link by the encoding of its page, as browsers do: a page in
 * windows-1251 asks its server for `%E4`. Characters that the encoding has not become `%26%23…%3B`. The rest of the link
 * is left as it is.
 */
export function encodeQuery(href: string, charset: string): string {
  const query = href.indexOf('?')
  if (query < 0) return href
  const hash = href.indexOf('#')
  if (hash >= 0 && hash < query) return href
  const end = hash < 0 ? href.length : hash
  const text = href.slice(query + 1, end)
  // eslint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return href
  return href.slice(0, query + 1) + encodeText(text, charset) + href.slice(end)
}

function encodeText(text: string, charset: string): string {
  // ISO-2022-JP switches its state with escapes of ASCII: it has to see the whole
  if (charset === 'iso-2022-jp') return percentEncodeAfterEncoding(charset, text, QUERY_ESCAPES)
  return text.replace(/[^\0-\x7f]+/g, (run) => percentEncodeAfterEncoding(charset, run, SECOND_BYTE_ESCAPES))
}

/** The encoding that queries are written in, or undefined when it is UTF-8, which the URL parser does itself. */
export function queryCharset(charset: string | undefined): string | undefined {
  const name = normalizeEncoding(charset ?? 'utf-8') ?? 'utf-8'
  if (name === 'utf-8' || name === 'replacement' || name.startsWith('utf-16')) return undefined
  return name
}
