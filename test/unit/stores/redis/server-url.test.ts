import { describe, expect, it } from 'vitest'
import { parseServerUrl } from '../../../../src/stores/redis/server-url.ts'

describe('the address of a Redis store', () => {
  it('has defaults for everything but the host', () => {
    expect(parseServerUrl('redis://db.example')).toEqual({
      host: 'db.example',
      port: 6379,
      db: 0,
      tls: false,
      username: undefined,
      password: undefined,
      prefix: 'spoor_',
      location: 'redis://db.example:6379/0',
    })
  })

  it('carries user, password, database, prefix and TLS, and shows no credentials', () => {
    const address = parseServerUrl('rediss://us%40er:p%2Fw@[::1]:7000/3?prefix=one_')
    expect(address).toMatchObject({ host: '::1', port: 7000, db: 3, tls: true, prefix: 'one_' })
    expect([address.username, address.password]).toEqual(['us@er', 'p/w'])
    expect(address.location).toBe('rediss://[::1]:7000/3?prefix=one_')
  })

  it.each([
    'http://db.example',
    'not a URL',
    'redis://:secret@db.example/one',
    'redis://:secret@db.example/-1',
    'redis://:secret@db.example/?prefix={x}',
    'redis://:secret@db.example/?prefix=',
    'redis://:secret@db.example/?tls=1',
    'redis://:sec%ret@db.example/',
  ])('is refused when it is %s, without its password in the message', (url) => {
    expect(() => parseServerUrl(url)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }) as Error)
    expect(() => parseServerUrl(url)).not.toThrow(/sec/)
  })
})
