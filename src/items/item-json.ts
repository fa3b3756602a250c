/** Items as lines of JSON, and the depth of a page's own record inside them. */

import type { JsonObject } from '../core/json.ts'
import type { ItemDraft } from './contract.ts'

/** The line that is kept. A page's record carries the depth that its request has now, whatever the handler knew. */
export function itemJson(draft: ItemDraft, depth: number): string {
  const { written } = draft
  if (written !== undefined) {
    return draft.isPage === true && written.depth !== depth ? withDepth(written.json, depth) : written.json
  }
  const isOther = draft.isPage === true && draft.data['depth'] !== depth
  return JSON.stringify(isOther ? { ...draft.data, depth } : draft.data)
}

/** The same line with another depth; the order of keys stays. */
export function withDepth(json: string, depth: number): string {
  return JSON.stringify({ ...(JSON.parse(json) as JsonObject), depth })
}
