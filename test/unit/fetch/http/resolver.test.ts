import { describe, expect, it } from 'vitest'

import { systemClock, type Clock } from '../../../../src/core/clock.ts'
import { createResolver, parseHostsFile, type NameSource } from '../../../../src/fetch/http/resolver.ts'

interface Table {
  readonly records?: Readonly<Record<string, readonly { readonly address: string; readonly ttl: number }[]>>
  readonly system?: Readonly<Record<string, readonly string[]>>
  readonly hosts?: string
}

function missing(): Error {
  return Object.assign(new Error('missing'), { code: 'ENOTFOUND' })
}

function setUp(table: Table): { source: NameSource; asked: string[]; clock: Clock; advance: (ms: number) => void } {
  const asked: string[] = []
  let now = 0
  const source: NameSource = {
    query: async (host, family) => {
      asked.push(`${host} ${family}`)
      const found = table.records?.[`${host} ${family}`]
      if (found === undefined) throw missing()
      return found
    },
    lookup: async (host) => {
      asked.push(`${host} system`)
      const found = table.system?.[host]
      if (found === undefined) throw missing()
      return found
    },
    hostsFile: async () => table.hosts ?? '',
  }
  return { source, asked, clock: { ...systemClock, monotonicMs: () => now }, advance: (ms) => (now += ms) }
}

describe('the resolver', () => {
  it('asks for both families once for all who want a name, and again when its TTL is over', async () => {
    const { source, asked, clock, advance } = setUp({
      records: { 'a.test 4': [{ address: '192.0.2.1', ttl: 60 }], 'a.test 6': [{ address: '2001:db8::1', ttl: 90 }] },
    })
    const resolver = createResolver({ clock, source })
    const all = await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('A.test')))
    expect(new Set(all.map(String))).toEqual(new Set(['192.0.2.1,2001:db8::1']))
    expect(asked).toEqual(['a.test 4', 'a.test 6'])
    advance(59_000)
    await resolver.resolve('a.test.')
    expect(asked).toHaveLength(2)
    advance(2000)
    await resolver.resolve('a.test')
    expect(asked).toHaveLength(4)
  })

  it('takes one family when the other fails, and the system when both do', async () => {
    const { source, asked, clock } = setUp({
      records: { 'six.test 6': [{ address: '2001:db8::1', ttl: 60 }] },
      system: { 'container.test': ['172.17.0.2'], localhost: ['127.0.0.1'] },
    })
    const resolver = createResolver({ clock, source })
    expect(await resolver.resolve('six.test')).toEqual(['2001:db8::1'])
    expect(await resolver.resolve('container.test')).toEqual(['172.17.0.2'])
    expect(await resolver.resolve('localhost')).toEqual(['127.0.0.1'])
    expect(asked).not.toContain('localhost 4')
  })

  it('believes the hosts file first and asks nobody for literals', async () => {
    const { source, asked, clock } = setUp({ hosts: '10.0.0.7 db.test db # comment\n::1 db.test\nnonsense\n' })
    const resolver = createResolver({ clock, source })
    expect(await resolver.resolve('db.test')).toEqual(['10.0.0.7', '::1'])
    expect(await resolver.resolve('192.0.2.9')).toEqual(['192.0.2.9'])
    expect(asked).toEqual([])
  })

  it('keeps a failure for ten seconds and says which name', async () => {
    const { source, asked, clock, advance } = setUp({})
    const resolver = createResolver({ clock, source })
    await expect(resolver.resolve('no.test')).rejects.toThrow('the name no.test does not resolve (ENOTFOUND)')
    await expect(resolver.resolve('no.test')).rejects.toThrow('no.test')
    expect(asked).toHaveLength(3)
    advance(10_001)
    await expect(resolver.resolve('no.test')).rejects.toThrow('no.test')
    expect(asked).toHaveLength(6)
  })

  it('holds a bounded number of names, the ones asked for last', async () => {
    const names = Array.from({ length: 5 }, (_, at) => `h${at}.test`)
    const { source, asked, clock } = setUp({
      records: Object.fromEntries(names.map((name) => [`${name} 4`, [{ address: '192.0.2.1', ttl: 900 }]])),
    })
    const resolver = createResolver({ clock, source, maxEntries: 3 })
    for (const name of [...names, 'h4.test', 'h0.test']) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      await resolver.resolve(name)
    }
    expect(asked.filter((each) => each === 'h0.test 4')).toHaveLength(2)
    expect(asked.filter((each) => each === 'h4.test 4')).toHaveLength(1)
  })

  it('asks the system for few names at once', async () => {
    let running = 0
    let most = 0
    const { source, clock } = setUp({})
    const resolver = createResolver({
      clock,
      source: {
        ...source,
        lookup: async () => {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
          return ['192.0.2.1']
        },
      },
    })
    await Promise.all(Array.from({ length: 40 }, (_, at) => resolver.resolve(`h${at}`)))
    expect(most).toBe(2)
  })

  it('reads hosts files as they are', () => {
    expect(parseHostsFile('127.0.0.1\tlocalhost\r\n# x\n\n1.2.3.4 A b')).toEqual(
      new Map([
        ['localhost', ['127.0.0.1']],
        ['a', ['1.2.3.4']],
        ['b', ['1.2.3.4']],
      ]),
    )
  })
})
