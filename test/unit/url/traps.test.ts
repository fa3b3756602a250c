import { describe, expect, it } from 'vitest'
import { createTrapGuard, type TrapGuard } from '../../../src/url/traps.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const guardNow = (): TrapGuard => createTrapGuard({ nowMs: NOW_MS })

/** A crawl in breadth without fetching: how many pages are asked for, and the rules that fired. */
function crawl(seed: string, linksOf: (url: string) => readonly string[], max = 10_000) {
  const guard = guardNow()
  const known = new Set([seed])
  const queue = [{ url: seed, depth: 0 }]
  const rules = new Set<string>()
  for (let i = 0; i < queue.length && queue.length < max; i++) {
    const page = queue[i]
    if (page === undefined) break
    for (const href of linksOf(page.url)) {
      const url = new URL(href, page.url).href
      if (known.has(url)) continue
      const finding = guard.decide(url, page.depth + 1)
      if (finding !== undefined) rules.add(finding.rule)
      else queue.push({ url, depth: page.depth + 1 })
      known.add(url)
    }
  }
  return { requests: queue.length, rules: [...rules], urls: new Set(queue.map(({ url }) => url)) }
}

const monthOf = (url: string): number => Number(url.slice(-7, -3)) * 12 + Number(url.slice(-2)) - 1
const calendarUrl = (n: number): string =>
  `/calendar/${String(Math.floor(n / 12)).padStart(4, '0')}/${String((n % 12) + 1).padStart(2, '0')}`
const longUrl = (n: number): string => `http://site.test/${'x'.repeat(600)}${n}`
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('growing paths', () => {
  it.each<[string, readonly string[]]>([
    ['one segment', ['a/']],
    ['a host name without a scheme', ['www.vendor.test/privacy/']],
    ['two segments', ['a/b/']],
    ['a slash', ['.//']],
    ['a step back and two forward', ['../a/b/']],
    ['a page under a folder', ['pages/index.html']],
    ['a counter', ['1/', '2/']],
    ['a step to the side', ['../x/y/', 'z/']],
    ...[2, 3, 5, 10, 20].map((n): [string, readonly string[]] => [
      `${n} entries of a menu`,
      range(n).map((i) => `entry${'abcdefghijklmnopqrstuvwxyz'[i]}/`),
    ]),
    ...[3, 8].map((n): [string, readonly string[]] => [
      `${n} pages of a menu`,
      range(n).map((i) => `folder${'abcdefghijkl'[i]}/page.html`),
    ]),
  ])('end within 1,500 requests when they grow by %s', (_, links) => {
    for (const seed of ['http://site.test/', 'http://site.test/de/policy/']) {
      const { requests, urls } = crawl(seed, () => [...links, '/good'])
      expect(requests).toBeLessThanOrEqual(1500)
      expect(urls).toContain('http://site.test/good')
    }
  })

  it('end within 1,500 requests when a single segment grows or each is new', () => {
    expect(crawl('http://site.test/a', (url) => [`${url}-a`]).requests).toBeLessThanOrEqual(1500)
    let n = 0
    expect(crawl('http://site.test/', (url) => [`${url}${n++}/`]).requests).toBeLessThanOrEqual(1500)
  })
})

describe('growing queries', () => {
  it.each<[string, (url: string, n: number) => readonly string[]]>([
    ['the same parameter', (url) => [`${url}&q=`]],
    ['one name with new values', (url, n) => [`${url}&q=${n}`]],
    ['new names', (url, n) => [`${url}&q${n}=1`]],
    [
      'filters in any order',
      (url) => ['color=red', 'size=m', 'brand=x', 'sort=up'].map((filter) => `${url}&${filter}`),
    ],
    ['a value that quotes the page before', (url) => [`/?q=1&back=${encodeURIComponent(url)}`]],
    ['a value that quotes it without escapes', (url) => [`/?q=1&back=${url}`]],
    ['a longer value', (url) => [`${url}x`]],
  ])('end within 4,000 requests when they grow by %s', (_, more) => {
    let n = 0
    const { requests, urls } = crawl(
      'http://site.test/?q=',
      (url) => (url.endsWith('/good') ? [] : [...more(url, n++), '/good']),
      20_000,
    )
    expect(requests).toBeLessThanOrEqual(4000)
    expect(urls).toContain('http://site.test/good')
  })
})

describe('endless dates and sessions', () => {
  it('leaves a calendar that goes on for ever, and names the rule', () => {
    const { requests, rules } = crawl('http://site.test/calendar/2026/01', (url) => [
      calendarUrl(monthOf(url) + 1),
      calendarUrl(monthOf(url) - 1),
    ])
    expect(requests).toBeLessThan(1200)
    expect(rules).toEqual(['calendar'])
  })

  it('keeps archives of earlier centuries', () => {
    const guard = guardNow()
    for (const n of range(3000)) {
      expect(guard.decide(`http://paper.test/${1700 + (n % 250)}/${1 + (n % 12)}/issue-${n}`, 3)).toBeUndefined()
    }
  })

  it.each([
    (id: string) => `http://site.test/page;jsessionid=${id}?x=1`,
    (id: string) => `http://site.test/page?x=1&PHPSESSID=${id}`,
    (id: string) => `http://site.test/page?sid=${id}`,
    (id: string) => `http://site.test/(S(${id.slice(0, 24)}))/page`,
  ])('follows a page under a few session ids only: %s', (urlOf) => {
    const guard = guardNow()
    const findings = range(20).map((n) =>
      guard.decide(urlOf(`${String(n).padStart(4, 'a')}0123456789abcdef0123456789ab`), 1),
    )
    expect(findings.filter((finding) => finding === undefined)).toHaveLength(4)
    expect(findings.at(-1)).toEqual({ rule: 'session-id' })
  })

  it('does not take short values for session ids', () => {
    const guard = guardNow()
    for (const n of range(500)) expect(guard.decide(`http://site.test/seat?sid=${n}&s=${n}`, 1)).toBeUndefined()
  })
})

describe('honest sites of 20,000 pages', () => {
  it.each<[string, (n: number) => string]>([
    ['a shop', (n) => `/shop/category-${n % 40}/item-${n}.html?ref=list`],
    ['numbers alone', (n) => `/p/${n}`],
    ['digits as folders', (n) => `/${[...String(n).padStart(5, '0')].join('/')}/`],
    ['three digits in eight folders', (n) => `/${[...n.toString(3).padStart(10, '0')].slice(0, 6).join('/')}/${n}`],
    ['letters as folders', (n) => `/${'abcdefghij'[n % 10]}/${'klmnopqrst'[Math.floor(n / 10) % 10]}/${n}`],
    [
      'an archive by date',
      (n) =>
        `/${2000 + (n % 26)}/${String(1 + (n % 12)).padStart(2, '0')}/${String(1 + (n % 28)).padStart(2, '0')}/post-${n}`,
    ],
    ['a wiki with translations', (n) => `/${['en', 'de', 'fr'][n % 3]}/wiki/Page_${n}/edit`],
    ['a catalogue by query', (n) => `/list.php?cat=${n % 50}&page=${n}&lang=en&sort=name`],
    [
      'a source tree',
      (n) =>
        `/org/repo/blob/main/src/${['lib', 'test', 'util'][n % 3]}/${['main', 'lib', 'test'][n % 7] ?? 'x'}/f${n}.ts`,
    ],
    [
      'hashes',
      (n) => `/media/${(n % 256).toString(16)}/${((n * 7) % 256).toString(16)}/${(n * 2654435761).toString(16)}.html`,
    ],
    ['long titles', (n) => `/news/${'a-rather-long-title-of-an-article-'.repeat(4)}${n}`],
  ])('are not cut: %s', (_, pathOf) => {
    const guard = guardNow()
    const refused = range(20_000).filter((n) => guard.decide(`http://site.test${pathOf(n)}`, 1 + (n % 9)) !== undefined)
    expect(refused).toEqual([])
  })
})

describe('the guard itself', () => {
  it('never refuses a seed', () => {
    expect(guardNow().decide(`http://site.test/${'a/'.repeat(100)}`, 0)).toBeUndefined()
  })

  it('goes on admitting what it admitted, after a restart too', () => {
    const first = guardNow()
    for (const n of range(600)) first.decide(longUrl(n), 1)
    const second = createTrapGuard({ nowMs: NOW_MS, state: JSON.parse(JSON.stringify(first.toJSON())) })
    expect(second.decide(longUrl(3), 1)).toBeUndefined()
    expect(second.decide(longUrl(599), 1)).toEqual({ rule: 'long-path' })
    expect(second.decide(longUrl(1000), 1)).toEqual({ rule: 'long-path' })
    expect(second.decide('http://other.test/', 1)).toBeUndefined()
  })

  it('can be told other limits', () => {
    const guard = createTrapGuard({ nowMs: NOW_MS, limits: { maxPathSegments: 2, maxSegmentRepeats: Infinity } })
    expect(guard.decide('http://site.test/a/b/c', 1)).toEqual({ rule: 'deep-path' })
    expect(guard.decide('http://site.test/a/b', 1)).toBeUndefined()
  })

  it('names a content that comes back under endless URLs', () => {
    const guard = guardNow()
    const findings = range(150).map((n) => guard.notePage(`http://site.test/${n}`, 'digest'))
    expect(findings.filter((finding) => finding === undefined)).toHaveLength(100)
    expect(findings.at(-1)).toEqual({ rule: 'same-content' })
    expect(guard.notePage('http://other.test/1', 'digest')).toBeUndefined()
  })

  it('keeps its state small whatever comes', () => {
    const guard = guardNow()
    for (const n of range(60_000)) {
      guard.decide(`http://h${n % 3000}.test/w${n}/v${n % 977}/x?a${n % 401}=1&b=2&c=${n}&sid=${n}a0123456789abcdef`, 2)
      guard.notePage(`http://h${n % 3000}.test/${n}`, `digest ${n}`)
    }
    expect(JSON.stringify(guard.toJSON()).length).toBeLessThan(8_000_000)
  })
})
