import { existsSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonAnswer } from '../../../src/url/canon-answer.ts'
import { canonicalOf, fingerprintOf, hostKeyOf, isLoopbackHost, parseHttpUrl } from '../../../src/url/canonical.ts'

const canonical = (url: string): string => {
  const parsed = parseHttpUrl(url)
  return parsed.ok ? parsed.canonical : `problem: ${parsed.problem}`
}

describe('a URL parsed', () => {
  it('keeps what goes on the wire as the standard writes it, without fragment', () => {
    expect(parseHttpUrl('HTTP://User@Site.TEST:80/%7eu/a b?x=%d6%d0#f')).toEqual({
      ok: true,
      url: 'http://User@site.test/%7eu/a%20b?x=%d6%d0',
      canonical: 'http://User@site.test/~u/a%20b?x=%D6%D0',
      hostKey: 'site.test',
    })
  })

  it.each([
    ['http://h.test/%41%zz%7e', 'http://h.test/A%zz~'],
    ['http://h.test/%%36%31', 'http://h.test/%%36%31'],
    ['http://h.test/?%2541', 'http://h.test/?%2541'],
    ['http://h.test/%2525', 'http://h.test/%2525'],
    ['http://h.test/%4%31', 'http://h.test/%4%31'],
    ['http://h.test/a%2fb%3fc%3bd%25e', 'http://h.test/a%2Fb%3Fc%3Bd%25e'],
    ['http://h.test/?b=2&a=1&a=0', 'http://h.test/?b=2&a=1&a=0'],
    ['http://h.test/?', 'http://h.test/?'],
    ['http://h.test/a/%2e%2E/b', 'http://h.test/b'],
  ])('has the canonical form of %s', (url, expected) => {
    expect(canonical(url)).toBe(expected)
  })

  it.each([
    ['', 'found nothing'],
    ['example.com', 'http:// or https://'],
    ['ftp://h/', 'scheme ftp:'],
    ['file:///etc/passwd', 'scheme file:'],
    ['javascript:alert(1)', 'scheme javascript:'],
    ['http://[broken', 'valid host'],
    ['http://h:99999/', 'valid host'],
  ])('is refused with what was expected and found: %s', (url, words) => {
    const parsed = parseHttpUrl(url)
    expect(parsed).toMatchObject({ ok: false, reason: 'invalid-url' })
    expect(parsed.ok ? '' : parsed.problem).toContain(words)
  })

  it('says that it is too long', () => {
    expect(parseHttpUrl(`http://h/${'a'.repeat(8183)}`).ok).toBe(true)
    expect(parseHttpUrl(`http://h/${'a'.repeat(8184)}`)).toMatchObject({ ok: false, reason: 'url-too-long' })
    expect(parseHttpUrl('http://h/abc', { maxUrlBytes: 10 })).toMatchObject({ ok: false, reason: 'url-too-long' })
    expect(parseHttpUrl(`http://h/#${'a'.repeat(9000)}`).ok).toBe(true)
  })

  it('is resolved against a base, given either way', () => {
    expect(parseHttpUrl('../x?y', 'http://h.test/a/b/c')).toMatchObject({ url: 'http://h.test/a/x?y' })
    expect(parseHttpUrl('?q', { base: 'http://h.test/a?z' })).toMatchObject({ url: 'http://h.test/a?q' })
    expect(parseHttpUrl('/x', 'no base')).toMatchObject({ ok: false, problem: 'the base is no URL that can be parsed' })
  })

  it('has a canonical form that is its own canonical form and takes nothing off the bytes', () => {
    const piece = fc.constantFrom(
      '%',
      '%4',
      '%25',
      '%41',
      '%2f',
      '%7E',
      '%d6',
      '%zz',
      '1',
      'a',
      'F',
      '/',
      '?',
      '&',
      '=',
      '.',
      'é',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const url = new URL(`http://h.test/${pieces.join('')}`).href.split('#')[0] ?? ''
        const once = canonicalOf(url)
        expect(canonicalOf(once)).toBe(once)
        expect(new URL(once).href).toBe(once)
        expect(Buffer.from(unescapeBytes(once), 'latin1')).toEqual(Buffer.from(unescapeBytes(url), 'latin1'))
      }),
      { numRuns: 3000 },
    )
  })

  it('takes time linear in its length', () => {
    expect(canonical(`http://h.test/${'%41'.repeat(2700)}`)).toBe(`http://h.test/${'A'.repeat(2700)}`)
    expect(canonAnswer(`http://h.test/?x=${'%%'.repeat(200_000)}`).canonical).toHaveLength(400_017)
  })
})

describe('names of a URL', () => {
  it('are 16 characters of the SHA-256', () => {
    expect(fingerprintOf('http://example.com/')).toBe('KhtAJCDvRld0cc3H')
    expect(fingerprintOf('http://example.com/')).toMatch(/^[\w-]{16}$/)
  })

  it.each([
    ['http://h.test/', 'h.test'],
    ['https://u:p@h.test:8443/a@b', 'h.test:8443'],
    ['http://[::1]:8080/', '[::1]:8080'],
    ['http://h.test/?@x', 'h.test'],
  ])('hold the host with its port: %s', (url, hostKey) => {
    expect(hostKeyOf(url)).toBe(hostKey)
  })

  it('tell loopback by name', () => {
    const yes = [
      'localhost',
      'localhost:80',
      'a.localhost',
      'localhost.',
      '127.0.0.1',
      '127.9.9.9:1',
      '[::1]',
      '[::1]:80',
      '[::ffff:7f00:1]',
    ]
    const no = ['localhost.test', 'notlocalhost', '128.0.0.1', '[::2]', '127.0.0.1.test', '10.0.0.1', '1127.0.0.1']
    expect(yes.filter((host) => !isLoopbackHost(host))).toEqual([])
    expect(no.filter((host) => isLoopbackHost(host))).toEqual([])
  })
})

const SHARED = new URL('../../../../shared/conformance/url-wpt-urltestdata.json', import.meta.url)
describe.skipIf(!existsSync(SHARED))('the public URL test data', () => {
  it('is answered: refused, or the href without fragment', () => {
    interface Row {
      readonly input: string
      readonly base: string | null
      readonly failure?: boolean
      readonly href?: string
    }
    const { cases } = JSON.parse(readFileSync(SHARED, 'utf8')) as { readonly cases: readonly Row[] }
    for (const { input, base, failure, href } of cases) {
      // Where this Node's own parser differs, there is nothing that we could do.
      if (base === null && (failure === true) === !URL.canParse(input)) {
        const isRefused = failure === true || !/^https?:/.test(href ?? '')
        expect([input, canonAnswer(input).error !== undefined]).toEqual([input, isRefused])
      }
    }
    expect(cases.length).toBeGreaterThan(100)
  })
})

function unescapeBytes(url: string): string {
  return url.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
