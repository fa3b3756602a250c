import { expect, it } from 'vitest'
import { IDENTITY_RULES as OFFERED } from '../../../src/config/table/crawl.ts'
import { IDENTITY_RULES } from '../../../src/url/identity.ts'

it('offers exactly the rules of identity that there are', () => {
  expect(OFFERED).toEqual(IDENTITY_RULES)
})
