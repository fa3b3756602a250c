/** The fields of `--select` as one schema. */

import type { ExtractSchema, FieldSchema, FieldType } from './schema/contract.ts'
import { expandShorthand } from './schema/shorthand.ts'

export interface FieldSelect {
  readonly name: string
  /** `CSS[@attr]`, `xpath:…`, `re:…` and so on: see src/extract/schema/shorthand.ts. */
  readonly field: string
  /** All that fits, not only the first. */
  readonly many: boolean
  readonly as?: FieldType
}

/** Undefined: there are none. Of two with one name the last is taken. */
export function selectSchema(selects: readonly FieldSelect[]): ExtractSchema | undefined {
  if (selects.length === 0) return undefined
  // a name like __proto__ is a field like any other
  return Object.fromEntries(selects.map((select) => [select.name, fieldOf(select)]))
}

/** Of fields whose values are URLs; all that fit of each. Undefined: there are none. */
export function urlSchema(fields: readonly string[]): ExtractSchema | undefined {
  if (fields.length === 0) return undefined
  return Object.fromEntries(fields.map((field, index) => [`f${index}`, [{ ...expandShorthand(field), as: 'url' }]]))
}

function fieldOf({ field, many, as }: FieldSelect): FieldSchema {
  const one = as === undefined ? field : { ...expandShorthand(field), as }
  return many ? [one] : one
}
