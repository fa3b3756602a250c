import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinPieces } from '../../../src/core/url-pieces.ts'
import { createResolver } from '../../../src/url/resolve.ts'

function byStandard(href: string, base: string): string | null {
  try {
    return new URL(href, base).href.split('#', 1)[0] ?? null
  } catch {
    return null
  }
}

const BASES = [
  'http://site.test/',
  'http://site.test',
  'https://site.test/a/b/c?q=1#f',
  'http://user:pw@site.test:8080/a//b/',
  'http://site.test/a/b;p=1/%7e/index.html?x=/../y',
  'https://[::1]:8443/x',
  'http://127.0.0.1/x/',
  'http://xn--bcher-kva.test/dir/',
  'file:///tmp/x/y.html',
]
const LINKS = [
  '',
  '#',
  '#x',
  ' #x',
  'a #x',
  'a ',
  'a',
  '?',
  '?q',
  '?q#',
  '/',
  '//',
  '///',
  '/a',
  '/a/b?c=/../d',
  '//h',
  '//h/a',
  '//h?x',
  '.',
  '..',
  './',
  '../',
  './a',
  '../a',
  '../../../../a',
  './../a',
  'a/..',
  'a/../b',
  '..//a',
  '../?x',
  '/.',
  '/..',
  '/a/.b',
  '...',
  '%2e',
  '%2E%2e/a',
  'a/%2e./b',
  '/%2e',
  '.%2e',
  '%zz',
  '%',
  'a%',
  'a|b',
  'a^b',
  "a'b",
  "?a'b",
  'a"b',
  'a<b>',
  'a`b',
  '{x}',
  'a\\b',
  '\\a',
  'http:',
  'http:a',
  'http:/a',
  'http://',
  'http://h',
  'http://h?x',
  'http://h/',
  'http://H/',
  'HTTP://h/',
  'http:///h/a',
  'httpa/b',
  'https://h/a',
  'http://h:80/a',
  'http://h:8080/a',
  'http://user@h/',
  'http://@h/',
  'http://1/',
  'http://0x7f.1/',
  'http://h./',
  'http://a_b/',
  'http://xn--a/',
  'http://[::1]/a',
  'http://[::01]/a',
  'http://%41/',
  'http://h%2f/',
  'http://ex ample/',
  'mailto:x@y',
  'javascript:void(0)',
  'tel:1',
  'a:b',
  'a/b:c',
  '?a:b',
  'ä',
  '/ä?ö',
  '?ö=ü',
  '\ta',
  'a\nb',
  '\u0000a',
  'a\u007f',
  '\ud800',
  '//user@h/x',
  'data:,x',
  'http://h/a;b,c=1&d!e$f(g)*h+i~j@k[l]',
]

describe('resolving the links of a page', () => {
  it.each(BASES)('agrees with the URL standard on plain and odd links of %s', (base) => {
    const resolve = createResolver(base)
    for (const link of [...LINKS, ...LINKS]) expect([link, resolve(link)]).toEqual([link, byStandard(link, base)])
  })

  it('agrees with the URL standard whatever the link is made of', () => {
    const piece = fc.constantFrom(
      'http',
      'https',
      'ftp',
      ':',
      '/',
      '//',
      '.',
      '..',
      './',
      '../',
      '?',
      '#',
      '%',
      '%2e',
      '%2F',
      '%zz',
      '@',
      '[',
      ']',
      ' ',
      '\t',
      '\\',
      'a',
      'B',
      '1',
      '-',
      '_',
      '~',
      '!',
      "'",
      '"',
      '&',
      '=',
      ';',
      'ü',
      '|',
      '^',
      '\u0000',
      'host.test',
      '127.0.0.1',
      '0x1',
      ':80',
      'xn--',
      '*',
      '$',
      '{',
    )
    const link = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.constantFrom(...BASES), fc.array(link, { maxLength: 8 }), (base, links) => {
        const resolve = createResolver(base)
        for (const href of [...links, ...links]) {
          expect(resolve(href)).toBe(byStandard(href, base))
          const pieces = resolve.pieces(`"${href}"/`, 1, href.length + 1)
          if (pieces === undefined) continue
          expect(href.split('#')[0]).not.toContain('&')
          expect(joinPieces(pieces)).toBe(byStandard(href, base))
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('resolves absolute links only when the base cannot be parsed', () => {
    const resolve = createResolver('no base')
    expect(resolve('/a')).toBeNull()
    expect(resolve('http://h.test/a#b')).toBe('http://h.test/a')
  })

  it('tells plain links in markup by their pieces', () => {
    const { pieces } = createResolver('http://site.test/a/b/page?q')
    const at = (href: string): string | undefined => {
      const found = pieces(`<a href="${href}">`, 9, 9 + href.length)
      return found === undefined ? undefined : joinPieces(found)
    }
    expect(['c#top', '/c', '../c', '#top', '?x', 'http://site.test/d', '//site.test/d'].map(at)).toEqual([
      'http://site.test/a/b/c',
      'http://site.test/c',
      'http://site.test/a/c',
      'http://site.test/a/b/page?q',
      'http://site.test/a/b/page?x',
      'http://site.test/d',
      'http://site.test/d',
    ])
    const unclear = ['/a?b&amp;c', '//&/', 'http://a&b/', '/ä', '/a b', 'x:y', '/a/./b']
    expect(unclear.map(at)).toEqual(unclear.map(() => undefined))
  })

  it('goes on resolving after its caches are full', () => {
    const resolve = createResolver('http://site.test/')
    for (let i = 0; i < 6000; i++) {
      expect(resolve(`/p/${i}`)).toBe(`http://site.test/p/${i}`)
      expect(resolve(`http://h${i}.test/x`)).toBe(`http://h${i}.test/x`)
    }
  })
})
