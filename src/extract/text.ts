/** From pieces of a page to text: character references decoded, white space folded. */

import { decodeHTML, decodeHTMLAttribute } from 'entities'

/** By the rules for attributes, where `&copy=` stays as it is. */
export function decodeAttribute(raw: string): string {
  const text = raw.includes('\0') ? raw.replaceAll('\0', '\u{fffd}') : raw
  return text.includes('&') ? decodeHTMLAttribute(text) : text
}

/** By the rules for text between tags. */
export function decodeMarkupText(raw: string): string {
  return raw.includes('&') ? decodeHTML(raw) : raw
}

/** Runs of HTML white space become one blank; none at the ends. A no-break space is a character like others. */
export function foldSpace(text: string): string {
  return trimSpace(text.replace(/[\t\n\f\r ]+/g, ' '))
}

function trimSpace(text: string): string {
  const start = text.startsWith(' ') ? 1 : 0
  const end = text.length > start && text.endsWith(' ') ? text.length - 1 : text.length
  return text.slice(start, end)
}

/** Words between white space and commas, lower case. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '')
}
