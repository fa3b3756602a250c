import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { decideRedirect, headersForHop } from '../../../src/fetch/redirect.ts'

const URL_ASKED = 'http://site.test/x/y?q=1'
const to = (location: string, status = 302, method = 'GET'): ReturnType<typeof decideRedirect> =>
  decideRedirect({ status, headers: [['location', location]], url: URL_ASKED }, method)
const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

describe('a redirect', () => {
  it.each([
    ['phone.html', 'http://site.test/x/phone.html'],
    ['//other.test/q', 'http://other.test/q'],
    ['?z=1', 'http://site.test/x/y?z=1'],
    ['', 'http://site.test/x/y?q=1'],
    ['/page#frag', 'http://site.test/page'],
    ['/page#', 'http://site.test/page'],
    ['https://secure.test', 'https://secure.test/'],
    [latin1('/café/ا'), 'http://site.test/caf%C3%A9/%D8%A7'],
    ['/caf\xe9?q=\xe9', 'http://site.test/caf%E9?q=%E9'],
    ['/caf%C3%A9', 'http://site.test/caf%C3%A9'],
    ['/a b', 'http://site.test/a%20b'],
    ['\\\\other.test\\p', 'http://other.test/p'],
    ['/a%2Fb%zz', 'http://site.test/a%2Fb%zz'],
  ])('to %j leads to %s', (location, url) => {
    expect(to(location)).toMatchObject({ kind: 'follow', url })
  })

  it.each([
    'file:///etc/hostname',
    'javascript:alert(1)',
    'ftp://site.test/x',
    'mailto:a@b.test',
    'http://[bad/',
    'http://',
    'data:,x',
  ])('to %s is refused', (location) => {
    expect(to(location).kind).toBe('refused')
  })

  it.each([200, 300, 304, 305, 306, 404])('is none with status %i', (status) => {
    expect(to('/a', status)).toEqual({ kind: 'none' })
  })

  it('is none without a Location', () => {
    expect(decideRedirect({ status: 301, headers: [], url: URL_ASKED })).toEqual({ kind: 'none' })
  })

  it.each([
    [301, 'GET', 'GET', true],
    [301, 'POST', 'GET', false],
    [302, 'POST', 'GET', false],
    [302, 'PUT', 'PUT', true],
    [303, 'POST', 'GET', false],
    [303, 'PUT', 'GET', false],
    [303, 'HEAD', 'HEAD', true],
    [307, 'POST', 'POST', true],
    [308, 'POST', 'POST', true],
  ])('%i turns %s into %s', (...[status, method, next, keepBody]) => {
    expect(to('/a', status, method)).toMatchObject({ method: next, keepBody })
  })

  it('never leads to anything but a parsed http URL without fragment and without a replacement character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
        (location) => {
          const decision = to(location)
          if (decision.kind !== 'follow') return
          expect(new URL(decision.url).href).toBe(decision.url)
          expect(decision.url).toMatch(/^https?:\/\/[^#]*$/)
          if (
            !latin1('\ufffd')
              .split('')
              .every((byte) => location.includes(byte))
          )
            expect(decision.url).not.toContain('%EF%BF%BD')
        },
      ),
    )
  })

  it('does not put credentials into its reason', () => {
    expect(to('ftp://user:secret@site.test/')).toMatchObject({
      reason: expect.not.stringContaining('secret') as string,
    })
  })
})

describe('the headers of a hop', () => {
  const headers = {
    accept: 'text/html',
    authorization: 'Basic x',
    cookie: 'a=b',
    'content-type': 'text/plain',
    host: 'site.test',
    'user-agent': 'spoor',
    'x-token': 's',
    'sec-ch-ua': '"x"',
  }
  const names = (target: string, keepBody = true): readonly string[] =>
    Object.keys(headersForHop({ from: URL_ASKED, to: target, headers, keepBody })).toSorted()

  it('all stay within an origin but for Host', () => {
    expect(names('http://site.test/b')).toEqual([
      'accept',
      'authorization',
      'content-type',
      'cookie',
      'sec-ch-ua',
      'user-agent',
      'x-token',
    ])
  })

  it.each(['http://other.test/', 'https://site.test/', 'http://site.test:8080/'])(
    'leave credentials and own ones behind on the way to %s',
    (target) => {
      expect(names(target)).toEqual(['accept', 'content-type', 'sec-ch-ua', 'user-agent'])
    },
  )

  it('lose what describes a body that is dropped', () => {
    expect(names('http://site.test/b', false)).not.toContain('content-type')
  })
})
