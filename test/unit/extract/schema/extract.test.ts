import { describe, expect, expectTypeOf, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../../src/core/json.ts'
import type { ExtractSchema } from '../../../../src/extract/schema/contract.ts'
import { extract, extractNow } from '../../../../src/extract/schema/extract.ts'
import { sourceOf, type SourceOfOptions } from './source-of.ts'

const URL_OF_PAGE = 'https://site.test/shop/'

const PAGE = `<html><head><title>Shop</title>
<meta property="og:title" content="Blue shoe"><meta property="og:image" content="/1.png">
<meta property="og:image" content="/2.png"><meta name="Description" content="Shoes &amp; more">
<script type="application/ld+json">{"@graph":[{"@type":"Product","name":"Shoe",
"offers":[{"@type":"Offer","price":"12.50"},{"@type":"Offer","price":11}]}]}</script>
<script type="application/ld+json">{broken</script>
<script id="data" type="application/json">{"a":{"b":[1,2,3]}}</script></head>
<body><h1> Blue <b>shoe</b> </h1><p class="price">1.299,00&nbsp;€</p><a href="/x?a=1#f">x</a><a href="y">y</a>
<table><tr><th>size<th>left<tr><td>38<td>4<tr><td>39<td>none</table>
<div itemscope itemtype="https://schema.org/Person"><span itemprop="name">Jo</span><a itemprop="url" href="/jo">me</a>
<div itemprop="address" itemscope><i itemprop="city">Ulm</i></div><b itemprop="tag">1</b><b itemprop="tag">2</b></div>`

function taken<const S extends ExtractSchema>(schema: S, text: string = PAGE, options: SourceOfOptions = {}) {
  return extractNow(sourceOf(text, { baseUrl: URL_OF_PAGE, ...options }), schema, URL_OF_PAGE)
}

describe('a schema', () => {
  it('gives texts, attributes, lists, rows and groups, with types that follow from it', () => {
    const result = taken({
      title: 'h1',
      none: '.none',
      price: { css: '.price', as: 'number' },
      links: ['a@href'],
      absolute: [{ css: 'a@href', as: 'url' }],
      markup: { css: 'h1', as: 'html' },
      letters: { css: 'h1', as: (text) => text.length },
      rows: { each: 'tr:has(td)', fields: { size: { css: 'td', as: 'integer' }, left: 'td:nth-child(2)' } },
      table: { within: 'table', fields: { head: ['th'] } },
      missing: { within: '.none', fields: { a: 'b' } },
      page: { fields: { title: 'title' } },
    })
    expect(result).toEqual({
      title: 'Blue shoe',
      none: null,
      price: 1299,
      links: ['/x?a=1#f', 'y', '/jo'],
      absolute: ['https://site.test/x?a=1#f', 'https://site.test/shop/y', 'https://site.test/jo'],
      markup: ' Blue <b>shoe</b> ',
      letters: 9,
      rows: [
        { size: 38, left: '4' },
        { size: 39, left: 'none' },
      ],
      table: { head: ['size', 'left'] },
      missing: null,
      page: { title: 'Shop' },
    })
    expectTypeOf(result.title).toEqualTypeOf<string | null>()
    expectTypeOf(result.price).toEqualTypeOf<number | null>()
    expectTypeOf(result.links).toEqualTypeOf<string[]>()
    expectTypeOf(result.absolute).toEqualTypeOf<string[]>()
    expectTypeOf(result.letters).toEqualTypeOf<number | null>()
    expectTypeOf(result.rows).toEqualTypeOf<{ size: number | null; left: string | null }[]>()
    expectTypeOf(result.missing).toEqualTypeOf<{ a: string | null } | null>()
    expectTypeOf(result.page).toEqualTypeOf<{ title: string | null }>()
  })

  it('means the element of a row by :scope and by an attribute alone', () => {
    const rows = taken({ all: { each: 'a', fields: { href: '@href', text: ':scope', child: ':scope > b' } } }).all
    expect(rows[0]).toEqual({ href: '/x?a=1#f', text: 'x', child: null })
  })

  it('reads what pages carry for machines', () => {
    const result = taken({
      name: 'jsonld:Product $.name',
      prices: ['jsonld:Product $.offers[*].price'],
      offers: { each: 'jsonld:offer', fields: { price: 'json:$.price' } },
      description: 'metatag:description',
      images: ['metatag:og:image'],
      graph: 'opengraph:',
      person: 'microdata:Person',
      city: 'microdata:* $.address.city',
      data: 'json:#data $.a.b[-1:]',
      all: ['json:script#data $.a.b[*]'],
      third: { json: '$.a.b[2]', in: '#data', as: 'integer' },
    })
    expect(result).toEqual({
      name: 'Shoe',
      prices: ['12.50', 11],
      offers: [{ price: '12.50' }, { price: 11 }],
      description: 'Shoes & more',
      images: ['/1.png', '/2.png'],
      graph: { title: 'Blue shoe', image: ['/1.png', '/2.png'] },
      person: {
        '@type': 'https://schema.org/Person',
        name: 'Jo',
        url: 'https://site.test/jo',
        address: { city: 'Ulm' },
        tag: ['1', '2'],
      },
      city: 'Ulm',
      data: 3,
      all: [1, 2, 3],
      third: 3,
    })
    expectTypeOf(result.name).toEqualTypeOf<JsonValue>()
    expectTypeOf(result.graph).toEqualTypeOf<JsonObject | null>()
    expectTypeOf(result.offers).toEqualTypeOf<{ price: JsonValue }[]>()
    expectTypeOf(result.third).toEqualTypeOf<number | null>()
  })

  it('reads XPath of elements, attributes, texts, numbers, and from the row it is in', () => {
    expect(
      taken({
        bold: 'xpath://H1/b',
        hrefs: ['xpath://a/@href'],
        text: 'xpath://h1/text()[1]',
        count: { xpath: 'count(//td)', as: 'integer' },
        truth: { xpath: 'boolean(//td)', as: 'boolean' },
        rows: { each: 'xpath://tr[td]', fields: { last: 'xpath:td[last()]', up: 'xpath:string(../tr[1]/th[1])' } },
        union: ['xpath://th | //h1'],
        ordered: ['xpath://td/preceding::h1/b'],
      }),
    ).toEqual({
      bold: 'shoe',
      hrefs: ['/x?a=1#f', 'y', '/jo'],
      text: ' Blue ',
      count: 4,
      truth: true,
      rows: [
        { last: '4', up: 'size' },
        { last: 'none', up: 'size' },
      ],
      union: ['Blue shoe', 'size', 'left'],
      ordered: ['shoe'],
    })
  })

  it('reads regular expressions in the markup, in a row, and in what a selector finds', () => {
    expect(
      taken({
        kinds: ['re:property="(og:\\w+)"'],
        first: { regex: /PRICE/i },
        inside: { regex: /\d+/, in: 'td' },
        all: [{ regex: /\d+/y, in: 'td' }],
        rows: { each: 'tr', fields: { digits: 're:\\d+' } },
        hyphen: { regex: 'class="([\\w\\-]+)"' },
      }),
    ).toEqual({
      kinds: ['og:title', 'og:image', 'og:image'],
      first: 'price',
      inside: '38',
      all: ['38', '4', '39'],
      rows: [{ digits: null }, { digits: '38' }, { digits: '39' }],
      hyphen: 'price',
    })
  })

  it('reads bodies that are JSON or XML', () => {
    const json = '{"list":[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}],"next":null}'
    expect(
      taken({ ids: ['json:$.list[*].id'], rows: { each: 'json:$.list[*]', fields: { tag: 'json:$.tags[0]' } } }, json),
    ).toEqual({ ids: [1, 2], rows: [{ tag: 'a' }, { tag: null }] })
    const xml = '<?xml version="1.0"?><feed><Entry id="1"><link href="a"/>x</Entry><Entry id="2">y</Entry></feed>'
    expect(
      taken(
        {
          ids: ['Entry@id'],
          href: 'Entry > link@href',
          x: 'xpath://Entry[2]',
          rows: { each: 'Entry', fields: { id: '@id', own: 'xpath:@id' } },
        },
        xml,
        { isXml: true },
      ),
    ).toEqual({
      ids: ['1', '2'],
      href: 'a',
      x: 'y',
      rows: [
        { id: '1', own: '1' },
        { id: '2', own: '2' },
      ],
    })
  })

  it('finds the main content, as text and as Markdown', () => {
    const words = 'The crawler walks from page to page, and it remembers each of them. '.repeat(20)
    const page = `<nav><a href=/>home</a></nav><article><h1>Walk</h1><p>${words}</p><h2>More</h2><p><a href="z">${words}</a></p>
      <ul><li>one<li>two</ul></article><footer>imprint</footer>`
    const { text, markdown, html, title } = taken(
      { text: 'readable:', markdown: 'readable:markdown', html: 'readable:html', title: 'readable:title' },
      `<title>Walk</title>${page}`,
    )
    expect(text).toContain('remembers each of them')
    expect(text).not.toContain('imprint')
    expect(markdown).toMatch(/^## More$/m)
    expect(markdown).toContain('](https://site.test/shop/z)')
    expect(markdown).toMatch(/^- +one$/m)
    expect(html).toContain('<h2>')
    expect(title).toBe('Walk')
  })

  it('gives the same when a large page is read in turns', async () => {
    const page = `<h1>a</h1>${'<p class=x>b'.repeat(20_000)}<h2 id=end>c</h2>`
    const schema = { top: 'h1', all: ['.x'], end: '#end' } as const
    const turns = await extract(sourceOf(page), schema, URL_OF_PAGE)
    expect(turns).toEqual(extractNow(sourceOf(page), schema, URL_OF_PAGE))
    expect(turns.all).toHaveLength(20_000)
  })

  it('names all that is wrong with it before a page is looked at', () => {
    const wrong = {
      a: 'a[',
      b: { fields: { c: 'xpath://[', d: { css: 'x', as: 'money' as 'number' } } },
      e: 're:(',
      f: 'json:#x $[',
      g: [] as unknown as [string],
      h: { nothing: 1 } as unknown as string,
      i: 'readable:everything',
      j: 'a:unknown-thing',
    }
    expect(() => taken(wrong)).toThrow(
      /the field a: expected a CSS selector.*the field b\.c: expected an XPath.*the field b\.d: expected as: one of text.*the field e: expected a regular.*the field f: expected a JSONPath.*the field g: expected a list of one.*the field h: expected one of css.*the field i: .*the field j: /s,
    )
  })
})
