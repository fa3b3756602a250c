import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitNesting } from '../../../src/extract/nesting.ts'
import { loadTree } from '../../../src/extract/page-tree.ts'

function depthOf(html: string): number {
  const $ = loadTree(html, { xml: false })
  let deepest = 0
  const walk: [node: { readonly childNodes?: readonly unknown[] }, depth: number][] = [[$.root()[0] ?? {}, 0]]
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    deepest = Math.max(deepest, next[1])
    for (const child of next[0].childNodes ?? []) walk.push([child as { childNodes?: unknown[] }, next[1] + 1])
  }
  return deepest
}

describe('nesting', () => {
  it.each([
    '<div>',
    '<b>',
    '<ul><li>',
    '<table><td>',
    '<b><div>',
    '<svg>',
    '<svg><g/>',
    '<x-y>',
    '<optgroup>',
    '<a><table>',
    '<dl><dd>',
    '<svg><foreignObject><x/>',
  ])('without end of %j stops where browsers stop', (piece) => {
    expect(depthOf(piece.repeat(20_000))).toBeLessThan(1600)
  })

  it.each([
    '<p>x'.repeat(5000),
    '<ul>' + '<li>x'.repeat(5000),
    '<table>' + '<tr><td><font><div>x'.repeat(3000),
    '<svg>' + '<path d=x />'.repeat(5000) + '</svg>',
    '<a href=x>y'.repeat(3000),
    '<script>' + '<div>'.repeat(5000) + '</script>',
    '<!--' + '<div>'.repeat(5000) + '-->',
    '<div><span>x</span></div>'.repeat(3000),
    '<option>x'.repeat(3000),
    '<br><img><input>'.repeat(3000),
  ])('is not seen where there is none: %#', (html) => {
    expect(limitNesting(html)).toBe(html)
  })

  it('leaves what comes after it in its place', () => {
    const html = `${'<div>'.repeat(600)}deep${'</div>'.repeat(600)}<h1>after</h1>`
    const $ = loadTree(html, { xml: false })
    expect($('body > h1').text()).toBe('after')
    expect($.text()).toContain('deep')
  })

  it('never makes a page of what is none, nor throws', () => {
    const piece = fc.constantFrom(
      '<div>',
      '</div>',
      '<svg>',
      '</svg>',
      '<x/>',
      '<td>',
      '</table>',
      '<table>',
      '<',
      '>',
      '"',
      '<!--',
      '<script>',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), fc.constantFrom(1, 50), (pieces, times) => {
        const html = pieces.join('').repeat(times)
        expect(limitNesting(html).length).toBeLessThanOrEqual(html.length)
      }),
      { numRuns: 300 },
    )
  })
})
