import { describe, expect, it } from 'vitest'
import { isCrawlError } from '../../../../src/core/errors.ts'
import { parsePlace } from '../../../../src/stores/mongodb/place.ts'

describe('the URL of a MongoDB store', () => {
  it('is shown without credentials, and reaches the driver without the prefix', () => {
    const place = parsePlace('mongodb://me:p%40ss@one:1,two:2/crawls?prefix=mine_&replicaSet=rs0')
    expect(place).toEqual({
      connection: 'mongodb://me:p%40ss@one:1,two:2/crawls?replicaSet=rs0',
      database: 'crawls',
      prefix: 'mine_',
      location: 'mongodb://one:1,two:2/crawls?prefix=mine_',
      secrets: ['me:p%40ss', 'p%40ss', 'p@ss'],
    })
  })

  it('has a database and a prefix by default', () => {
    for (const url of ['mongodb://h', 'mongodb://h/', 'mongodb+srv://h/?tls=true']) {
      const { database, prefix, secrets } = parsePlace(url)
      expect({ database, prefix, secrets }).toEqual({ database: 'spoor', prefix: 'spoor_', secrets: [] })
    }
  })

  it.each([
    'http://h/x',
    'mongodb://',
    'mongodb:///x',
    'mongodb://h/a.b',
    'mongodb://h/$x',
    `mongodb://h/${'x'.repeat(39)}`,
    'mongodb://h/x?prefix=',
    'mongodb://h/x?prefix=a.b',
    `mongodb://h/x?prefix=${'x'.repeat(41)}`,
  ])('%s is refused', (url) => {
    let fault: unknown
    try {
      parsePlace(url)
    } catch (error) {
      fault = error
    }
    expect(isCrawlError(fault, 'CONFIG_INVALID')).toBe(true)
  })
})
