/** The headers Link (RFC 8288) and Refresh as data. */

import { parseRefresh, type RefreshText } from './meta.ts'

export interface HeaderLink {
  /** As written between `<` and `>`. */
  readonly href: string
  /** Relation types in order; lower case unless they are URLs. Empty when there is none. */
  readonly rels: readonly string[]
  /** Other parameters by lower-case name, the first of two with one name. */
  readonly params: ReadonlyMap<string, string>
}

const MAX_LINKS = 1000
const MAX_HEADER_CHARS = 64 * 1024

/**
 * Reads the values of all Link headers of an answer. What is no link is passed over, up to the next comma; at most 1,000
 * links of 64 KiB of text.
 */
export function parseLinkHeader(values: readonly string[]): HeaderLink[] {
  const text = values
    .join(', ')
    .slice(0, MAX_HEADER_CHARS)
    .replace(/\r?\n[ \t]+/g, '')
  const links: HeaderLink[] = []
  let pos = 0
  while (pos < text.length && links.length < MAX_LINKS) {
    const open = /[<]/.test(text[skipBlank(text, pos)] ?? '') ? skipBlank(text, pos) : -1
    const close = open < 0 ? -1 : text.indexOf('>', open)
    if (close < 0) {
      const comma = text.indexOf(',', pos)
      pos = comma < 0 ? text.length : comma + 1
      continue
    }
    const { params, end } = readParams(text, close + 1)
    links.push(linkOf(text.slice(open + 1, close).trim(), params))
    pos = end
  }
  return links
}

/** Reads the value of a Refresh header; undefined when it names no URL. */
export function parseRefreshHeader(value: string | undefined): RefreshText | undefined {
  return value === undefined ? undefined : parseRefresh(value)
}

function linkOf(href: string, params: Map<string, string>): HeaderLink {
  const rels = (params.get('rel') ?? '')
    .split(/\s+/)
    .filter((rel) => rel !== '')
    .map((rel) => (rel.includes(':') ? rel : rel.toLowerCase()))
  params.delete('rel')
  return { href, rels, params }
}

const PARAM = /[ \t]*;[ \t]*([^\s;,="<>]*)[ \t]*(=[ \t]*)?/y
const BARE_VALUE = /[^\s;,]*/y
const QUOTED_VALUE = /"((?:[^"\\]|\\[^])*)(?:"|$)/y

/** Reads `; name=value` until something else comes; answers where the next link may begin. */
function readParams(text: string, from: number): { readonly params: Map<string, string>; readonly end: number } {
  const params = new Map<string, string>()
  let pos = from
  for (;;) {
    const param = matchAt(PARAM, text, pos)
    if (param === null) break
    pos += param[0].length
    const value = param[2] === undefined ? '' : readValue(text, pos)
    pos += typeof value === 'string' ? 0 : value.length
    const name = (param[1] ?? '').toLowerCase()
    if (name !== '' && !params.has(name)) params.set(name, typeof value === 'string' ? value : value.text)
  }
  const comma = text.indexOf(',', pos)
  return { params, end: comma < 0 ? text.length : comma + 1 }
}

function readValue(text: string, pos: number): { readonly text: string; readonly length: number } {
  const quoted = matchAt(QUOTED_VALUE, text, pos)
  if (quoted !== null) return { text: (quoted[1] ?? '').replace(/\\([^])/g, '$1'), length: quoted[0].length }
  const bare = matchAt(BARE_VALUE, text, pos)?.[0] ?? ''
  return { text: bare, length: bare.length }
}

function matchAt(pattern: RegExp, text: string, pos: number): RegExpExecArray | null {
  pattern.lastIndex = pos
  return pattern.exec(text)
}

function skipBlank(text: string, from: number): number {
  let pos = from
  while (text[pos] === ' ' || text[pos] === '\t' || text[pos] === '\n' || text[pos] === '\r') pos++
  return pos
}
