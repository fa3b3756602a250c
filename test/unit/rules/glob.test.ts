/** Globs for URLs: what each form stands for, and that no URL makes them slow. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseGlob } from '../../../src/rules/glob.ts'

function fits(glob: string, url: string): boolean {
  const parsed = parseGlob(glob)
  if ('problem' in parsed) throw new Error(`${glob}: expected ${parsed.problem}`)
  return parsed.test(url)
}

describe('a glob', () => {
  it.each([
    ['/', 'https://a.test/', true],
    ['/', 'https://a.test', true],
    ['/', 'https://a.test?x=1', true],
    ['/books/*', 'https://a.test/books/1', true],
    ['/books/*', 'https://b.test/books/1?page=2', true],
    ['/books/*', 'https://a.test/books/', true],
    ['/books/*', 'https://a.test/books/1/reviews', false],
    ['/books/*', 'https://a.test/old/books/1', false],
    ['/books/**', 'https://a.test/books/1/reviews', true],
    ['/books/**', 'https://a.test/books', false],
    ['/a/**/z', 'https://a.test/a/z', true],
    ['/a/**/z', 'https://a.test/a/b/c/z', true],
    ['/a/**/z', 'https://a.test/a/bz', false],
    ['/search?q=*', 'https://a.test/search?q=x', true],
    ['/search?q=*', 'https://a.test/search', false],
    ['/**/*.{pdf,doc}', 'https://a.test/x/y.pdf', true],
    ['/**/*.{pdf,doc}', 'https://a.test/y.doc?v=1', true],
    ['/**/*.{pdf,doc}', 'https://a.test/y.html', false],
    ['https://a.test/**', 'https://a.test/x', true],
    ['https://a.test/**', 'http://a.test/x', false],
    ['{http,https}://*.a.test/**', 'https://www.a.test/x', true],
    ['{http,https}://*.a.test/**', 'https://evil.test/www.a.test/x', false],
    ['**/news/**', 'https://a.test/de/news/1', true],
    ['/a{b,c{d,e}}', 'https://a.test/ace', true],
    ['/a\\*b', 'https://a.test/a*b', true],
    ['/a\\*b', 'https://a.test/axb', false],
    ['/a.c', 'https://a.test/abc', false],
  ])('%s and %s: %s', (glob, url, expected) => {
    expect(fits(glob, url)).toBe(expected)
  })

  it.each(['books/*', '*.pdf', '', 'a.test/**', '/{a', '/a}', `/${'{a,b}'.repeat(9)}`, `/${'x'.repeat(2_001)}`])(
    'is refused with what was expected: %.20s',
    (glob) => {
      expect(parseGlob(glob)).toHaveProperty('problem')
    },
  )

  it('stands for itself when nothing in it is special', () => {
    fc.assert(
      fc.property(fc.webPath(), (path) => {
        fc.pre(path.startsWith('/') && !/[*{}\\?]/.test(path))
        expect(fits(path, `https://a.test${path}`)).toBe(true)
        expect(fits(path, `https://a.test${path}x`)).toBe(false)
      }),
    )
  })

  it('agrees with a regular expression', () => {
    const piece = fc.constantFrom('*', '**', '**/', 'a', 'b', '/')
    const char = fc.constantFrom('a', 'b', '/')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(char, { maxLength: 8 }), (pieces, chars) => {
        const glob = `/${pieces.join('')}`
        const path = `/${chars.join('')}`
        const source = glob.replace(/\*\*\/|\*\*|\*/g, (star) =>
          star === '*' ? '[^/]*' : star === '**' ? '.*' : '(?:.*/)?',
        )
        expect(fits(glob, `https://a.test${path}`)).toBe(new RegExp(`^${source}$`).test(path))
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes no longer than the URL is long times the glob, whatever the URL', () => {
    const glob = `/${'**a'.repeat(60)}b`
    const url = `https://a.test/${'a'.repeat(8_000)}`
    // by trying one way after the other this would not end
    expect(fits(glob, url)).toBe(false)
  })
})
