import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { robotsAnswer } from '../../../src/robots/answer.ts'
import { judge } from '../../../src/robots/match.ts'
import { MAX_ROBOTS_BYTES, normalisePath, parseRobots } from '../../../src/robots/parse.ts'

const allowed = (robots: string | Uint8Array, path: string, agent = 'spoor'): boolean =>
  judge(parseRobots(robots), new URL(path, 'http://site.test').href, agent).allowed

describe('the group that applies', () => {
  it.each([
    [
      'the own one alone',
      'User-agent: spoor\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n',
      { '/a': false, '/b': true },
    ],
    [
      'all of the own ones together',
      'User-agent: spoor\nDisallow: /a\nUser-agent: x\nDisallow: /x\nUser-agent: SPOOR\nDisallow: /b',
      { '/a': false, '/b': false, '/x': true },
    ],
    [
      'the one for all, else',
      'User-agent: other\nDisallow: /\nUser-agent: *\nDisallow: /b',
      { '/a': true, '/b': false },
    ],
    ['an own one without rules', 'User-agent: *\nDisallow: /\nUser-agent: spoor\n', { '/a': true }],
    [
      'not one whose name only begins alike',
      'User-agent: spoorling\nDisallow: /\nUser-agent: spo\nDisallow: /',
      { '/a': true },
    ],
    ['one with a version', 'User-agent: Spoor/2.0\nDisallow: /', { '/a': false }],
    [
      'one of several lines, others between',
      'User-agent: a\nSitemap: /s\nCrawl-delay: 1\n\nUser-agent: spoor\n# c\nDisallow: /',
      { '/a': false },
    ],
    ['none before the first agent line', 'Disallow: /\nUser-agent: *\nDisallow: /x', { '/a': true }],
  ])('is %s', (_, robots, verdicts) => {
    for (const [path, expected] of Object.entries(verdicts))
      expect([path, allowed(robots, path)]).toEqual([path, expected])
  })

  it('is found from a whole User-Agent', () => {
    const robots = 'User-agent: thatbot\nDisallow: /a\nUser-agent: *\nDisallow: /b'
    expect(allowed(robots, '/a', 'ThatBot/2.1 (+http://that.test)')).toBe(false)
    expect(allowed(robots, '/a', 'Mozilla/5.0 (compatible; ThatBot/2.1)')).toBe(false)
    expect(allowed(robots, '/b', 'Mozilla/5.0 (X11)')).toBe(false)
    expect(judge(parseRobots(robots), 'http://h/a', 'thatbot/1')).toMatchObject({
      group: 'thatbot',
      rule: 'Disallow: /a',
      line: 2,
    })
  })
})

describe('the rule that decides', () => {
  it.each([
    ['Allow: /x/\nDisallow: /x/page', { '/x/page.html': false, '/x/y': true }],
    ['Disallow: /\nAllow: /', { '/a': true }],
    ['Disallow: /*.html$\nAllow: /a.html', { '/a.html': false, '/a.html?x': true, '/b.html': false }],
    ['Disallow: /a*b*c$', { '/abc': false, '/aXbYc': false, '/abcd': true, '/acb': true }],
    ['Disallow: /a$b', { '/a$bc': false, '/a': true }],
    ['Disallow: /x%2Ay\nDisallow: /z%24', { '/x*y': false, '/xay': true, '/z$': false }],
    ['Disallow: *', { '/a': false }],
    ['Disallow: a', { '/a': true }],
    ['Disallow: $', { '/': true }],
    ['Disallow: /$', { '/': false, '/a': true }],
    ['Disallow: /ツ', { '/%E3%83%84': false, '/%e3%83%84x': false }],
    ['Disallow: /%62%61z', { '/baz': false }],
    ['Disallow: /a%2Fb', { '/a%2fb': false, '/a/b': true }],
    ["Disallow: /q?x='", { "/q?x='": false, '/q?x=%27': false }],
    ['Disallow: /*?', { '/a?': false, '/a?b': false, '/a': true }],
    ['Disallow:', { '/a': true }],
    ['Disallow: /', { '/robots.txt': true, '/robots.txt?x': false }],
    ['Disallow: /a # all of it', { '/a': false }],
    ['disallow /a\nDisallow /b c\nDissalow: /d\nSomething: /e', { '/a': false, '/b': true, '/d': false, '/e': true }],
    [
      'Disallow: /a\nDisallow: /aa\nAllow: /aaa\nDisallow: /aaab',
      { '/a': false, '/aab': false, '/aaa': true, '/aaac': true, '/aaab': false, '/b': true },
    ],
  ])('of %j', (rules, verdicts) => {
    for (const [path, expected] of Object.entries(verdicts)) {
      expect([path, allowed(`User-agent: *\n${rules}\n`, path)]).toEqual([path, expected])
    }
  })

  it('is the one that looking at each rule in turn finds', () => {
    const pattern = fc
      .array(fc.constantFrom('/', 'a', 'b', '*', '$', '%41', '.'), { maxLength: 7 })
      .map((p) => `/${p.join('')}`)
    const rule = fc.record({ allow: fc.boolean(), pattern })
    const path = fc.array(fc.constantFrom('/', 'a', 'b', 'A', '.x'), { maxLength: 8 }).map((p) => `/${p.join('')}`)
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 12 }), path, (rules, raw) => {
        const url = new URL(`http://h.test${raw}`).href
        const text = rules.map((r) => `${r.allow ? 'Allow' : 'Disallow'}: ${r.pattern}`).join('\n')
        expect(allowed(`User-agent: *\n${text}`, url)).toBe(slowlyAllowed(rules, url.slice('http://h.test'.length)))
      }),
      { numRuns: 5000 },
    )
  })
})

describe('the file as it comes', () => {
  const rules = 'User-agent: *\nDisallow: /x\n'

  it.each<[string, string | Uint8Array]>([
    ['a byte order mark', `\ufeff${rules}`],
    ['CR alone', rules.replaceAll('\n', '\r')],
    ['CRLF', rules.replaceAll('\n', '\r\n')],
    ['UTF-16, little end first', Buffer.from(`\ufeff${rules}`, 'utf16le')],
    ['UTF-16, big end first', Buffer.from(`\ufeff${rules}`, 'utf16le').swap16()],
    ['a mark of UTF-16 before plain text', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(rules)])],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from([0x23, 0xe9, 0xff, 0x0a]), Buffer.from(rules)])],
    ['blanks and odd case', '  USER-AGENT :\t*\n\t disALLOW\t:/x  '],
  ])('is read with %s', (_, robots) => {
    expect(allowed(robots, '/xy')).toBe(false)
    expect(allowed(robots, '/y')).toBe(true)
  })

  it('keeps bytes that are no UTF-8 as they are', () => {
    const robots = Buffer.from('User-agent: *\nDisallow: /caf\u00e9', 'latin1')
    expect(allowed(robots, '/caf%E9')).toBe(false)
    expect(allowed(robots, '/caf%C3%A9')).toBe(true)
  })

  it('counts up to 500 KiB, and no rule that the limit cuts', () => {
    const head = 'User-agent: *\nDisallow: /x\n'
    const padded = (tail: string): string => `${head}${'#'.repeat(MAX_ROBOTS_BYTES - head.length - 12)}\n${tail}`
    expect(allowed(padded('Disallow:/y'), '/y')).toBe(false)
    expect(allowed(padded('Disallow:/y'), '/x')).toBe(false)
    expect(allowed(padded('Disallow: /yes'), '/z')).toBe(true)
  })

  it('gives delay and sitemaps: the own delay, absolute addresses', () => {
    const robots =
      'Sitemap: /one.xml\nUser-agent: a\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: .5\nDisallow:\nsitemap: http://o.test/T.xml\nSitemap: http://['
    expect(judge(parseRobots(robots), 'http://h.test/p', 'spoor')).toEqual({
      allowed: true,
      rule: null,
      line: null,
      group: '*',
      crawlDelay: 0.5,
      sitemaps: ['http://h.test/one.xml', 'http://o.test/T.xml'],
    })
    expect(judge(parseRobots(robots), 'http://h.test/p', 'a').crawlDelay).toBe(1)
  })

  it.each(['inf', '-5', 'abc', '1e3', '10s', '2,5', '', '0x10', '1 2'])('leaves a delay of %j out', (value) => {
    expect(judge(parseRobots(`User-agent: *\nCrawl-delay: ${value}`), 'http://h.test/', 'spoor').crawlDelay).toBeNull()
  })

  it('bounds a delay at a day', () => {
    expect(judge(parseRobots('User-agent: *\nCrawl-delay: 9999999'), 'http://h.test/', 'spoor').crawlDelay).toBe(86_400)
  })

  it('never throws and always gives a verdict', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom('User-agent: *', 'Disallow: /', 'Allow: /*a$', 'Sitemap: x', 'Crawl-delay: 1'),
    )
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r', '\r\n'), (lines, end) => {
        expect(robotsAnswer(lines.join(end), 'http://h.test/a', 'spoor')).toHaveProperty('allowed')
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(robotsAnswer(bytes, 'http://h.test/a', 'spoor')).toHaveProperty('allowed')
      }),
    )
    expect(robotsAnswer('', 'no url', 'spoor')).toHaveProperty('error')
  })

  it.each([
    ['thousands of stars', `Disallow: /${'*a'.repeat(100_000)}b`],
    ['stars before long pieces', `Disallow: /*${'a'.repeat(4000)}b\n`.repeat(100)],
    [
      'tens of thousands of rules',
      Array.from({ length: 30_000 }, (_, i) => `Disallow: /${'a'.repeat(i % 8)}${i}`).join('\n'),
    ],
    ['tens of thousands of agents and delays', 'User-agent: x\nCrawl-delay: 1\n'.repeat(15_000)],
    ['agents in a row', `${'User-agent: x\n'.repeat(20_000)}${'Crawl-delay: 1\n'.repeat(10_000)}`],
    ['nested prefixes', Array.from({ length: 900 }, (_, i) => `Disallow: /${'a'.repeat(i)}`).join('\n')],
    ['one endless line', 'x'.repeat(MAX_ROBOTS_BYTES)],
  ])('takes no time worth naming for %s', (_, text) => {
    const robots = parseRobots(`User-agent: *\n${text}`)
    const started = performance.now()
    for (let i = 0; i < 10; i++) judge(robots, `http://h.test/${'a'.repeat(8000)}`, 'spoor')
    // Ten judgements take a few milliseconds; quadratic ones would take minutes.
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})

/** RFC 9309, 2.2.2, rule by rule, by regular expressions. */
function slowlyAllowed(rules: readonly { allow: boolean; pattern: string }[], path: string): boolean {
  let best = { length: -1, allow: true }
  for (const { allow, pattern } of rules) {
    const text = normalisePath(pattern).replace(/\$(?!$)/g, '%24')
    const source = text
      .replace(/[.+?^{}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replace(/\$(?!$)/g, '\\$')
    if (!new RegExp(`^${source}`).test(normalisePath(path).replaceAll('$', '%24').replaceAll('*', '%2A'))) continue
    if (text.length > best.length || (text.length === best.length && allow)) best = { length: text.length, allow }
  }
  return path === '/robots.txt' || best.allow
}
