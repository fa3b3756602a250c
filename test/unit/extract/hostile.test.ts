import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePage } from '../../../src/extract/charset.ts'
import { sniffType } from '../../../src/extract/content-type.ts'
import { parseLinkHeader, parseRefreshHeader } from '../../../src/extract/link-header.ts'
import { scanPage } from '../../../src/extract/scan.ts'

// a quadratic scan of these would take many minutes: the time limit of the test is the check
const CHARS = 3_000_000
const PATTERNS = [
  '<',
  '</',
  '<!',
  '<!--',
  '<!--x--!',
  '--!',
  '<a ',
  '<a href="',
  "<a href='x' ",
  'a=b ',
  '<a =',
  '</a',
  '<title>',
  '</titl',
  '<script><!--',
  '<script><!--<script>',
  '</script',
  '<svg>',
  '<svg><title>',
  '<svg></x>',
  '</svg></g>',
  '<![CDATA[',
  '<svg><![CDATA[',
  '<template>',
  '<noscript>',
  '<a href=x>',
  '<table><td><a href=x>',
  '&',
  '&#x',
  '&ampamp',
  '\0',
  '<svg><font color=x>',
  '<a href="http://[">',
  `<a href="${' '.repeat(50)}">`,
]

describe('hostile pages', () => {
  it.each(PATTERNS)('made of %j three million characters long are scanned in linear time', (pattern) => {
    for (const before of ['', '<a href=/first>', '<svg>', '<script>', '<a title="']) {
      const html = before + pattern.repeat(Math.ceil(CHARS / pattern.length / 5))
      scanPage(html, { url: 'http://site.test/', withText: true, charset: 'gbk' })
    }
  })

  it('of one tag with a million attributes still give its first address', () => {
    const html = `<a href=/one ${'href=/x b '.repeat(500_000)}>`
    expect(scanPage(html, { url: 'http://site.test/' }).links).toHaveLength(1)
  })

  it('never make the scanner throw, whatever they hold', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: fc.constantFrom(...'<>/="\'!-? &#;abhrefsvgmt[]\0\t\n\u212aé'), maxLength: 200 }),
    )
    fc.assert(
      fc.property(text, fc.boolean(), fc.constantFrom('utf-8', 'gbk', 'nonsense'), (html, xml, charset) => {
        scanPage(html, { url: 'not a url', withText: true, xml, charset })
      }),
      { numRuns: 5000 },
    )
  })

  it('never make decoding or sniffing throw, whatever bytes they are', () => {
    const header = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant('text/html; charset=iso-2022-jp'))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.option(header, { nil: undefined }), (bytes, contentType) => {
        expect(typeof decodePage(bytes, contentType).text).toBe('string')
        sniffType(bytes, contentType)
      }),
      { numRuns: 2000 },
    )
  })

  it('never make the header readers throw or crawl', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>;,="\\ \r\nab*0.'), maxLength: 100 }), (value) => {
        parseLinkHeader([value])
        parseRefreshHeader(value)
      }),
      { numRuns: 3000 },
    )
    for (const part of ['<', '<a>;', ';', '"', '<a>;x="', '\r\n ', ',']) {
      expect(parseLinkHeader([part.repeat(200_000)]).length).toBeLessThanOrEqual(1000)
    }
  })
})
