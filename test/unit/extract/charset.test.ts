import { describe, expect, it } from 'vitest'
import { decodePage, decodeText, detectCharset } from '../../../src/extract/charset.ts'

const bytes = (latin1: string): Uint8Array => Buffer.from(latin1, 'latin1')
const utf8 = (text: string): Uint8Array => Buffer.from(text)

// "Welcome to our site, here you will find news and information about the city", in several scripts
const UNLABELLED: readonly (readonly [charset: string, hex: string, word: string])[] = [
  ['windows-1251', 'cdeee2eef1f2e820e320eef0ede0e2e8e7e0f6e8ff20e4e5f2f1eae8f520f1e0e4eee2', 'Новости'],
  ['koi8-r', 'eecfd7cfd3d4c920c9c7d5d2cfd7dac1c3c9d120c4c5d4d3cbc9c820d3c1c4cfd7', 'Новости'],
  ['windows-1253', 'caebf9f220dff1e8e1f4e520f3f4efed20f4fcf0ef20ece1f2', 'τόπο'],
  ['shift_jis', '82e682a482b182bb8141937896 7b82cc97b78d7382cc8fee95f1'.replace(' ', ''), 'ようこそ'],
  ['euc-jp', 'a4e8a4a6a4b3a4bda1a2c6fccbdca4cececfb9d4a4cebef0caf3a4c8', 'ようこそ'],
  ['gb18030', 'bbb6d3adc0b4b5bdced2c3c7b5c4cdf8d5bea3acd4dad5e2c0efc4fabfc9d2d4d5d2b5bdb3c7cad0b5c4d0c2cec5', '欢迎'],
  ['big5', 'c577aaefa8d3a8ecadccaababa00'.slice(0, 24) + 'baf4afb8a141a662b36fb8ccb17aa569a548a7e4a8ec', '歡迎'],
  [
    'euc-kr',
    'bff9c6e4c0ccc1f6bfa120bfc0bdc520b0cdc0bb20c8afbfb5c7d5b4cfb4d92e20b5b5bdc3bfa120b0fcc7d120b4babdba',
    '월페이지',
  ],
]

describe('detectCharset', () => {
  it.each([
    ['a byte order mark before the header', '\xef\xbb\xbfx', 'text/html; charset=gbk', 'utf-8', 'bom'],
    ['UTF-16 by its mark', '\xff\xfe<\0', undefined, 'utf-16le', 'bom'],
    ['the header before a meta', '<meta charset=utf-8>', 'text/html; Charset="GB2312"; x', 'gbk', 'header'],
    ["a header's single quotes and lone parameter", 'x', "charset='utf8'", 'utf-8', 'header'],
    [
      'a meta when the header names nothing that exists',
      '<meta charset=gbk>',
      'text/html; charset=none',
      'gbk',
      'meta',
    ],
    ['a meta far down', `${' '.repeat(5000)}<meta charset=koi8-r>`, 'text/html', 'koi8-r', 'meta'],
    [
      'the http-equiv form far down',
      `${' '.repeat(5000)}<meta content="a; charset = 'big5'" http-equiv=Content-Type>`,
      undefined,
      'big5',
      'meta',
    ],
    [
      'no late meta in a script or comment',
      `${' '.repeat(5000)}<script><meta charset=gbk></script><!--<meta charset=gbk>-->`,
      'text/html',
      'windows-1252',
      'default',
    ],
    ['UTF-8 for a meta that says UTF-16', '<meta charset=utf-16>', undefined, 'utf-8', 'meta'],
    [
      'the XML declaration of XHTML',
      '<?xml version="1.0" encoding=\'ISO-8859-2\'?>',
      'application/xhtml+xml',
      'iso-8859-2',
      'meta',
    ],
    ['UTF-8 for XML that says nothing', '<a>', 'text/xml', 'utf-8', 'default'],
    ['UTF-8 for JSON', '{}', 'application/json', 'utf-8', 'default'],
    ['no meta in plain text', '<meta charset=gbk>', 'text/plain', 'windows-1252', 'default'],
    ['windows-1252 for what is only ASCII', 'abc', 'text/html', 'windows-1252', 'default'],
  ])('takes %s', (_, text, ...[contentType, charset, source]) => {
    expect(detectCharset(bytes(text), contentType)).toEqual({ charset, source })
  })

  it('takes valid UTF-8 for UTF-8 when nothing is declared', () => {
    expect(detectCharset(utf8('<p>é'), 'text/html')).toEqual({ charset: 'utf-8', source: 'detected' })
  })

  it.each(UNLABELLED)('tells an unlabelled page in %s', (charset, hex, word) => {
    const page = Buffer.concat([utf8('<p class=x>English words in the markup '), Buffer.from(hex, 'hex'), utf8('</p>')])
    const decoded = decodePage(page, 'text/html')
    expect(decoded).toMatchObject({ charset, source: 'detected' })
    expect(decoded.text).toContain(word)
  })

  it.each(['café naïve', 'größer', 'Åäö', 'Málaga  Ångström, näher, später', '¿Qué? ¡Año!', 'déjà vu', 'œuvre'])(
    'does not make nonsense of the short Western text %s',
    (text) => {
      expect(detectCharset(bytes(text), 'text/html').charset).toBe('windows-1252')
    },
  )
})

describe('decodeText', () => {
  it('decodes by the tables of the web, whatever the label', () => {
    expect(decodeText(bytes('\x93q\x94 \x80'), 'windows-1252')).toBe('“q” €')
    expect(decodeText(bytes('\x93q\x94'), 'Latin1')).toBe('“q”')
    expect(decodeText(bytes('\xd6\xd0'), 'gb2312')).toBe('中')
  })

  it('leaves out a byte order mark and replaces bad bytes', () => {
    expect(decodeText(bytes('\xef\xbb\xbfa\xff'), 'utf-8')).toBe('a\ufffd')
    expect(decodeText(bytes('\xff\xfea\0'), 'utf-16le')).toBe('a')
  })

  it('reads an encoding that does not exist as windows-1252', () => {
    expect(decodeText(bytes('\xe9'), 'nonsense')).toBe('é')
    expect(decodeText(bytes('<a>\xe9'), 'replacement')).toBe('<a>é')
  })

  it('reads a view into a larger buffer by its own bounds', () => {
    expect(decodeText(bytes('xxabcxx').subarray(2, 5), 'utf-8')).toBe('abc')
    expect(decodeText(bytes('xx\xc3\xa9xx').subarray(2, 4), 'utf-8')).toBe('é')
  })
})
