import { existsSync, readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { systemClock, type Clock } from '../../../src/core/clock.ts'
import type { StateStore } from '../../../src/core/state-store.ts'
import { parseCookieDate } from '../../../src/fetch/cookie-date.ts'
import { createCookieJars, type CookieJars } from '../../../src/fetch/cookies.ts'

const NOW = Date.UTC(2026, 0, 1)

function jarsAt(nowMs = NOW): CookieJars & { advance(ms: number): void } {
  let now = nowMs
  const clock: Clock = { ...systemClock, nowMs: () => now }
  return Object.assign(createCookieJars({ clock }), {
    advance: (ms: number) => {
      now += ms
    },
  })
}

function memoryState(): StateStore & { readonly entries: Map<string, string>; writes: number } {
  const entries = new Map<string, string>()
  const state = {
    entries,
    writes: 0,
    get: async (key: string) => entries.get(key),
    set: async (changes: Readonly<Record<string, string | undefined>>) => {
      state.writes++
      for (const [key, value] of Object.entries(changes)) {
        if (value === undefined) entries.delete(key)
        else entries.set(key, value)
      }
    },
    keys: async (prefix: string) => [...entries.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
  }
  return state
}

const A = 'http://www.shop.test/dir/page'

describe('a jar', () => {
  it('sends back what was set, to the hosts, paths and schemes it was set for', () => {
    const jars = jarsAt()
    jars.receive('t', A, ['host=1', 'wide=2; Domain=shop.test; Path=/', 'root=3; Path=/'])
    jars.receive('t', 'https://www.shop.test/', ['safe=4; Secure'])
    expect(jars.headerFor('t', A)).toBe('host=1; wide=2; root=3')
    expect(jars.headerFor('t', 'http://www.shop.test/')).toBe('wide=2; root=3')
    expect(jars.headerFor('t', 'https://www.shop.test/')).toBe('wide=2; root=3; safe=4')
    expect(jars.headerFor('t', 'http://shop.test/')).toBe('wide=2')
    expect(jars.headerFor('t', 'http://other.shop.test:8080/')).toBe('wide=2')
    expect(jars.headerFor('t', 'http://notshop.test/')).toBeUndefined()
    expect(jars.headerFor('u', A)).toBeUndefined()
  })

  it.each([
    'x=1; Domain=test',
    'x=1; Domain=other.test',
    'x=1; Domain=deeper.www.shop.test',
    'x=1; Secure',
    '__Host-x=1; Path=/',
    '__Secure-x=1',
    'x=\x01y',
    `x=${'y'.repeat(5000)}`,
    '',
  ])('refuses %j over http', (field) => {
    const jars = jarsAt()
    jars.receive('t', A, [field])
    expect(jars.headerFor('t', A)).toBeUndefined()
  })

  it.each(['http://a.co.uk/', 'http://a.github.io/'])('refuses a cookie for the whole public suffix of %s', (url) => {
    const jars = jarsAt()
    jars.receive('t', url, [`x=1; Domain=${new URL(url).hostname.slice(2)}`])
    expect(jars.headerFor('t', url)).toBeUndefined()
  })

  it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://localhost/', 'http://xn--bcher-kva.example/'])(
    'keeps cookies of %s',
    (url) => {
      const jars = jarsAt()
      jars.receive('t', url, ['x=1'])
      expect(jars.headerFor('t', url)).toBe('x=1')
    },
  )

  it('keeps bytes beyond ASCII, commas, and cookies without a name or a value', () => {
    const jars = jarsAt()
    jars.receive('t', A, ['n=caf\xc3\xa9', 'a="b, c; d"', '=nameless', 'empty='])
    expect(jars.headerFor('t', A)).toBe('n=caf\xc3\xa9; a="b, c; nameless; empty=')
  })

  it('forgets a cookie when it expires, however often it was used, and when it is deleted', () => {
    const jars = jarsAt()
    jars.receive('t', A, ['a=1; Max-Age=60', 'b=1; Expires=Thu, 01 Jan 2026 00:00:30 GMT', 'c=1'])
    jars.advance(29_000)
    expect(jars.headerFor('t', A)).toBe('a=1; b=1; c=1')
    jars.advance(2000)
    expect(jars.headerFor('t', A)).toBe('a=1; c=1')
    jars.advance(30_000)
    expect(jars.headerFor('t', A)).toBe('c=1')
    jars.receive('t', A, ['c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'])
    expect(jars.headerFor('t', A)).toBeUndefined()
  })

  it('wins over a copied header and keeps its other cookies', () => {
    const jars = jarsAt()
    jars.receive('t', A, ['foo=2'])
    expect(jars.headerFor('t', A, 'foo=1; bar=3')).toBe('foo=2; bar=3')
    expect(jars.headerFor('t', 'http://else.test/', 'foo=1')).toBe('foo=1')
  })

  it('holds 50 cookies a domain and 3,000 in all, the newest', () => {
    const jars = jarsAt()
    jars.receive(
      't',
      A,
      Array.from({ length: 90 }, (_, at) => `c${at}=1; Path=/`),
    )
    const sent = jars.headerFor('t', A)?.split('; ') ?? []
    expect([sent.length, sent.includes('c89=1'), sent.includes('c39=1')]).toEqual([50, true, false])
    for (let host = 0; host < 70; host++) {
      jars.receive(
        't',
        `http://h${host}.test/`,
        Array.from({ length: 50 }, (_, at) => `c${at}=1`),
      )
    }
    expect(jars.headerFor('t', A)).toBeUndefined()
    expect(jars.headerFor('t', 'http://h69.test/')?.split('; ')).toHaveLength(50)
    expect(jars.exportText('t').split('\n').length).toBeLessThanOrEqual(3002)
  })

  it('has another version exactly when other cookies would be sent', () => {
    const jars = jarsAt()
    expect(jars.versionFor('t', A)).toBe('')
    jars.receive('t', A, ['a=1'])
    const first = jars.versionFor('t', A)
    jars.receive('t', A, ['a=1'])
    expect(jars.versionFor('t', A)).toBe(first)
    jars.receive('t', A, ['a=2'])
    expect(jars.versionFor('t', A)).not.toBe(first)
  })
})

describe('the cookies of the user', () => {
  it('go to the given hosts alone and give way to what a server sets', () => {
    const jars = jarsAt()
    jars.addUserCookies('t', ['http://a.test/deep/seed'], ['k=v', 'l=w'])
    expect(jars.headerFor('t', 'http://a.test/')).toBe('k=v; l=w')
    expect(jars.headerFor('t', 'http://sub.a.test/')).toBeUndefined()
    jars.receive('t', 'http://a.test/', ['k=new; Path=/'])
    jars.addUserCookies('t', ['http://a.test/'], ['k=v'])
    expect(jars.headerFor('t', 'http://a.test/')).toBe('k=new; l=w')
  })
})

describe('a jar with a store', () => {
  it('writes only what changed, in one step, and reads it back', async () => {
    const state = memoryState()
    const jars = createCookieJars({ clock: systemClock, state })
    jars.receive('a/b', 'https://x.test/', ['a=1; Secure; Max-Age=1000', 's=2'])
    jars.receive('a/b', 'http://y.test/', ['b=1'])
    jars.addUserCookies('a/b', ['http://z.test/'], ['user=1'])
    await jars.save()
    await jars.save()
    expect(state.writes).toBe(1)
    expect([...state.entries.keys()].filter((key) => !key.includes('/*'))).toEqual([
      'cookies/a%2Fb/x.test',
      'cookies/a%2Fb/y.test',
    ])
    const later = createCookieJars({ clock: systemClock, state })
    await later.load('a/b')
    expect(later.headerFor('a/b', 'https://x.test/')).toBe('a=1; s=2')
    expect(later.headerFor('a/b', 'http://x.test/')).toBe('s=2')
    expect(later.headerFor('a/b', 'http://z.test/')).toBeUndefined()
    await later.save()
    expect(state.writes).toBe(1)
  })

  it('passes over what it cannot read', async () => {
    const state = memoryState()
    await state.set({
      'cookies/t/x.test': '{"broken',
      'cookies/t/y.test': '[{"key":5},null,7]',
      'cookies/t/z.test': '{}',
    })
    const jars = createCookieJars({ clock: systemClock, state })
    await jars.load('t')
    expect(jars.headerFor('t', 'http://x.test/')).toBeUndefined()
  })
})

function workers(): { readonly a: CookieJars; readonly b: CookieJars; advance(ms: number): void } {
  const state = memoryState()
  let shift = 0
  const clock: Clock = {
    ...systemClock,
    nowMs: () => Date.now() + shift,
    monotonicMs: () => systemClock.monotonicMs() + shift,
  }
  return {
    a: createCookieJars({ clock, state }),
    b: createCookieJars({ clock, state }),
    advance: (ms) => {
      shift += ms
    },
  }
}

describe('jars of two workers over one store', () => {
  it('learn from each other what was set, changed and taken back', async () => {
    const { a, b, advance } = workers()
    await Promise.all([a.load('t'), b.load('t')])
    a.receive('t', A, ['sid=1; Path=/'])
    await a.save()
    expect(b.headerFor('t', A)).toBeUndefined()
    await b.refreshSoon('t')
    expect(b.headerFor('t', A)).toBe('sid=1')
    b.receive('t', A, ['sid=2; Path=/'])
    await b.save()
    await a.refreshSoon('t')
    expect(a.headerFor('t', A)).toBe('sid=2')
    advance(60_000)
    a.receive('t', A, ['sid=; Path=/; Max-Age=0'])
    await a.save()
    await b.refreshSoon('t')
    expect(b.headerFor('t', A)).toBeUndefined()
  })

  it('look every two seconds at the most, and read what has changed only', async () => {
    const { a, b, advance } = workers()
    await b.load('t')
    await b.refreshSoon('t')
    expect(b.refreshSoon('t')).toBeUndefined()
    for (let host = 0; host < 150; host++) a.receive('t', `http://h${host}.test/`, ['k=v'])
    await a.save()
    advance(2000)
    await b.refreshSoon('t')
    expect(b.headerFor('t', 'http://h0.test/')).toBe('k=v')
    expect(b.headerFor('t', 'http://h149.test/')).toBe('k=v')
  })

  it('lose nothing when both write the cookies of one host at once', async () => {
    const { a, b, advance } = workers()
    a.receive('t', A, ['mine=a; Path=/'])
    b.receive('t', A, ['yours=b; Path=/'])
    await a.save()
    await b.save()
    await a.refreshSoon('t')
    expect(a.hasChanges()).toBe(true)
    await a.save()
    advance(2000)
    await b.refreshSoon('t')
    for (const jars of [a, b]) {
      expect(jars.headerFor('t', A)?.split('; ').toSorted()).toEqual(['mine=a', 'yours=b'])
      expect(jars.hasChanges()).toBe(false)
    }
  })

  it('keep what the user gave out of each other', async () => {
    const { a, b } = workers()
    b.addUserCookies('t', [A], ['own=1'])
    a.receive('t', A, ['sid=1; Path=/'])
    await a.save()
    await b.refreshSoon('t')
    expect(b.headerFor('t', A)?.split('; ').toSorted()).toEqual(['own=1', 'sid=1'])
    expect(a.headerFor('t', A)).toBe('sid=1')
  })
})

describe('cookies.txt', () => {
  it('is written and read without a change', () => {
    const jars = jarsAt()
    jars.receive('t', 'https://www.shop.test/', ['a=1; Secure; HttpOnly; Max-Age=1000', 'b=2; Domain=shop.test', 'c=3'])
    const text = jars.exportText('t')
    expect(text).toContain('#HttpOnly_www.shop.test\tFALSE\t/\tTRUE\t1767226600\ta\t1\n')
    expect(text).toContain('.shop.test\tTRUE\t/\tFALSE\t0\tb\t2\n')
    const other = jarsAt()
    expect(other.importText('t', text)).toBe(3)
    expect(other.exportText('t')).toBe(text)
    expect(other.headerFor('t', 'https://www.shop.test/')?.split('; ').toSorted()).toEqual(['a=1', 'b=2', 'c=3'])
  })

  it('is read past comments, bad lines and expired cookies', () => {
    const jars = jarsAt()
    const lines = [
      '# Netscape',
      '',
      'nonsense',
      'x.test\tFALSE\t/\tFALSE\t1\told\t1',
      'x.test\tFALSE\t/\tFALSE\t0\tnew\t1',
      'x.test\tFALSE\t/\tFALSE\tsoon\tbad\t1',
    ]
    expect(jars.importText('t', lines.join('\r\n'))).toBe(1)
    expect(jars.headerFor('t', 'http://x.test/')).toBe('new=1')
  })
})

describe('dates', () => {
  it.each([
    ['Wed, 09 Jun 2021 10:18:14 GMT', '2021-06-09T10:18:14.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['1 Jan 70 0:0:0', '1970-01-01T00:00:00.000Z'],
    ['30 Feb 2021 00:00:00 GMT', undefined],
    ['24:00:00 1 Jan 2021', undefined],
    ['nonsense', undefined],
  ])('%s is %s', (text, wanted) => {
    const date = parseCookieDate(text)
    expect(date === undefined ? undefined : new Date(date).toISOString()).toBe(wanted)
  })

  const suite = new URL('../../../../shared/conformance/cookies-tough-cookie.json', import.meta.url)
  it.runIf(existsSync(suite))('agree with the suite of tough-cookie', () => {
    const { dates } = JSON.parse(readFileSync(suite, 'utf8')) as {
      readonly dates: readonly { readonly in: string; readonly out: string | null }[]
    }
    const found = dates.map((row) => ({ in: row.in, out: isoOf(parseCookieDate(row.in)) }))
    expect(found).toEqual(dates.map(({ in: text, out }) => ({ in: text, out })))
  })
})

function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
