import { describe, expect, it } from 'vitest'
import { parseLinkHeader, parseRefreshHeader } from '../../../src/extract/link-header.ts'

const read = (...values: string[]): unknown =>
  parseLinkHeader(values).map(({ href, rels, params }) => [href, rels, Object.fromEntries(params)])

describe('parseLinkHeader', () => {
  it.each([
    ['</2>; rel="next"', [['/2', ['next'], {}]]],
    [
      '</1>; rel=PREV, </3>;rel="next last"',
      [
        ['/1', ['prev'], {}],
        ['/3', ['next', 'last'], {}],
      ],
    ],
    ['</a>; title="x, </b>; rel=no"; rel=next', [['/a', ['next'], { title: 'x, </b>; rel=no' }]]],
    ['</a>; rel="a"; rel="b"; media=m; media=n', [['/a', ['a'], { media: 'm' }]]],
    ['</a> ; title = "q\\"q" ; nopush', [['/a', [], { title: 'q"q', nopush: '' }]]],
    ['</a>; rel="http://x.test/Case"', [['/a', ['http://x.test/Case'], {}]]],
    ['<a,b>; rel=next', [['a,b', ['next'], {}]]],
    ['garbage, </a>; rel=next, <unclosed', [['/a', ['next'], {}]]],
    ['</a>; rel="unclosed', [['/a', ['unclosed'], {}]]],
    ['<ht\r\n tp://x.test/>; rel="ne\r\n xt"', [['http://x.test/', ['next'], {}]]],
    ['', []],
  ])('reads %j', (value, want) => {
    expect(read(value)).toEqual(want)
  })

  it('reads several headers as one list', () => {
    expect(read('</1>; rel=a', '</2>; rel=b')).toEqual([
      ['/1', ['a'], {}],
      ['/2', ['b'], {}],
    ])
  })
})

describe('parseRefreshHeader', () => {
  it('reads seconds and address, and nothing else', () => {
    expect(parseRefreshHeader('5; url=/x')).toEqual({ seconds: 5, href: '/x' })
    expect(parseRefreshHeader('5')).toBeUndefined()
    expect(parseRefreshHeader(undefined)).toBeUndefined()
  })
})
