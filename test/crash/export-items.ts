/** The items that the export of the crash test writes: of all sizes, some with a column that comes late. */

import type { JsonObject } from '../../src/core/json.ts'

export function itemAt(seq: number): JsonObject {
  const title = `title ${String(seq)} `.repeat(1 + ((seq * 7919) % 40)).trim()
  const page = { url: `http://site.test/${String(seq)}`, status: 200, depth: seq % 9, title }
  return seq % 1000 === 999 ? { ...page, fields: { [`late${String(seq)}`]: 'yes' } } : page
}
