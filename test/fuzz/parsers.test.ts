import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { decodePage } from '../../src/extract/charset.ts'
import { sniffType } from '../../src/extract/content-type.ts'
import { parseLinkHeader, parseRefreshHeader } from '../../src/extract/link-header.ts'
import { scanPage } from '../../src/extract/scan.ts'
import { createCookieJars } from '../../src/fetch/cookies.ts'
import { cleanHead } from '../../src/fetch/http/clean-head.ts'
import { decideRedirect } from '../../src/fetch/redirect.ts'
import { judge } from '../../src/robots/match.ts'
import { parseRobots } from '../../src/robots/parse.ts'
import { robotsDirectives } from '../../src/robots/tags.ts'
import { parseSitemap } from '../../src/sources/sitemap.ts'
import { canonicalOf, parseHttpUrl } from '../../src/url/canonical.ts'
import { createIdentity, IDENTITY_RULES } from '../../src/url/identity.ts'
import { createResolver } from '../../src/url/resolve.ts'
import { createTrapGuard } from '../../src/url/traps.ts'
import { parseRetryAfter } from '../../src/util/retry-after.ts'
import { LONGEST_STALL_MS, watchLoop } from '../support/loop-watch.ts'
import { fuzzBudget } from './budget.ts'
import { edits, mutate } from './mutate.ts'

const PAGE =
  '<!doctype html><html><head><meta charset=utf-8><base href="/b/"><title>T &amp; t</title><link rel=canonical href=c>' +
  '<meta name=robots content="noindex, nofollow"><meta http-equiv=refresh content="5; url=next">' +
  '<script>if (1 < 2) x("<a href=/no>")</script></head><body><a href="x?a=1&amp;b=2#f" rel="nofollow">\xe9\xfc</a>' +
  '<svg><title>s</title><a xlink:href="/s"></a></svg><!-- <a href=/c> --><iframe src=/f></iframe><a href=//[>bad</a>'
const ROBOTS =
  'User-agent: spoor\nCrawl-delay: 2\nDisallow: /a*b$\nAllow: /a/%C3%A9\n\nUser-agent: *\nDisallow: /\nSitemap: /sm.xml\n'
const SITEMAP =
  '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE x [<!ENTITY lol "lol">]><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' +
  '<url><loc>http://site.test/a?b=1&amp;c=2</loc><lastmod>2024-01-02T03:04:05Z</lastmod><priority>0.7</priority></url>' +
  '<url><loc><![CDATA[http://site.test/b]]></loc></url><sitemap><loc>/other.xml</loc></sitemap></urlset>'
const HEAD =
  'HTTP/1.1 302 Found\r\nDate: Mon, 30 Nov 2026 10:00:00 GMT\r\nContent-Type: text/html; charset="utf-8"\r\nLocation: ../x?y#z\r\n' +
  'Set-Cookie: a="b; c"; Path=/; Domain=site.test; Expires=Wed, 09 Jun 2027 10:18:14 GMT\r\nContent-Length: 10\r\n' +
  'X-Robots-Tag: spoor: nofollow, unavailable_after: 25 Jun 2010 15:00:00 PST\r\nRefresh: 1; url="/r"\r\n' +
  'Link: </n>; rel="next"; title="x"\r\nRetry-After: 120\r\n\r\n'
const URL_TEXT =
  'https://user:pw@www.site.test:8080/a/../b;jsessionid=0123456789abcdef/%7Ec/%zz?q=%D6%D0&utm_source=x&sid=1#f'

/** Runs what is made of it over damaged versions of a text, for a share of the time, and watches the event loop. */
function survives(name: string, text: string, use: (damaged: string) => void | Promise<void>): void {
  const { parameters, timeoutMs } = fuzzBudget(name, 0.05)
  it(`${name} end whatever they hold, and soon`, { timeout: timeoutMs }, async () => {
    await use(text)
    using loop = watchLoop()
    const times = fc.constantFrom(1, 1, 1, 1, 30, 1000)
    await fc.assert(
      fc.asyncProperty(edits, times, async (list, repeats) => {
        // a text over and over again is what quadratic readers choke on
        await use(mutate(text, list).repeat(repeats))
        await systemClock.sleep(0)
      }),
      parameters,
    )
    expect(loop.worstMs()).toBeLessThan(LONGEST_STALL_MS)
  })
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('damaged texts', () => {
  survives('pages', PAGE, (damaged) => {
    const bytes = bytesOf(damaged).subarray(0, 256 * 1024)
    const { text, charset } = decodePage(bytes, 'text/html')
    const scan = scanPage(text, { url: 'http://site.test/d/', charset, withText: true, resolve: createResolver })
    for (const { url } of scan.links.slice(0, 1000)) expect(/^https?:\/\//.test(url)).toBe(true)
  })

  survives('encodings', PAGE, (damaged) => {
    const bytes = bytesOf(damaged).subarray(0, 256 * 1024)
    sniffType(bytes, undefined)
    expect(typeof decodePage(bytes, `text/html; charset=${damaged.slice(0, 12)}`).text).toBe('string')
  })

  survives('robots files', ROBOTS, (damaged) => {
    const robots = parseRobots(bytesOf(damaged).subarray(0, 512 * 1024))
    judge(robots, 'http://site.test/aaaaaaaaaaaaaaaaaaaaaaaaaab', 'spoor')
    judge(robots, `http://site.test/${damaged.slice(0, 2000).replace(/[^a-z*$/]/g, '')}`, 'other')
  })

  survives('sitemaps', SITEMAP, async (damaged) => {
    let finds = 0
    for await (const find of parseSitemap(bytesOf(damaged), { url: 'http://site.test/sm.xml' })) {
      finds++
      if (find.kind === 'page') expect(find.entry.url.startsWith('http')).toBe(true)
    }
    expect(finds).toBeLessThan(60_000)
  })

  survives('heads', HEAD, (damaged) => {
    const clean = cleanHead(`${damaged.slice(0, 256 * 1024)}\r\n\r\n`)
    if (clean.kind !== 'final') return
    expect(cleanHead(clean.head).kind).toBe('final')
    for (const line of clean.head.split('\r\n').slice(0, 100)) readField(line)
  })

  survives(
    'cookies',
    'a="b; c"; Path=/; Domain=site.test; Max-Age=10; Expires=Wed, 09 Jun 2027 10:18:14 GMT',
    (damaged) => {
      const jars = createCookieJars({ clock: systemClock })
      jars.receive('t', 'http://www.site.test/', [damaged, ...damaged.split(',').slice(0, 50)])
      const header = jars.headerFor('t', 'http://www.site.test/') ?? ''
      expect(header.length).toBeLessThan(50 * 4200)
      jars.importText('t', jars.exportText('t'))
      jars.importText('t', damaged)
    },
  )

  survives('addresses', URL_TEXT, (damaged) => {
    const parsed = parseHttpUrl(damaged, { maxUrlBytes: 64 * 1024 })
    if (!parsed.ok) return
    expect(canonicalOf(parsed.canonical)).toBe(parsed.canonical)
    const { identityOf } = createIdentity(IDENTITY_RULES)
    const page = identityOf(parsed.canonical)
    expect(identityOf(page)).toBe(page)
    createTrapGuard({ nowMs: 0 }).decide(parsed.url, 1)
  })
})

/** Every reader of a header's value. */
function readField(line: string): void {
  const value = line.slice(line.indexOf(':') + 1)
  decideRedirect({ status: 302, url: 'http://site.test/', headers: [['location', value]] })
  robotsDirectives({ metas: [value], xRobotsTag: [value], agent: 'spoor', nowMs: 0 })
  parseLinkHeader([value])
  parseRefreshHeader(value)
  parseRetryAfter(value, 0, value)
  sniffType(Buffer.from('<p>'), value)
}
