/** Items as rows: nested keys become paths with dots, and nothing of an item is lost on the way. */

import type { JsonObject, JsonValue } from '../core/json.ts'

export type Cell = string | number | boolean | null
export type Row = ReadonlyMap<string, Cell>

/** Keys nested deeper than this are one cell of JSON text. */
const MAX_NESTING = 8

/** Cells by path, in the order of the item's keys. Lists, empty objects and what is nested too deep are JSON text. */
export function flattenItem(item: JsonObject): Row {
  const row = new Map<string, Cell>()
  flattenInto(row, item, { prefix: '', nesting: 1 })
  return row
}

function flattenInto(row: Map<string, Cell>, item: JsonObject, at: { prefix: string; nesting: number }): void {
  for (const [key, value] of Object.entries(item)) {
    if (value === undefined) continue
    const path = at.prefix + key
    if (isNested(value) && at.nesting < MAX_NESTING) {
      flattenInto(row, value, { prefix: `${path}.`, nesting: at.nesting + 1 })
    } else {
      row.set(freePath(row, path), cellOf(value))
    }
  }
}

/** The key `a.b` and the key `b` inside `a` are two: the second gets an underscore. */
function freePath(row: ReadonlyMap<string, Cell>, path: string): string {
  let free = path
  while (row.has(free)) free += '_'
  return free
}

function isNested(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function cellOf(value: JsonValue): Cell {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** An item that is no object (a store may hold anything) is the one cell `value`. */
export function parseItem(json: string): JsonObject {
  const value = JSON.parse(json) as JsonValue
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : { value }
}
