import { array, assert, dictionary, jsonValue, oneof, property, string } from 'fast-check'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { createCsvEncoder } from '../../../src/items/csv.ts'
import { flattenItem } from '../../../src/items/flatten.ts'

const stored = (items: readonly JsonObject[]) =>
  items.map((item, index) => ({ seq: index + 1, json: JSON.stringify(item) }))

describe('createCsvEncoder', () => {
  it('writes rows that another reader takes apart again, whatever the items hold', () => {
    const item = dictionary(oneof(string(), string({ unit: 'grapheme' })), jsonValue(), { minKeys: 1 })
    assert(
      property(array(item, { minLength: 1, maxLength: 5 }), (items) => {
        const objects = items.map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)
        const text = Buffer.from(createCsvEncoder().encode(stored(objects))).toString()
        const [header = [], ...rows] = parse(text, { record_delimiter: '\n', relax_column_count: false }) as string[][]
        const found = rows.map((row) => new Map(header.map((name, index) => [name, row[index]])))
        objects.forEach((object, index) => {
          for (const [path, cell] of flattenItem(object)) {
            const expected = cell === null ? '' : Buffer.from(String(cell)).toString()
            expect(found[index]?.get(Buffer.from(path).toString())).toBe(expected)
          }
        })
      }),
      { numRuns: 300 },
    )
  })
})
