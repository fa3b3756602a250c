import { load } from 'cheerio'
import { describe, expect, it } from 'vitest'
import { selectFields, selectProblem } from '../../../src/extract/select.ts'

const PAGE = '<h1> Blue  shoe </h1><a class=buy href="/b?x=1&amp;y=2">b</a><p>one<p>two'

describe('selectFields', () => {
  it('takes texts, attributes, and null where there is nothing', () => {
    const selects = [
      { name: 'name', css: 'h1', attr: undefined },
      { name: 'buy', css: 'a.buy', attr: 'href' },
      { name: 'first', css: 'p', attr: undefined },
      { name: 'none', css: '.missing', attr: undefined },
      { name: 'bare', css: 'h1', attr: 'id' },
      { name: '__proto__', css: 'h1', attr: undefined },
    ]
    expect(Object.entries(selectFields(() => load(PAGE), selects))).toEqual([
      ['name', 'Blue shoe'],
      ['buy', '/b?x=1&y=2'],
      ['first', 'one'],
      ['none', null],
      ['bare', null],
      ['__proto__', 'Blue shoe'],
    ])
  })

  it('does not build a document for no fields', () => {
    expect(
      selectFields(() => {
        throw new Error('not to be called')
      }, []),
    ).toEqual({})
  })
})

describe('selectProblem', () => {
  it('says what is wrong with a selector', () => {
    expect(selectProblem(load(''), { name: 'x', css: 'a[', attr: undefined })).toMatch(/selector for "x", found "a\["/)
    expect(selectProblem(load(''), { name: 'x', css: 'a > b', attr: undefined })).toBeUndefined()
  })
})
