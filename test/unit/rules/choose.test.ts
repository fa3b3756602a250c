/** Which rule takes a request. */

import { expect, it } from 'vitest'
import { createRuleChooser } from '../../../src/rules/choose.ts'
import { createUrlTest } from '../../../src/rules/pattern.ts'

const rules = [
  { name: 'first', match: '/a/**' },
  { name: 'second', match: ['/a/*', /\/b\/\d+$/g] },
  { name: 'list', label: 'list' },
  { name: 'detail of b', label: 'detail', match: '/b/*' },
  { name: 'detail', label: ['detail', 'more'], exclude: '/private/**' },
  { name: 'rest', exclude: '/private/**' },
]
const choose = createRuleChooser(rules)
const nameOf = (url: string, label?: string): string | undefined => choose({ url, label })?.name

it('takes the rules of the label first, in their order', () => {
  expect(nameOf('https://x.test/a/1', 'list')).toBe('list')
  expect(nameOf('https://x.test/b/1', 'detail')).toBe('detail of b')
  expect(nameOf('https://x.test/c/1', 'detail')).toBe('detail')
  expect(nameOf('https://x.test/c/1', 'more')).toBe('detail')
})

it('takes the first rule whose patterns fit where there is no label, or none that a rule takes', () => {
  expect(nameOf('https://x.test/a/1')).toBe('first')
  expect(nameOf('https://x.test/b/1')).toBe('second')
  expect(nameOf('https://x.test/b/1')).toBe('second') // a pattern with g remembers nothing
  expect(nameOf('https://x.test/c')).toBe('rest')
  expect(nameOf('https://x.test/c', 'unheard of')).toBe('rest')
})

it('takes none where none fits', () => {
  expect(nameOf('https://x.test/private/1')).toBeUndefined()
  expect(nameOf('https://x.test/private/1', 'detail')).toBeUndefined()
})

it('takes anything that tests a URL as a pattern, and says what it wants instead of what is none', () => {
  const isLong = { test: (url: string) => url.length > 20 }
  expect(createUrlTest({ match: isLong })('https://x.test/a-long-path')).toBe(true)
  expect(createUrlTest({ match: isLong })('https://x.test/')).toBe(false)
  expect(() => createUrlTest({ match: 'books/*' })).toThrow(
    'expected a glob that begins with / (a path), ** or a scheme such as https://, found books/*',
  )
  // @ts-expect-error -- from plain JavaScript
  expect(() => createUrlTest({ match: 5 })).toThrow('expected a glob, a regular expression')
})
