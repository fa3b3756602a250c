import { describe, expect, it } from 'vitest'
import { hostKeyOf } from '../../../src/url/canonical.ts'
import { createScope, type ScopeOptions } from '../../../src/url/scope.ts'

function scopeOf(options: ScopeOptions, ...seeds: readonly string[]) {
  const scope = createScope(options)
  for (const seed of seeds) scope.addSeed(seed)
  return { scope, decide: (url: string) => scope.decide(url, hostKeyOf(url)) }
}

describe('scope', () => {
  it('host: the hosts of the seeds by either scheme, and nothing that looks like them', () => {
    const { decide } = scopeOf({ kind: 'host' }, 'http://site.test/a', 'http://site.test:8080/')
    for (const url of ['http://site.test/', 'https://site.test/x', 'http://u@site.test/', 'http://site.test:8080/y']) {
      expect([url, decide(url)]).toEqual([url, 'in'])
    }
    for (const url of [
      'http://www.site.test/',
      'http://site.test:81/',
      'http://site.test.evil.test/',
      'http://site.test@evil.test/',
      'http://xsite.test/',
    ]) {
      expect([url, decide(url)]).toEqual([url, 'scope'])
    }
  })

  it('domain: everything below the registrable domain of a seed', () => {
    const { decide } = scopeOf(
      { kind: 'domain' },
      'http://www.site.co.uk/',
      'http://me.github.io/',
      'http://10.0.0.1/',
      'http://localhost:3000/',
      'http://[::1]/',
    )
    for (const url of [
      'http://site.co.uk/',
      'https://a.b.site.co.uk:99/',
      'http://me.github.io/',
      'http://x.me.github.io/',
      'http://10.0.0.1:8/',
      'http://localhost/',
      'http://[::1]:9/',
    ]) {
      expect([url, decide(url)]).toEqual([url, 'in'])
      expect([url, decide(url)]).toEqual([url, 'in'])
    }
    for (const url of [
      'http://other.co.uk/',
      'http://notsite.co.uk/',
      'http://site.co.uk.evil.test/',
      'http://you.github.io/',
      'http://github.io/',
      'http://10.0.0.2/',
      'http://0.0.1/',
    ]) {
      expect([url, decide(url)]).toEqual([url, 'scope'])
    }
  })

  it('prefix: what lies in the folder of a seed', () => {
    const { decide } = scopeOf({ kind: 'prefix' }, 'http://site.test/docs/index.html?x=/y/', 'http://other.test/')
    for (const url of [
      'http://site.test/docs/',
      'https://site.test/docs/b/c',
      'http://site.test/docs/?q',
      'http://other.test/any/thing',
    ]) {
      expect([url, decide(url)]).toEqual([url, 'in'])
    }
    for (const url of [
      'http://site.test/docs',
      'http://site.test/docs2/',
      'http://site.test/',
      'http://site.test/x?/docs/',
      'http://third.test/docs/',
    ]) {
      expect([url, decide(url)]).toEqual([url, 'scope'])
    }
  })

  it('prefix: holds many folders of one host', () => {
    const { decide } = scopeOf({ kind: 'prefix' }, ...Array.from({ length: 500 }, (_, i) => `http://site.test/p${i}/a`))
    expect(decide('http://site.test/p77/deep/er')).toBe('in')
    expect(decide('http://site.test/p500/')).toBe('scope')
    expect(decide('http://site.test/')).toBe('scope')
  })

  it('any: everywhere', () => {
    expect(scopeOf({ kind: 'any' }).decide('http://x.test/')).toBe('in')
  })

  it('grows with further seeds and says whether it did', () => {
    const { scope, decide } = scopeOf({ kind: 'domain' }, 'http://a.test/')
    expect(decide('http://b.test/')).toBe('scope')
    expect(scope.addSeed('http://www.b.test/')).toBe(true)
    expect(scope.addSeed('http://b.test/')).toBe(false)
    expect(decide('http://b.test/')).toBe('in')
  })

  it('refuses what does not match or is excluded, scope first', () => {
    const { decide } = scopeOf({ kind: 'host', match: [/\/n\/\d+$/g, /keep/y], exclude: [/13/g] }, 'http://site.test/')
    for (let i = 0; i < 3; i++) {
      expect(decide('http://site.test/n/1')).toBe('in')
      expect(decide('http://site.test/n/13')).toBe('filtered')
      expect(decide('http://site.test/n/x')).toBe('filtered')
      expect(decide('http://else.test/n/1')).toBe('scope')
    }
  })

  it('holds a hundred thousand hosts', () => {
    const { decide } = scopeOf(
      { kind: 'host', random: () => 0.42 },
      ...Array.from({ length: 100_000 }, (_, i) => `http://h${i}.test/`),
    )
    expect(decide('http://h99999.test/')).toBe('in')
    expect(
      Array.from({ length: 10_000 }, (_, i) => decide(`http://g${i}.test/`)).filter((verdict) => verdict === 'in'),
    ).toEqual([])
  })
})
