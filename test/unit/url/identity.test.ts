import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIdentity, IDENTITY_RULES } from '../../../src/url/identity.ts'

describe('optional rules of identity', () => {
  it('are off by default, and the name says so', () => {
    const { name, identityOf } = createIdentity()
    expect(name).toBe('whatwg')
    expect(identityOf('http://www.h.test/a/?b=2&a=1')).toBe('http://www.h.test/a/?b=2&a=1')
  })

  it('have a name that does not depend on the order in which they are given', () => {
    expect(createIdentity(['strip-www', 'sort-query']).name).toBe('whatwg+sort-query+strip-www')
    expect(createIdentity(['sort-query', 'strip-www', 'strip-www']).name).toBe('whatwg+sort-query+strip-www')
  })

  it.each([
    ['sort-query', 'http://h.test/?b=2&a=2&a=1&', 'http://h.test/?&a=2&a=1&b=2'],
    ['drop-session-ids', 'http://h.test/a;jsessionid=1.x/b?PHPSESSID=9&x=1', 'http://h.test/a/b?x=1'],
    ['drop-session-ids', 'http://h.test/(S(0123456789abcdef01234567))/a?sid=0123456789abcdef', 'http://h.test/a'],
    ['drop-session-ids', 'http://h.test/?sid=7&s=word', 'http://h.test/?sid=7&s=word'],
    ['drop-tracking', 'http://h.test/?utm_source=x&a=1&gclid=2&UTM_X', 'http://h.test/?a=1'],
    ['drop-tracking', 'http://h.test/?fbclid=1', 'http://h.test/'],
    ['strip-www', 'https://u@www.h.test:81/www.x', 'https://u@h.test:81/www.x'],
    ['strip-www', 'http://www.test/', 'http://www.test/'],
    ['strip-trailing-slash', 'http://h.test/a//?q=/', 'http://h.test/a?q=/'],
    ['strip-trailing-slash', 'http://h.test/', 'http://h.test/'],
  ] as const)('%s makes of %s %s', (rule, url, expected) => {
    expect(createIdentity([rule]).identityOf(url)).toBe(expected)
  })

  it('are idempotent in any combination', () => {
    const piece = fc.constantFrom(
      '/',
      '//',
      'www.',
      'a',
      'sid=',
      '0123456789abcdef1',
      '&',
      '?',
      ';jsessionid=',
      '(S(',
      '))',
      'utm_x=1',
      '=',
      'b=2',
      '@',
    )
    fc.assert(
      fc.property(fc.subarray([...IDENTITY_RULES]), fc.array(piece, { maxLength: 16 }), (rules, pieces) => {
        const { identityOf } = createIdentity(rules)
        const url = new URL(`http://www.www.h.test/${pieces.join('')}`).href
        const once = identityOf(url)
        expect(identityOf(once)).toBe(once)
      }),
      { numRuns: 3000 },
    )
  })
})
