import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatDurationOption,
  formatSizeOption,
  parseBoolean,
  parseChoice,
  parseConnectTo,
  parseCookie,
  parseCount,
  parseDuration,
  parseHeader,
  parseHttpOption,
  parseProxy,
  parseRegex,
  parsePart,
  parseSelect,
  partOf,
  parseSize,
  parseText,
  type Parsed,
} from '../../../src/config/parse.ts'

const valueOf = <T>(parsed: Parsed<T>): T | string => (parsed.ok ? parsed.value : `! ${parsed.expected}`)
const isBad = (parsed: Parsed<unknown>): boolean => !parsed.ok && parsed.expected.length > 5

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['30d', 2_592_000_000],
    ['0', 0],
    ['0.3', 300],
    ['.5', 500],
    ['7', 7_000],
    [' 1 S ', 1_000],
  ])('%s is %d ms', (text, ms) => {
    expect(valueOf(parseDuration(text))).toBe(ms)
  })

  test.each([
    '',
    'two',
    '-1s',
    '1 week',
    '1e3',
    '1,5s',
    '5mb',
    's',
    '1.s.',
    'constructor',
    '1toString',
    '9'.repeat(40),
  ])('%j is none', (text) => {
    expect(isBad(parseDuration(text))).toBe(true)
  })

  test('the bounds hold and are told', () => {
    expect(valueOf(parseDuration('0', { min: 1 }))).toMatch(/a duration of 1ms or more/)
    expect(valueOf(parseDuration('2h', { max: 3_600_000 }))).toMatch(/from 0 to 1h/)
  })

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
        expect(valueOf(parseDuration(formatDurationOption(ms)))).toBe(ms)
      }),
    )
  })
})

describe('sizes', () => {
  test.each([
    ['512b', 512],
    ['64kb', 65_536],
    ['10mb', 10_485_760],
    ['1GB', 1_073_741_824],
    ['1.5kb', 1_536],
    ['100', 100],
  ])('%s is %d bytes', (text, bytes) => {
    expect(valueOf(parseSize(text))).toBe(bytes)
  })

  test.each(['', '10zb', '10m', '-1kb', 'kb', '999999999999gb'])('%j is none', (text) => {
    expect(isBad(parseSize(text))).toBe(true)
  })

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (bytes) => {
        expect(valueOf(parseSize(formatSizeOption(bytes)))).toBe(bytes)
      }),
    )
  })
})

describe('counts, choices, switches and texts', () => {
  test.each([
    ['0', 0],
    ['12', 12],
    ['1_000_000', 1_000_000],
  ])('%s is the count %d', (text, count) => {
    expect(valueOf(parseCount(text))).toBe(count)
  })

  test.each(['', '-1', '1.5', '1e3', '0x10', 'two', '1__0', '99999999999999999'])('%j is no count', (text) => {
    expect(isBad(parseCount(text))).toBe(true)
  })

  test('a choice is one of its words', () => {
    expect(valueOf(parseChoice('host', ['host', 'any']))).toBe('host')
    expect(valueOf(parseChoice('galaxy', ['host', 'any']))).toBe('! one of host, any')
  })

  test.each([
    ['1', true],
    ['Yes', true],
    ['off', false],
    ['false', false],
  ])('%s is the switch %j', (text, on) => {
    expect(valueOf(parseBoolean(text))).toBe(on)
  })

  test('a switch is not any word, and a text is not empty', () => {
    expect(isBad(parseBoolean('maybe'))).toBe(true)
    expect(isBad(parseText(''))).toBe(true)
    expect(isBad(parseText('a\0b'))).toBe(true)
  })
})

describe('patterns and pairs', () => {
  test('a regular expression is read with the flag u where that is possible', () => {
    expect(valueOf(parseRegex('^/\\d+$'))).toEqual(/^\/\d+$/u)
    expect(valueOf(parseRegex('a\\-b'))).toEqual(new RegExp(String.raw`a\-b`))
    expect(valueOf(parseRegex('(['))).toMatch(/a regular expression \(unterminated/)
    expect(isBad(parseRegex(''))).toBe(true)
  })

  test('a header has a name and a value', () => {
    expect(valueOf(parseHeader('Accept-Language:  en, de '))).toEqual({ name: 'Accept-Language', value: 'en, de' })
    expect(valueOf(parseHeader('X-Empty:'))).toEqual({ name: 'X-Empty', value: '' })
    for (const bad of ['no colon', ': x', 'a b: c', 'A: b\r\nC: d', '']) expect(isBad(parseHeader(bad))).toBe(true)
  })

  test('a cookie has a name and a value', () => {
    expect(valueOf(parseCookie('a=b=c'))).toEqual({ name: 'a', value: 'b=c' })
    for (const bad of ['a', '=b', 'a=b;c', 'a=b\nc']) expect(isBad(parseCookie(bad))).toBe(true)
  })

  test('a part is a number of items or a size', () => {
    expect(partOf(valueOf(parsePart('10_000')) as string)).toEqual({ items: 10_000 })
    expect(partOf(valueOf(parsePart(' 1mb ')) as string)).toEqual({ bytes: 1_048_576 })
    for (const bad of ['0', '', '0kb', 'many', '-1']) expect(isBad(parsePart(bad))).toBe(true)
  })

  test('a field has a name, a selector and perhaps an attribute', () => {
    const field = { name: 'price', field: '.price', many: false }
    expect(valueOf(parseSelect('price=.price'))).toEqual(field)
    expect(valueOf(parseSelect(' price = .price '))).toEqual(field)
    expect(valueOf(parseSelect('price[]=.price'))).toEqual({ ...field, many: true })
    expect(valueOf(parseSelect('price as number=.price'))).toEqual({ ...field, as: 'number' })
    expect(valueOf(parseSelect('price[] as url=a@href'))).toEqual({ ...field, field: 'a@href', many: true, as: 'url' })
    expect(valueOf(parseSelect('price as it is=.price'))).toEqual({ ...field, name: 'price as it is' })
    expect(valueOf(parseSelect('mail=a[href*="@"]@href'))).toMatchObject({ field: 'a[href*="@"]@href' })
    expect(valueOf(parseSelect('id=xpath://a[@id="x"]'))).toMatchObject({ field: 'xpath://a[@id="x"]' })
    for (const bad of ['price', '=x', 'price=', 'price=@src', 'price as numbr=.price'])
      expect(isBad(parseSelect(bad))).toBe(true)
  })

  test.each(['::127.0.0.1:8080', 'site.test:80:127.0.0.1:8080', ':::', '[::1]:80:[::1]:81', 'a:::81'])(
    '%s is a rule where to connect to',
    (text) => {
      expect(valueOf(parseConnectTo(text))).toBe(text)
    },
  )

  test.each(['', 'a:b', 'a:b:c:d', 'a:80:b', 'a:80:b:99999', 'a:0:b:1', '::1:80:x:1', 'a:80:b:81:c'])(
    '%j is none',
    (text) => {
      expect(isBad(parseConnectTo(text))).toBe(true)
    },
  )

  test('a proxy and a URL are told from what is none', () => {
    for (const good of ['http://u:p%40ss@127.0.0.1:8080', 'https://proxy.test', 'socks5://user:pass@h:1080'])
      expect(valueOf(parseProxy(good))).toBe(good)
    for (const bad of ['127.0.0.1:8080', 'ftp://h', 'http://', '']) expect(isBad(parseProxy(bad))).toBe(true)
    expect(valueOf(parseHttpOption('https://a.test/x'))).toBe('https://a.test/x')
    for (const bad of ['a.test', 'file:///x', 'http://[']) expect(isBad(parseHttpOption(bad))).toBe(true)
  })

  test('no text makes a parser throw', () => {
    const parsers = [
      parseDuration,
      parseSize,
      parseCount,
      parseBoolean,
      parseText,
      parseHeader,
      parseCookie,
      parseSelect,
      parseConnectTo,
      parseProxy,
      parseHttpOption,
      parseRegex,
    ]
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const parse of parsers) expect(typeof parse(text).ok).toBe('boolean')
      }),
    )
  })
})
