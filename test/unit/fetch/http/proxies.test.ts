import { describe, expect, it } from 'vitest'

import { systemClock } from '../../../../src/core/clock.ts'
import { applyConnectTo, parseConnectTo } from '../../../../src/fetch/http/connect-to.ts'
import { createProxies, parseNoProxy, type ProxyOptions } from '../../../../src/fetch/http/proxies.ts'
import { basicCredentials, parseProxy } from '../../../../src/fetch/http/proxy-url.ts'
import { parseWireUrl, type WireUrl } from '../../../../src/fetch/http/wire-url.ts'

const NONE: ReadonlySet<never> = new Set()

function wire(url: string): WireUrl {
  const parsed = parseWireUrl(url)
  if (parsed === undefined) throw new Error(url)
  return parsed
}

function setUp(options: Omit<ProxyOptions, 'clock'>): {
  proxies: ReturnType<typeof createProxies>
  advance: (ms: number) => void
  host: (url: string) => string | undefined
} {
  let now = 0
  const proxies = createProxies({ ...options, clock: { ...systemClock, monotonicMs: () => now } })
  return { proxies, advance: (ms) => (now += ms), host: (url) => proxies.choose(wire(url), NONE)?.host }
}

describe('a proxy', () => {
  it.each([
    ['http://p.test:8080', 'http', false, 'p.test', 8080],
    ['p.test:3128', 'http', false, 'p.test', 3128],
    ['https://p.test', 'http', true, 'p.test', 443],
    ['socks5://u:p@[::1]', 'socks5', false, '::1', 1080],
    ['socks5h://p.test:9', 'socks5', false, 'p.test', 9],
  ])('written %s is understood', (text, ...wanted) => {
    const { protocol, secure, host, port } = parseProxy(text)
    expect([protocol, secure, host, port]).toEqual(wanted)
  })

  it.each(['ftp://p.test', 'http://', 'http://p.test:99999', 'socks4://p.test', 'http://u:secret@:1'])(
    'written %s is refused without its secret',
    (text) => {
      expect(() => parseProxy(text)).toThrow(/^expected a proxy(?!.*secret)/)
    },
  )

  it('has its credentials decoded and never in its label', () => {
    const proxy = parseProxy('http://na%3Ame:x%2Fy@p.test:1')
    expect(basicCredentials(proxy)).toBe(`Basic ${Buffer.from('na:me:x/y').toString('base64')}`)
    expect(proxy.label).toBe('http://p.test:1')
  })
})

describe('several proxies', () => {
  const proxies = ['http://a.test:1', 'http://b.test:1', 'http://c.test:1']

  it('take turns', () => {
    const { host } = setUp({ proxies })
    expect(Array.from({ length: 6 }, () => host('http://x.test/'))).toEqual([
      'a.test',
      'b.test',
      'c.test',
      'a.test',
      'b.test',
      'c.test',
    ])
  })

  it('stay with their host when asked to', () => {
    const { host } = setUp({ proxies, rotation: 'host' })
    const found = Array.from({ length: 20 }, (_, at) => [host(`http://h${at}.test/`), host(`http://h${at}.test/other`)])
    expect(found.every(([first, second]) => first === second)).toBe(true)
    expect(new Set(found.flat()).size).toBe(3)
  })

  it('rest when they fail, longer each time, and all resting, the first to wake is taken', () => {
    const { proxies: all, advance, host } = setUp({ proxies: proxies.slice(0, 2) })
    const url = wire('http://x.test/')
    const first = all.choose(url, NONE)
    if (first === undefined) throw new Error('none')
    all.failed(first)
    expect([host('http://x.test/'), host('http://x.test/')]).toEqual(['b.test', 'b.test'])
    const second = all.choose(url, NONE)
    if (second === undefined) throw new Error('none')
    advance(1000)
    all.failed(second)
    expect(host('http://x.test/')).toBe('a.test')
    advance(4500)
    expect(new Set([host('http://x.test/'), host('http://x.test/')])).toEqual(new Set(['a.test']))
    all.worked(second)
    expect(new Set([host('http://x.test/'), host('http://x.test/')])).toEqual(new Set(['a.test', 'b.test']))
    expect(all.exhausted(url, new Set([first]))).toBe(false)
    expect(all.exhausted(url, new Set([first, second]))).toBe(true)
  })
})

describe('the environment', () => {
  const env = {
    http_proxy: 'http://plain.test:1',
    HTTPS_PROXY: 'secure.test:2',
    NO_PROXY: 'skip.test, .deep.test,10.0.0.0/8,port.test:81',
  }

  it('names proxies by scheme, and what goes without', () => {
    const { host } = setUp({ env })
    expect(host('http://x.test/')).toBe('plain.test')
    expect(host('https://x.test/')).toBe('secure.test')
    expect(host('http://skip.test/')).toBeUndefined()
    expect(host('http://sub.skip.test/')).toBeUndefined()
    expect(host('http://127.0.0.1/')).toBeUndefined()
    expect(host('http://port.test:81/')).toBeUndefined()
    expect(host('http://port.test/')).toBe('plain.test')
  })

  it('gives way to what was asked for, and does not take HTTP_PROXY in upper case', () => {
    expect(setUp({ env, proxies: ['http://own.test:1'] }).host('http://x.test/')).toBe('own.test')
    expect(setUp({ env: { HTTP_PROXY: 'http://cgi.test:1' } }).host('http://x.test/')).toBeUndefined()
    expect(setUp({ env: { ALL_PROXY: 'socks5://all.test' } }).host('http://x.test/')).toBe('all.test')
  })

  it.each([
    ['*', 'any.test', true],
    ['.a.test', 'b.a.test', true],
    ['*.a.test', 'b.a.test', true],
    ['a.test', 'nota.test', false],
    ['192.168.0.0/16', '192.168.3.4', true],
    ['fd00::/8', 'fd12::1', true],
    ['10.0.0.1', '10.0.0.1', true],
    ['', 'a.test', false],
  ])('NO_PROXY %j and %s: %s', (text, host, skipped) => {
    expect(parseNoProxy(text)(host, 80)).toBe(skipped)
  })
})

describe('connect-to', () => {
  it.each([
    ['::127.0.0.1:8080', 'any.test', 443, '127.0.0.1', 8080, true],
    ['a.test:80:b.test:', 'a.test', 80, 'b.test', 80, true],
    ['a.test:80:b.test:', 'a.test', 81, 'a.test', 81, false],
    [':443::8443', 'a.test', 443, 'a.test', 8443, false],
    ['[::1]:80:[::2]:81', '::1', 80, '::2', 81, true],
  ])('%s sends %s:%i to %s:%i', (text, ...[host, port, toHost, toPort, chosen]) => {
    const rule = parseConnectTo(text)
    expect(rule).toBeDefined()
    expect(applyConnectTo(rule === undefined ? [] : [rule], { host, port })).toMatchObject({
      host: toHost,
      port: toPort,
      chosen,
    })
  })

  it.each(['', 'a:b', 'a:80:b', 'a:x:b:80', '::127.0.0.1:99999', 'a:0:b:1'])('%j is refused', (text) => {
    expect(parseConnectTo(text)).toBeUndefined()
  })
})

describe('a URL for the wire', () => {
  it.each([
    ['http://a.test/', { secure: false, host: 'a.test', port: 80, authority: 'a.test', path: '/' }],
    [
      'https://a.test:8443/p?q=/@#f',
      { secure: true, host: 'a.test', port: 8443, authority: 'a.test:8443', path: '/p?q=/@' },
    ],
    [
      'http://u:p%40@[::1]:8/x',
      { host: '::1', port: 8, authority: '[::1]:8', authorization: `Basic ${Buffer.from('u:p@').toString('base64')}` },
    ],
  ])('%s is taken apart', (url, wanted) => {
    expect(parseWireUrl(url)).toMatchObject(wanted)
  })

  it.each(['', 'ftp://a.test/', 'http:///', 'http://a.test', 'http://a.test:0/', '//a.test/', 'http://#/'])(
    '%j is none',
    (url) => {
      expect(parseWireUrl(url)).toBeUndefined()
    },
  )
})
