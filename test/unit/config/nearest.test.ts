import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestName } from '../../../src/config/nearest.ts'

const KNOWN = ['--concurrency', '--depth', '--delay', '--max-pages', '--json']

test.each([
  ['--concurency', '--concurrency'],
  ['--dpeth', '--depth'],
  ['--JSON', '--json'],
  ['--max-page', '--max-pages'],
  ['--quantum-foam', undefined],
])('%s is taken for %s', (name, nearest) => {
  expect(nearestName(name, KNOWN)).toBe(nearest)
})

test('a name is nearest to itself, and a name of any length is answered', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (name) => {
      expect(nearestName(name, ['zzzzzzzz', name])?.toLowerCase()).toBe(name.toLowerCase())
    }),
  )
  expect(nearestName('x'.repeat(1_000_000), KNOWN)).toBeUndefined()
})
