/** The lean tree answers as cheerio does, wherever it stops to parse. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadTree } from '../../../../src/extract/page-tree.ts'
import { compileCss } from '../../../../src/extract/schema/css.ts'
import { openHtmlTree } from '../../../../src/extract/schema/html-tree.ts'

const SELECTORS = [
  'p',
  '.x',
  '#y',
  'b.x',
  'td',
  'table .x',
  'p > b',
  'p + p',
  'td ~ td',
  'li:first-child',
  'td:nth-child(2)',
  'p:last-child',
  'div:has(b)',
  'p:empty',
  ':not(p).x',
  '[title]',
  '[title="a&b" i]',
  'svg title',
  'template p',
  'p, h1, .x',
  'body.late',
  'html[lang] p',
  '*',
  'p:contains("two")',
  ':is(h1, h2) b',
]

const PIECES = [
  '<p>',
  '<p class=x>',
  '<p title="a&amp;b">',
  '</p>',
  '<b>',
  '<b class="x z">',
  '</b>',
  '<i>',
  '</i>',
  '<table>',
  '</table>',
  '<tr>',
  '<td>',
  '<td class=x>',
  '<div>',
  '</div>',
  '<div id=y>',
  '<li>',
  '<ul>',
  '</ul>',
  '<h1>',
  '</h1>',
  '<a href=q>',
  '<svg><title>',
  '</svg>',
  '<template>',
  '</template>',
  '<body class=late>',
  '<html lang=en>',
  '<script>"<p>"</script>',
  '<!-- c -->',
  '<select><option>',
  '</select>',
  '<frameset>',
  '<textarea>',
  '</textarea>',
  'two ',
  'one &lt; ',
  '\n ',
]

const page = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), fc.constantFrom(0, 1, 600), fc.constantFrom(1, 3))
  .map(([pieces, filler, times]) => `${pieces.join('').repeat(times)}${'<i>filler</i>'.repeat(filler)}<p>end`)

describe('a selector', () => {
  it.each(['..price', 'a ..price', '.a..b', 'a >', '>', 'b, a +'])('%j can fit nothing, which is said', (css) => {
    expect(() => compileCss(css)).toThrow(/dots|combinator/)
  })

  it.each([String.raw`.\.5`, '> a', '.a.b', 'a > b', '[href^=".."]', '[title="a > "]'])('%j is sound', (css) => {
    expect(compileCss(css).css).toBe(css)
  })
})

describe('the lean tree of a page', () => {
  it('finds the same elements, texts and attributes as cheerio, in damaged pages too', () => {
    const queries = SELECTORS.map(compileCss)
    fc.assert(
      fc.property(page, (html) => {
        const $ = loadTree(html, { xml: false })
        for (const query of queries) {
          const expected = $(query.css)
          const [first, all] = [openHtmlTree(html), openHtmlTree(html)]
          const found = first.first(query)
          const told = found === undefined ? undefined : [first.textOf(found), first.attrOf(found, 'class')]
          expect(told, query.css).toEqual(
            expected.length === 0 ? undefined : [expected.first().text(), expected.first().attr('class')],
          )
          expect(
            all.all(query).map((node) => all.textOf(node)),
            query.css,
          ).toEqual(expected.get().map((node) => $(node).text()))
        }
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    '<p><template><b>x</b></template></p>',
    '<template><p><b>x</b></template>',
    '<template><p><template><b>x</b></template></template>',
    '<template><b class="x z"><p><template><b class="x z"><p><template><b class="x z"><p><p>end',
  ])('finds in rows with templates what cheerio finds in them: %s', (html) => {
    const $ = loadTree(html, { xml: false })
    const tree = openHtmlTree(html)
    const b = compileCss('b')
    const rows = tree.all(compileCss('p'))
    const expected = $('p').get()
    expect(rows.map((row) => tree.all(b, row).length)).toEqual(expected.map((row) => $(row).find('b').length))
    expect(rows.map((row) => tree.first(b, row) !== undefined)).toEqual(
      expected.map((row) => $(row).find('b').length > 0),
    )
  })

  it('finds in rows what cheerio finds in them', () => {
    fc.assert(
      fc.property(page, fc.constantFrom('b', '> b', 'b.x', '> td > b', '+ p'), (html, css) => {
        const $ = loadTree(html, { xml: false })
        const tree = openHtmlTree(html)
        const query = compileCss(css)
        const rows = tree.all(compileCss('p, tr'))
        expect(rows.map((row) => tree.all(query, row).map((node) => tree.textOf(node)))).toEqual(
          $('p, tr')
            .get()
            .map((row) =>
              $(row)
                .find(css)
                .get()
                .map((node) => $(node).text()),
            ),
        )
      }),
      { numRuns: 100 },
    )
  })

  it('parses no further than the first element that fits', () => {
    const html = `<body><h1>Title</h1><p class=x>text</p>${'<p>more'.repeat(100_000)}`
    const tree = openHtmlTree(html)
    expect(tree.textOf(tree.first(compileCss('h1')) ?? {})).toBe('Title')
    const body = tree.reader.childrenOf(tree.first(compileCss('p.x')) ?? {})
    expect(body).toHaveLength(1)
    // what was not looked at is not there
    expect(tree.htmlOf(tree.reader.parentOf(tree.first(compileCss('h1')) ?? {}) ?? {}).length).toBeLessThan(20_000)
  })
})
