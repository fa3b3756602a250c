import { inspect } from 'node:util'
import { MongoBulkWriteError, MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { isDuplicateKey, isPassing, storeError } from '../../../../src/stores/mongodb/errors.ts'
import { parsePlace } from '../../../../src/stores/mongodb/place.ts'

const SECRET = 'hunter2hunter2'
const place = parsePlace(`mongodb://me:${SECRET}@h/x`)

function bulk(message: string): Error {
  return new MongoBulkWriteError({ message, code: undefined as never, writeErrors: [] }, {} as never)
}

describe('what MongoDB and its driver say', () => {
  it.each([
    ['a lost connection', new MongoNetworkError('connection 3 to h:1 closed'), true],
    ['a lost connection in a bulk write', bulk('read ECONNRESET'), true],
    ['a server that cannot be found', new MongoServerSelectionError('connect ECONNREFUSED', {} as never), true],
    ['an election', new MongoServerError({ message: 'not primary', code: 10_107 }), true],
    ['a shutdown', new MongoServerError({ message: 'interrupted at shutdown', code: 11_600 }), true],
    ['a wrong password', new MongoServerError({ message: 'Authentication failed.', code: 18 }), false],
    ['a missing right', new MongoServerError({ message: 'not authorized on x', code: 13 }), false],
    ['a duplicate', new MongoServerError({ message: 'E11000', code: 11_000 }), false],
    ['a bad command', new MongoServerError({ message: 'unknown operator', code: 2 }), false],
    ['a fault of ours', new TypeError('x is not a function'), false],
  ])('%s passes or does not', (_, error, passes) => {
    expect(isPassing(error)).toBe(passes)
  })

  it('tells a duplicate key also inside a bulk write', () => {
    expect(isDuplicateKey({ code: 11_000, index: 3 })).toBe(true)
    expect(isDuplicateKey(undefined)).toBe(false)
  })

  it('shows no credentials, in no part of the error', () => {
    const said = new MongoServerError({ message: `Authentication failed for me:${SECRET}@h`, code: 18 })
    const fault = storeError(said, place)
    expect(fault).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(inspect(fault, { depth: 10, showHidden: true })).not.toContain(SECRET)
  })

  it('leaves alone what is no word of the driver', () => {
    const fault = new RangeError('ours')
    expect(storeError(fault, place)).toBe(fault)
  })
})
