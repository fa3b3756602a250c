/** What `meta` elements and the header Refresh say: where to go on, and when. */

import { isHtmlSpace } from './tag-reader.ts'

export interface RefreshText {
  readonly seconds: number
  /** As written. */
  readonly href: string
}

const MAX_SECONDS = 2 ** 31 - 1

/**
 * Reads the content of a meta refresh by the shared declarative refresh steps of the HTML standard. Undefined for what is
 * none and for one without a URL, which only reloads the page.
 */
export function parseRefresh(content: string): RefreshText | undefined {
  let pos = skipSpace(content, 0)
  const digits = /^\d*/.exec(content.slice(pos, pos + 400))?.[0] ?? ''
  if (digits === '' && content[pos] !== '.') return undefined
  while (pos < content.length && /[\d.]/.test(content.charAt(pos))) pos++
  const rest = skipSpace(content, pos)
  const separated = content[rest] === ';' || content[rest] === ','
  if (!separated && rest === pos) return undefined
  const href = urlOf(content.slice(skipSpace(content, separated ? rest + 1 : rest)))
  return href === '' ? undefined : { seconds: Math.min(Number(digits), MAX_SECONDS), href }
}

/** `url = "x"`, `url=x` and bare `x`: a quote is closed by its like, or by the end. */
function urlOf(text: string): string {
  const value = text.replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '')
  const quote = value[0]
  if (quote !== '"' && quote !== "'") return value
  const end = value.indexOf(quote, 1)
  return value.slice(1, end < 0 ? value.length : end)
}

function skipSpace(text: string, from: number): number {
  let pos = from
  while (isHtmlSpace(text.charCodeAt(pos))) pos++
  return pos
}
