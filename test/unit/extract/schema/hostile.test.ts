/** Pages and expressions that are made to take for ever, or to give without end. */

import { describe, expect, it } from 'vitest'
import { isCrawlError } from '../../../../src/core/errors.ts'
import type { ExtractSchema } from '../../../../src/extract/schema/contract.ts'
import { extractNow } from '../../../../src/extract/schema/extract.ts'
import { sourceOf } from './source-of.ts'

function failureOf(schema: ExtractSchema, text: string): string {
  try {
    extractNow(sourceOf(text), schema, 'https://site.test/')
  } catch (error) {
    return isCrawlError(error, 'EXTRACT_FAILED') ? error.message : String(error)
  }
  return 'none'
}

describe('extraction', () => {
  it('ends a regular expression that backtracks for ever', { timeout: 300_000 }, () => {
    expect(failureOf({ a: { regex: /(a+)+$/ } }, `${'a'.repeat(60)}b`)).toMatch(/site\.test.*within 5000 ms/)
    // and goes on as if nothing had happened
    expect(extractNow(sourceOf('<h1>x'), { a: 'h1' }, '')).toEqual({ a: 'x' })
  })

  it('ends an XPath that looks at every pair of elements', { timeout: 300_000 }, () => {
    const page = '<p>x'.repeat(30_000)
    expect(failureOf({ a: { xpath: 'count(//p[count(//p[count(//p) > 1]) > 1])' } }, page)).toMatch(/within 5000 ms/)
  })

  it('bounds what nested elements give', { timeout: 300_000 }, () => {
    const page = `${'<div>'.repeat(500)}${'text '.repeat(100_000)}`
    expect(failureOf({ a: ['div'] }, page)).toMatch(/characters, found more/)
    expect(failureOf({ a: { each: 'div', fields: { b: ['div'] } } }, page)).toMatch(/characters, found more/)
  })

  it.each([
    ['tags that nest without end', '<div>'.repeat(300_000)],
    ['a table without end', `<table>${'<tr><td>1<td>2'.repeat(60_000)}`],
    ['tables in tables', '<table><tr><td>'.repeat(20_000)],
    ['formatting that is never closed', '<b><i><a href=x><p>'.repeat(5_000)],
    ['attributes without end', `<p ${Array.from({ length: 30_000 }, (_, n) => `a${n}=1`).join(' ')}>`],
    ['JSON-LD that nests', `<script type="application/ld+json">${'[{"@type":"a","b":'.repeat(50_000)}</script>`],
    ['items in items', '<div itemscope><b itemprop=a itemscope>'.repeat(3_000)],
    [
      'itemref that goes round',
      '<div itemscope itemref="a b"><p id=a itemprop=x itemscope itemref=b><p id=b itemprop=y itemscope itemref=a>',
    ],
    ['bytes that are no text', '\0<\ud800>&#xd800;<p \0=\0>'.repeat(1000)],
  ])('ends on %s', { timeout: 300_000 }, (_name, page) => {
    const schema = {
      first: 'p',
      cells: ['td'],
      attribute: '[a5]@a5',
      count: { xpath: 'count(//*)', as: 'integer' },
      ld: ['jsonld:*'],
      micro: ['microdata:*'],
      graph: 'opengraph:',
      word: { regex: /w\w+/ },
    } as const
    expect(Object.keys(extractNow(sourceOf(page), schema, ''))).toHaveLength(8)
  })
})
