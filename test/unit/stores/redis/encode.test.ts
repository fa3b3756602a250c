import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/json.ts'
import { itemJson, withDepth } from '../../../../src/items/item-json.ts'
import { itemParts } from '../../../../src/stores/redis/encode.ts'

const data = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom('depth', 'url', '1', '__proto__', 'a"b')),
  fc.jsonValue(),
) as fc.Arbitrary<JsonObject>

it('a page’s own record is cut around its depth so that it can be put together with any depth', () => {
  fc.assert(
    fc.property(data, fc.nat(100), fc.nat(100), (item, first, second) => {
      const [before, behind] = itemParts({ data: item, isPage: true })
      const whole = itemJson({ data: item, isPage: true }, first)
      expect(`${before}${first}${behind}`).toBe(whole)
      expect(`${before}${second}${behind}`).toBe(withDepth(whole, second))
    }),
  )
})

it('an item that is no page’s own record stays whole', () => {
  fc.assert(
    fc.property(data, (item) => {
      expect(itemParts({ data: item })).toEqual([itemJson({ data: item }, 3), ''])
    }),
  )
})
