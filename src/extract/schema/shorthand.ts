/** Fields written as one text: `CSS[@attr]`, `xpath:…`, `re:…`, `json:…` and so on. Pure. */

import type { OneField } from './contract.ts'

/** `CSS@attr`; `@attr` alone is an attribute of the element around it. */
export interface CssAttr {
  readonly css: string
  /** Undefined: the text. */
  readonly attr: string | undefined
}

export function parseCssAttr(text: string): CssAttr {
  const match = /^(.*?)@([A-Za-z_][\w:.-]*)$/s.exec(text.trim())
  return { css: (match?.[1] ?? text).trim() || ':scope', attr: match?.[2] }
}

const PREFIXES: Readonly<Record<string, (rest: string) => Exclude<OneField, string>>> = {
  xpath: (rest) => ({ xpath: rest }),
  re: (rest) => ({ regex: rest }),
  json: (rest) => {
    const { head, path } = splitPath(rest)
    return { json: path ?? '$', ...(head === '' ? {} : { in: head }) }
  },
  jsonld: (rest) => {
    const { head, path } = splitPath(rest)
    return { jsonld: head === '' ? '*' : head, ...(path === undefined ? {} : { path }) }
  },
  microdata: (rest) => {
    const { head, path } = splitPath(rest)
    return { microdata: head === '' ? '*' : head, ...(path === undefined ? {} : { path }) }
  },
  // not `meta:`, which begins selectors such as meta:first-child
  metatag: (rest) => ({ metatag: rest }),
  opengraph: () => ({ opengraph: true }),
  readable: (rest) => ({ readable: (rest === '' ? 'text' : rest) as 'text' }),
}

/** `script#data $.a` is what stands before the JSONPath, and the path. */
function splitPath(text: string): { readonly head: string; readonly path: string | undefined } {
  const match = /^(?:(.*?)\s)?\s*(\$(?:[.[\s].*)?)$/s.exec(text.trim())
  return match === null ? { head: text.trim(), path: undefined } : { head: (match[1] ?? '').trim(), path: match[2] }
}

/** The same field as an object; what has no prefix that is one of ours is CSS. */
export function expandShorthand(text: string): Exclude<OneField, string> {
  const match = /^([a-z]+):(.*)$/s.exec(text.trim())
  const make = match?.[1] !== undefined && Object.hasOwn(PREFIXES, match[1]) ? PREFIXES[match[1]] : undefined
  return make === undefined ? { css: text } : make((match?.[2] ?? '').trim())
}
