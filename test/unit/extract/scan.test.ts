import { describe, expect, it } from 'vitest'
import type { PageScan, ScanOptions } from '../../../src/extract/contract.ts'
import { scanPage } from '../../../src/extract/scan.ts'

const URL_OF_PAGE = 'http://site.test/dir/page.html'

function scan(html: string, options: Partial<ScanOptions> = {}): PageScan {
  return scanPage(html, { url: URL_OF_PAGE, ...options })
}

function urls(html: string, options: Partial<ScanOptions> = {}): string[] {
  return scan(html, options).links.map(({ url }) => url.replace('http://site.test', ''))
}

function text(html: string): (string | undefined)[] {
  return scan(html, { withText: true }).links.map((link) => link.text)
}

function refreshTo(url: string): string {
  return `<meta http-equiv=refresh content="0;url=${url}">`
}

describe('links of a page', () => {
  it.each([
    [
      'every quoting of attributes',
      `<a href="/1"><a href='/2'><a href=/3><a href = "/4"><A HREF=/5>`,
      '/1 /2 /3 /4 /5',
    ],
    ['areas, frames and iframes', '<area href=/1><iframe src=/2></iframe><img src=/no>', '/1 /2'],
    [
      'link elements that lead on',
      '<link rel="next" href=/1><link rel=PREV href=/2><link rel=stylesheet href=/no>',
      '/1 /2',
    ],
    [
      'alternate pages, not alternate style sheets',
      '<link rel="alternate stylesheet" href=/no><link rel=alternate href=/1>',
      '/1',
    ],
    ['frames of a frameset', '<html><head></head><frameset><frame src=/1><frame src=/2></frameset></html>', '/1 /2'],
    ['no frame without a frameset', '<p>text</p><frame src=/no><a href=/1>', '/1'],
    ['white space round and in an address', '<a href="\n /a\tb \n">', '/ab'],
    ['a slash in an unquoted value as part of it', '<a href=/x/>', '/x/'],
    ['the first of two attributes of one name', '<a href=/1 href=/2>', '/1'],
    ['an attribute after a quoted one without a blank', '<a class="x"href="/1">', '/1'],
    ['links in noscript', '<noscript><a href=/1></noscript>', '/1'],
    [
      'no links in scripts, styles, comments, titles and text areas',
      '<script>"<a href=/n>"</script><style><a href=/n></style><!--<a href=/n>--><textarea><a href=/n></textarea><a href=/1>',
      '/1',
    ],
    [
      'a script that hides its end in a comment',
      '<script><!--<script></script><a href=/no>--></script><a href=/1>',
      '/1',
    ],
    ['a link after an abruptly closed comment', '<!--><a href=/1><!---><a href=/2><!--x--!><a href=/3>', '/1 /2 /3'],
    ['no links in the content of templates', '<template><a href=/no><template></template></template><a href=/1>', '/1'],
    ['links in a shadow tree that the page brings', '<template shadowrootmode=open><a href=/1></template>', '/1'],
    ['links of drawings, by both names', '<svg><a href=/1></a><a xlink:href=/2></a></svg>', '/1 /2'],
    [
      'CDATA as text in a drawing and as a comment elsewhere',
      '<svg><![CDATA[<a href=/no>]]></svg><![CDATA[<a href=/no2>]]><a href=/1>',
      '/1',
    ],
    ['style in a drawing as markup', '<svg><style><a href=/1></a></style></svg>', '/1'],
    ['HTML that breaks out of a drawing', '<svg><title><div><p><style><a href=/no></style></svg><a href=/1>', '/1'],
    [
      'no other schemes, however written',
      '<a href="java\nscript:x"><a href=" MAILTO:a@b.test"><a href=data:,x><a href=/1>',
      '/1',
    ],
    ['the page itself for an empty address', '<a href>', '/dir/page.html'],
    ['no address for an element without one', '<a name=x><area><iframe></iframe><link rel=next>', ''],
    ['nothing of a tag that the end of the page cuts', '<a href=/1><a href="/2', '/1'],
    ['nothing after plaintext', '<a href=/1><plaintext><a href=/no>', '/1'],
  ])('holds %s', (_, html, want) => {
    expect(urls(html).join(' ')).toBe(want)
  })

  it('decodes character references by the rules for attributes, once', () => {
    expect(urls('<a href="?a=1&amp;b&copy=2&lt;x">')).toEqual(['/dir/page.html?a=1&b&copy=2%3Cx'])
    expect(urls('<a href="/v?&amp;amp;p">')).toEqual(['/v?&amp;p'])
  })

  it('knows only ASCII letters by another case', () => {
    expect(urls('<lin\u212a rel=next href=/no><svg><a xlin\u212a:href=/no></svg>')).toEqual([])
  })

  it('counts what is no URL and shows the beginning of what is too long', () => {
    const found = scan(`<a href="http://["><a href="/${'x'.repeat(300)}"><a href=/ok>`, { maxUrlBytes: 250 })
    expect(found.invalidLinks).toBe(2)
    expect(found.tooLong).toEqual([`http://site.test/${'x'.repeat(183)}`])
    expect(found.links).toHaveLength(1)
  })

  it('does not call a long javascript or data address a long URL', () => {
    expect(scan(`<a href="data:,${'x'.repeat(9000)}">`)).toMatchObject({ invalidLinks: 0, tooLong: [], links: [] })
  })

  it('leaves out links over the bound and counts them', () => {
    expect(scan('<a href=/1>'.repeat(5), { maxLinks: 3 })).toMatchObject({ droppedLinks: 2 })
    const long = `http://site.test/${'p'.repeat(8000)}`
    const found = scanPage('<a href="?x">'.repeat(50_000), { url: long })
    expect(found.links.length * long.length).toBeLessThan(34e6)
    expect(found.links.length + found.droppedLinks).toBe(50_000)
  })

  it('gives rel as words and tells nofollow', () => {
    const [plain, marked] = scan('<a href=/1><a href=/2 rel="noopener,NoFollow\tx">').links
    expect(plain).toMatchObject({ rel: '', nofollow: false })
    expect(marked).toMatchObject({ rel: 'noopener nofollow x', nofollow: true })
  })

  it('encodes queries in the encoding of the page', () => {
    expect(urls('<a href="/п?q=да&x={|}">', { charset: 'windows-1251' })).toEqual(['/%D0%BF?q=%E4%E0&x={|}'])
    expect(urls('<a href="/s?k=日本">', { charset: 'shift_jis' })).toEqual(['/s?k=%93%FA%96%7B'])
    expect(urls('<a href="/s?k=†#ж">', { charset: 'big5' })).toEqual(['/s?k=%26%238224%3B'])
    expect(urls('<a href="/s?k=ж">', { charset: 'utf-16le' })).toEqual(['/s?k=%D0%B6'])
  })

  it('uses the resolver it is given, with the base of the page', () => {
    const bases: string[] = []
    const resolve = (base: string) => (href: string) => {
      bases.push(base)
      return `http://resolved.test/${href}#f`
    }
    expect(scan('<base href=/b/><a href=x><a href=x>', { resolve }).links.map(({ url }) => url)).toEqual([
      'http://resolved.test/x',
      'http://resolved.test/x',
    ])
    expect(bases).toEqual(['http://site.test/b/'])
  })

  it('reads XHTML by its own rules for empty elements', () => {
    const html = '<html xmlns="http://www.w3.org/1999/xhtml"><script src="x"/><title/><a href="/1"/></html>'
    expect(urls(html, { xml: true })).toEqual(['/1'])
    expect(urls(html)).toEqual([])
  })
})

describe('text of links', () => {
  it.each([
    ['<a href=/1> go <b>on</b>\n &amp; on </a>after', ['go on & on']],
    ['<a href=/1>one<a href=/2>two</a>', ['one', 'two']],
    ['<table><td><a href=/1>one<td>two</table>', ['one']],
    ['<a href=/1><table><td>in</td></table> out</a>', ['in out']],
    ['<a href=/1>x<script>no</script><!-- no -->y</a>', ['xy']],
    ['<a href=/1>open to the end', ['open to the end']],
    ['<a href=/1><svg><title>t</title><path/></svg>x</a>', ['tx']],
    ['<a href=/1><svg><path></a>after', ['']],
    ['<a href=/1>a < b</a>', ['a < b']],
    ['<area href=/1>', ['']],
  ])('of %s', (html, want) => {
    expect(text(html)).toEqual(want)
  })

  it('is not gathered unless asked for, and is bounded', () => {
    expect(scan('<a href=/1>x</a>').links[0]).not.toHaveProperty('text')
    expect(text(`<a href=/1>${'x'.repeat(50_000)}</a>`)[0]).toHaveLength(10_000)
  })
})

describe('base', () => {
  it.each([
    ['<base href="/b/"><base href="/c/">', 'http://site.test/b/'],
    ['<base target=x><base href="b">', 'http://site.test/dir/b'],
    ['<a href=/x></a><p><base href="//cdn.test/d/#f">', 'http://cdn.test/d/'],
    ['<base href="data:,x">', URL_OF_PAGE],
    ['<base href="http://[">', URL_OF_PAGE],
    ['<!-- <base href="/no/"> --><svg><base href="/no/"></svg>', URL_OF_PAGE],
    ['<template><base href="/no/"></template>', URL_OF_PAGE],
    [`<base href="/${'x'.repeat(9000)}">`, URL_OF_PAGE],
  ])('of %s', (html, want) => {
    expect(scan(html).base).toBe(want)
  })

  it('that comes late holds for the links before it too, as in a document', () => {
    expect(urls('<a href=x><base href="/b/">')).toEqual(['/b/x'])
  })
})

describe('title, canonical and robots', () => {
  it.each([
    ['<title>\n A &amp; B\t<i>\n</title>', 'A & B <i>'],
    ['<svg><title>no</title></svg><title>yes</title>', 'yes'],
    ['<title>one</title><title>two</title>', 'one'],
    ['<template><title>no</title></template><title>yes</title>', 'yes'],
    ['<p>none', ''],
    ['<TITLE>x</TITLE >', 'x'],
    ['<title>x</titles></title>', 'x</titles>'],
    ['<title>unclosed', 'unclosed'],
  ])('finds the title of %s', (html, want) => {
    expect(scan(html).title).toBe(want)
  })

  it('resolves the first canonical link that has an address', () => {
    expect(scan('<link rel=canonical href=""><link rel="x Canonical" href="/real?a=1&amp;b#f">').canonical).toBe(
      'http://site.test/real?a=1&b',
    )
    expect(scan('<link rel=canonical href="mailto:x">').canonical).toBeUndefined()
  })

  it('adds up the robots metas that concern the agent', () => {
    const html =
      '<meta name=Robots content=" NoIndex , ,x"><meta name=googlebot content=none><meta name=spoor content=nofollow>'
    expect(scan(html).robots).toEqual(['noindex', 'x', 'nofollow'])
    expect(scan(html, { agent: 'GoogleBot' }).robots).toEqual(['noindex', 'x', 'none'])
  })
})

describe('meta refresh', () => {
  it.each([
    ['0; url=next', { url: 'http://site.test/dir/next', seconds: 0 }],
    [' 5 ,URL = "/q"x', { url: 'http://site.test/q', seconds: 5 }],
    ["3;url='/open", { url: 'http://site.test/open', seconds: 3 }],
    ['7 /bare', { url: 'http://site.test/bare', seconds: 7 }],
    ['1.9;/x#f', { url: 'http://site.test/x', seconds: 1 }],
    ['.5;/x', { url: 'http://site.test/x', seconds: 0 }],
    [`${'9'.repeat(300)};/x`, { url: 'http://site.test/x', seconds: 2 ** 31 - 1 }],
    ['0;url=?a=1&amp;amp;b', { url: 'http://site.test/dir/page.html?a=1&amp;b', seconds: 0 }],
    ['0', undefined],
    ['5;', undefined],
    ['0; url=', undefined],
    ['x;/x', undefined],
    ['٥;/x', undefined],
    ['5x', undefined],
    ['0;url=javascript:x', undefined],
  ])('of %s', (content, want) => {
    expect(scan(`<meta http-equiv=Refresh content="${content.replaceAll('"', '&quot;')}">`).refresh).toEqual(want)
  })

  it('takes the first that leads to a page, and none of noscript, comments and templates', () => {
    expect(scan(refreshTo('javascript:x') + refreshTo('/1') + refreshTo('/2')).refresh?.url).toBe('http://site.test/1')
    const none = `<noscript>${refreshTo('/no')}</noscript><!--${refreshTo('/no')}--><template>${refreshTo('/no')}</template>`
    expect(scan(none).refresh).toBeUndefined()
  })

  it('is resolved against the base', () => {
    expect(scan('<meta http-equiv=refresh content="0;x"><base href=/b/>').refresh?.url).toBe('http://site.test/b/x')
  })
})
