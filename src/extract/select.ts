/** Fields taken out of a page by CSS selectors: `name=CSS` for the text of the first match, `name=CSS@attr` for an attribute. */

import type { CheerioAPI } from 'cheerio'
import { foldSpace } from './text.ts'

export interface FieldSelect {
  readonly name: string
  readonly css: string
  /** Attribute to take; undefined: the text. */
  readonly attr: string | undefined
}

/** Says what is wrong with the CSS of a select, or undefined. */
export function selectProblem($: CheerioAPI, select: FieldSelect): string | undefined {
  try {
    $(select.css)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return `expected a CSS selector for ${JSON.stringify(select.name)}, found ${JSON.stringify(select.css)}: ${reason}`
  }
}

/** Fields in the order of the selects; null where the page has no match or the match no such attribute. */
export function selectFields(load: () => CheerioAPI, selects: readonly FieldSelect[]): Record<string, string | null> {
  if (selects.length === 0) return {}
  const $ = load()
  // a name like __proto__ is a field like any other
  return Object.fromEntries(selects.map((select) => [select.name, fieldOf($, select)]))
}

function fieldOf($: CheerioAPI, { css, attr }: FieldSelect): string | null {
  const match = $(css).first()
  if (match.length === 0) return null
  return attr === undefined ? foldSpace(match.text()) : (match.attr(attr) ?? null)
}
