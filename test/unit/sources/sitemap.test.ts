import { existsSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { assert, asyncProperty, constantFrom, array, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SitemapEntry } from '../../../src/sources/contract.ts'
import { type ParseSitemapOptions, parseSitemap } from '../../../src/sources/sitemap.ts'
import { collect } from './collect.ts'

const href = (url: string): string => new URL(url).href

interface Found {
  readonly pages: SitemapEntry[]
  readonly sitemaps: string[]
  readonly problems: string[]
}

async function read(content: string | Uint8Array, options: ParseSitemapOptions = {}): Promise<Found> {
  const finds = await collect(parseSitemap(Buffer.from(content), options))
  return {
    pages: finds.flatMap((find) => (find.kind === 'page' ? [find.entry] : [])),
    sitemaps: finds.flatMap((find) => (find.kind === 'sitemap' ? [find.url] : [])),
    problems: finds.flatMap((find) => (find.kind === 'problem' ? [find.problem] : [])),
  }
}

async function urls(content: string | Uint8Array, options: ParseSitemapOptions = {}): Promise<string[]> {
  return (await read(content, options)).pages.map(({ url }) => url)
}

const urlset = (inner: string): string =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inner}</urlset>`

describe('parseSitemap', () => {
  it('gives addresses, dates, priorities and languages in the order of the file', async () => {
    const text = urlset(`
      <url><loc> http://a.test/1?x=1&amp;y=2
      </loc><lastmod>2024-05-01</lastmod><priority>0.8</priority></url>
      <url><priority>2</priority><lastmod>soon</lastmod><loc><![CDATA[http://a.test/2?a&b]]></loc>
        <xhtml:link rel="alternate" hreflang="de" href="http://a.test/de/2"/><xhtml:link rel="canonical" href="http://a.test/x"/></url>`)
    expect((await read(text)).pages).toEqual([
      { url: 'http://a.test/1?x=1&y=2', lastmod: '2024-05-01', priority: 0.8 },
      { url: 'http://a.test/2?a&b', alternates: [{ language: 'de', url: 'http://a.test/de/2' }] },
    ])
  })

  it('goes by local names: prefixes, wrong namespaces and none; extensions are no pages', async () => {
    expect(await urls('<s:urlset xmlns:s="x"><s:url><s:loc>http://a.test/</s:loc></s:url></s:urlset>')).toHaveLength(1)
    expect(await urls('<urlset xmlns="http://wrong.test/"><URL><LOC>http://a.test/</LOC></URL></urlset>')).toHaveLength(
      1,
    )
    const image =
      '<url><loc>http://a.test/</loc><image:image><image:loc>http://a.test/i.png</image:loc></image:image></url>'
    expect(await urls(urlset(image))).toEqual(['http://a.test/'])
    expect(
      await urls(urlset('<url><image:loc>http://a.test/i.png</image:loc><loc>http://a.test/</loc></url>')),
    ).toEqual(['http://a.test/'])
  })

  it('tells an index from its children', async () => {
    const index =
      '<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap><sitemap><loc>http://a.test/2.xml</loc></sitemap>'
    expect(await read(index)).toEqual({
      pages: [],
      sitemaps: ['http://a.test/1.xml', 'http://a.test/2.xml'],
      problems: [],
    })
  })

  it('reads RSS, RDF and Atom', async () => {
    const rss = `<rss><channel><link>http://a.test/</link><item><link>http://a.test/1</link><guid>http://a.test/g</guid>
      <pubDate>Tue, 02 Jan 2024 10:00:00 +0100</pubDate></item><item><guid isPermaLink="true">http://a.test/2</guid></item></channel></rss>`
    expect((await read(rss)).pages).toEqual([
      { url: 'http://a.test/1', lastmod: '2024-01-02T09:00:00Z' },
      { url: 'http://a.test/2' },
    ])
    const atom = `<feed><link href="http://a.test/"/><entry><link rel="edit" href="http://a.test/e"/><link href="http://a.test/1"/>
      <updated>2024-01-02T10:00:00.5Z</updated></entry></feed>`
    expect((await read(atom)).pages).toEqual([{ url: 'http://a.test/1', lastmod: '2024-01-02T10:00:00.500Z' }])
    expect(await urls('<rdf:RDF><item rdf:about="x"><link>http://a.test/1</link></item></rdf:RDF>')).toHaveLength(1)
  })

  it('reads a list of URLs, past a byte order mark, blanks and any ends of lines', async () => {
    expect(await read('\uFEFF\n  http://a.test/1\r\nno url\nhttp://a.test/2')).toEqual({
      pages: [{ url: 'http://a.test/1' }, { url: 'http://a.test/2' }],
      sitemaps: [],
      problems: ['1 of its entries are no URL, the first: "no url"'],
    })
  })

  it('unpacks what is packed, as often as it is, also when it is cut', async () => {
    const text = urlset(
      Array.from({ length: 2000 }, (_, index) => `<url><loc>http://a.test/${String(index * 7919)}</loc></url>`).join(
        '',
      ),
    )
    expect(await urls(gzipSync(text))).toHaveLength(2000)
    expect(await urls(gzipSync(gzipSync(text)))).toHaveLength(2000)
    const packed = gzipSync(text)
    const cut = await read(packed.subarray(0, packed.length - 2000))
    expect(cut.pages.length).toBeGreaterThan(100)
    expect(cut.problems).toEqual(['its packed data is damaged or ends too early'])
  })

  it.each([
    [
      'white space and a byte order mark before the declaration',
      `\uFEFF\n\n ${urlset('<url><loc>http://a.test/é</loc></url>')}`,
    ],
    ['UTF-16', Buffer.from(`\uFEFF${urlset('<url><loc>http://a.test/é</loc></url>')}`, 'utf16le')],
    [
      'a declared encoding',
      Buffer.from(
        `<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://a.test/é</loc></url></urlset>`,
        'latin1',
      ),
    ],
    [
      'a declaration of UTF-16 that is not true',
      `<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://a.test/é</loc></url></urlset>`,
    ],
  ])('reads %s', async (_kind, content) => {
    expect(await urls(content)).toEqual(['http://a.test/%C3%A9'])
  })

  it('keeps what can be read of a broken file', async () => {
    expect(
      await urls(
        '<urlset><url><loc>http://a.test/?x=1&y=2</loc></url><url><loc>http://a.test/b</loc><url><loc>http://a.test/c</loc>',
      ),
    ).toEqual(['http://a.test/?x=1&y=2', 'http://a.test/b', 'http://a.test/c'])
    expect(
      await urls('<urlset><url><loc>http://a.test/1</loc><br></url><url></p><loc>http://a.test/2</loc></url>'),
    ).toHaveLength(2)
    expect(await urls('<urlset><url><loc>http://a.test/1</loc><loc>http://a.test/2</loc></url></urlset>')).toHaveLength(
      2,
    )
    expect(await urls('<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/cu')).toEqual([
      'http://a.test/1',
    ])
  })

  it('keeps a bare ampersand, wherever the pieces are cut and wherever it stands', async () => {
    const text = urlset(
      '<url><loc>http://a.test/?a&b&amp;c&#38;d&e;f&</loc><x:link rel="alternate" hreflang="de" href="/?g&h"/></url><url><loc><![CDATA[http://a.test/?i&j&amp;k]]></loc></url>',
    )
    const expected = ['http://a.test/?a&b&c&d&e;f&', 'http://a.test/?i&j&amp;k']
    for (const size of [1, 2, 7, 1000]) {
      const pieces = (async function* () {
        for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
      })()
      const found = await collect(parseSitemap(pieces, { url: 'http://a.test/' }))
      const entries = found.flatMap((find) => (find.kind === 'page' ? [find.entry] : []))
      expect(entries.map(({ url }) => url)).toEqual(expected)
      expect(entries[0]?.alternates?.[0]?.url).toBe('http://a.test/?g&h')
    }
  })

  it('takes relative addresses from where it was found, and no other schemes', async () => {
    const text = urlset(
      ['/a', './b', 'www.c.test/', 'javascript:x', 'ftp://a.test/', 'http://a.test/#f']
        .map((loc) => `<url><loc>${loc}</loc></url>`)
        .join(''),
    )
    expect(await urls(text, { url: 'http://a.test/dir/s.xml' })).toEqual([
      'http://a.test/a',
      'http://a.test/dir/b',
      'http://a.test/',
    ])
    expect(await urls(text)).toEqual(['http://a.test/'])
  })

  it('gives nothing of a page, of another XML and of nothing, and says why', async () => {
    expect(await read('<!DOCTYPE html><html><body><a href="http://a.test/">x</a></body></html>')).toEqual({
      pages: [],
      sitemaps: [],
      problems: ['it is no sitemap: its first element is html'],
    })
    expect((await read('<svg><url><loc>http://a.test/</loc></url></svg>')).problems).toHaveLength(1)
    expect((await read('<!-- nothing -->')).problems).toEqual(['it is no sitemap: it holds no element'])
    expect(await read('')).toEqual({ pages: [], sitemaps: [], problems: [] })
  })

  it('neither reads nor expands entities of the document', async () => {
    const text =
      '<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/hostname"><!ENTITY y "yyyy">]><urlset><url><loc>http://a.test/&x;</loc></url><url><loc>http://a.test/ok</loc></url></urlset>'
    expect(await urls(text)).toEqual(['http://a.test/ok'])
  })

  it('stops at its limits and says so', async () => {
    const many = urlset('<url><loc>http://a.test/</loc></url>'.repeat(60))
    const found = await read(many, { limits: { maxUrls: 50 } })
    expect(found.pages).toHaveLength(50)
    expect(found.problems).toEqual(['it lists more than 50 URLs: the rest is not read'])
    expect((await read(many, { limits: { maxUrls: 60 } })).problems).toEqual([])
    const short = await read(many, { limits: { maxBytes: 1000 } })
    expect(short.pages.length).toBeLessThan(60)
    expect(short.problems).toEqual(['it is longer than 1000 bytes: the rest is not read'])
    expect((await read(gzipSync(Buffer.alloc(80 * 1024 * 1024, ' ')))).problems).toHaveLength(1)
    expect((await read(`<urlset>${'<a>'.repeat(1000)}`)).problems).toEqual(['its elements are nested deeper than 200'])
    expect((await read(`<urlset><url a="${'x'.repeat(3_000_000)}"/>`)).problems).toHaveLength(1)
  })

  it('never rejects, whatever the bytes', async () => {
    const pieces = [
      '<urlset>',
      '<url>',
      '<loc>',
      'http://a.test/',
      '</loc>',
      '</url>',
      '&',
      '&#x110000;',
      '<![CDATA[',
      ']]>',
      '<!--',
      '<?',
      '<!DOCTYPE a [',
      '\0',
      '>',
      '"',
      '<a b=',
      '\u{1f600}',
    ]
    await assert(
      asyncProperty(array(constantFrom(...pieces), { maxLength: 40 }), async (parts) => {
        await read(parts.join(''))
      }),
    )
    await assert(
      asyncProperty(uint8Array({ maxLength: 200 }), async (bytes) => {
        await read(bytes)
        await read(Buffer.concat([gzipSync(urlset('')).subarray(0, 15), bytes]))
      }),
    )
  })
})

const SUITE = new URL('../../../../shared/conformance/sitemaps.json', import.meta.url)

describe.skipIf(!existsSync(SUITE))('the public suite of sitemaps', () => {
  interface Row {
    readonly id: string
    readonly content?: string
    readonly contentBase64?: string
    readonly strict: boolean
    readonly isIndex: boolean
    readonly error: string | null
    readonly urls: readonly { readonly loc: string; readonly lastmod: string | null; readonly priority: number }[]
    readonly sitemaps: readonly { readonly loc: string }[]
  }
  const POLICY = ['11', '12', '15', '19', '29', '31', '38', '39', '43', '46', '47', '8', '35']
  const rows = existsSync(SUITE)
    ? (JSON.parse(readFileSync(SUITE, 'utf8')) as { crawlerCommons: Row[] }).crawlerCommons
    : []
  it.each(rows.filter(({ id }) => !POLICY.includes(id.replace('cc-sitemap-', ''))))('row $id', async (row) => {
    const found = await read(
      row.contentBase64 === undefined ? (row.content ?? '') : Buffer.from(row.contentBase64, 'base64'),
    )
    const got = row.isIndex ? found.sitemaps : found.pages.map(({ url }) => url)
    expect(new Set(got)).toEqual(new Set((row.isIndex ? row.sitemaps : row.urls).map(({ loc }) => href(loc))))
    for (const { loc, priority } of row.urls) {
      expect(found.pages.find(({ url }) => url === href(loc))?.priority ?? 0.5).toBe(priority)
    }
  })
})
