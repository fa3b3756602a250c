import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanPage } from '../../../src/extract/scan.ts'
import { scanTree, sortedSet } from './tree.ts'

const URL_OF_PAGE = 'http://site.test/dir/page.html'

function compare(html: string): void {
  const found = scanPage(html, { url: URL_OF_PAGE })
  const { base, title } = found
  expect({ base, title, links: sortedSet(found.links.map(({ tag, url }) => `${tag} ${url}`)) }).toEqual(
    scanTree(html, URL_OF_PAGE),
  )
}

const MARKUP = (
  '</a> <p> </p> <div> </div> <table> <tr> <td> </td> </table> <caption> <col> <ul> <li> <b> </b> <h1> </h1> <br> </br> <form> ' +
  '<button> <input> <object> <body> </body> <head> </head> <html> </html> <title>t </title> <style> </style> <script> ' +
  '</script> <textarea> </textarea> <xmp> </xmp> <noframes> </noframes> <noscript> </noscript> <template> </template> ' +
  '</iframe> <option> <font> <!-- --> --!> <![CDATA[ ]]> <!x <?x </3 > < " \' = & &amp; text <x/ =y> <frame \0'
).split(' ')
const LINKS = [
  '<a href="/N">',
  "<a href='/N",
  '<a href=/N',
  '<A HREF=N>',
  '<area href=/N>',
  '<iframe src=/N>',
  '<frame src=/N>',
  '<link rel="x next" href=/N>',
  '<base href="/N/">',
]

const piece = fc.oneof(
  fc.constantFrom(...MARKUP),
  fc.tuple(fc.constantFrom(...LINKS), fc.nat(30)).map(([link, n]) => link.replace('N', String(n))),
)
const soup = fc
  .array(piece, { maxLength: 20 })
  .map((pieces) => `${pieces.join('')}<a href=/end>`)
  // a template that begins with a column takes nothing else in: listed in docs/damaged-markup.md
  .filter((html) => !/<template>[^]*<col>/.test(html))

describe('damaged markup', () => {
  it('gives the links, base and title that a parse5 tree has', () => {
    fc.assert(fc.property(soup, compare), { numRuns: 3000, seed: 1 })
  })

  it('gives them in well-formed drawings and formulas too', () => {
    const inner = fc.constantFrom(
      '<path d="M0 0"/>',
      '<a href=/in>x</a>',
      '<a xlink:href=/xl></a>',
      '<title>drawn <i>t</i></title>',
      '<style>a{}</style>',
      '<script>1</script>',
      '<![CDATA[<a href=/no>]]>',
      '<foreignObject><a href=/html>y</a><style><a href=/no></style></foreignObject>',
      '<desc><title>in</title></desc>',
      '<g><svg><a href=/deep></a></svg></g>',
      '<iframe src=/no />',
      '<base href=/no />',
      '<p><a href=/out>',
      '<font color=red><textarea><a href=/no></textarea>',
      '<font id=x />',
      '<template><a href=/tpl></a></template>',
      '<mi><a href=/mi></a></mi>',
      '<annotation-xml encoding="text/html"><textarea><a href=/no></a></textarea></annotation-xml>',
      'text',
    )
    const root = fc.constantFrom('svg', 'math')
    const drawing = fc.tuple(root, fc.array(inner, { maxLength: 6 })).map(([name, inside]) => {
      return `<div><${name}>${inside.join('')}</${name}></div>`
    })
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            drawing,
            soup.filter((html) => !/<(frame|option)/.test(html)),
          ),
          { maxLength: 3 },
        ),
        (parts) => {
          // each part in a page of its own: what one leaves open would be judged by the next
          for (const part of parts) compare(`<!doctype html><title>page</title><body>${part}`)
        },
      ),
      { numRuns: 1000, seed: 1 },
    )
  })

  it('keeps links that a later frameset would take out of a browser page', () => {
    const { links } = scanPage('<a href=/kept><frameset><frame src=/framed>', { url: URL_OF_PAGE })
    expect(links.map(({ url }) => url)).toEqual(['http://site.test/kept', 'http://site.test/framed'])
  })

  it('takes frames for real when only a noscript notice stands before them', () => {
    const html = '<noscript>Please switch on scripts</noscript><frameset><frame src=/framed></frameset>'
    expect(scanPage(html, { url: URL_OF_PAGE }).links).toHaveLength(1)
  })

  it('sees links in a select, as browsers do now', () => {
    expect(scanPage('<select><a href=/in></select>', { url: URL_OF_PAGE }).links).toHaveLength(1)
  })

  it('reads the end tag of an HTML element in a drawing as the end of the drawing', () => {
    const { title } = scanPage('<svg></span><title>of the page</title>', { url: URL_OF_PAGE })
    expect(title).toBe('of the page')
  })
})
