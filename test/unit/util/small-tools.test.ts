import { existsSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCompactSet } from '../../../src/util/compact-set.ts'
import { parseHttpDate } from '../../../src/util/http-date.ts'
import { createSingleFlight } from '../../../src/util/single-flight.ts'
import { createWeightedLru } from '../../../src/util/weighted-lru.ts'

const NOW_MS = Date.UTC(2026, 8, 1)

describe('HTTP dates', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['Thursday, 18-Aug-50 02:01:18 GMT', '2050-08-18T02:01:18.000Z'],
    ['Sat, 29 Feb 2025 00:00:00 GMT', null],
    ['Wed, 32 Dec 2024 00:00:00 GMT', null],
    ['Mon, 01 Jan 2024 24:00:00 GMT', null],
    ['Mon, 01 Jan 0024 00:00:00 GMT', '0024-01-01T00:00:00.000Z'],
    ['', null],
    [' '.repeat(100_000), null],
  ])('%j is %s', (text, expected) => {
    const atMs = parseHttpDate(text, NOW_MS)
    expect(atMs === undefined ? null : new Date(atMs).toISOString()).toBe(expected)
  })

  const shared = new URL('../../../../shared/conformance/http-dates-cache-control.json', import.meta.url)
  it.skipIf(!existsSync(shared))('are read as in the public data', () => {
    const { parseHttpDate: rows } = JSON.parse(readFileSync(shared, 'utf8')) as {
      readonly parseHttpDate: readonly { readonly in: string; readonly out: string | null }[]
    }
    for (const row of rows) {
      const atMs = parseHttpDate(row.in, NOW_MS)
      expect([row.in, atMs === undefined ? null : new Date(atMs).toISOString()]).toEqual([row.in, row.out])
    }
  })
})

describe('the compact set', () => {
  it('answers as a set does', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 4 })), fc.integer(), (texts, seed) => {
        const compact = createCompactSet(seed)
        const set = new Set<string>()
        for (const text of texts) {
          expect(compact.has(text)).toBe(set.has(text))
          expect(compact.add(text)).toBe(!set.has(text))
          set.add(text)
          expect(compact.has(text)).toBe(true)
        }
        expect(compact.size).toBe(set.size)
      }),
    )
  })

  it('takes none of 300,000 alike names for another', () => {
    const compact = createCompactSet(7)
    for (let i = 0; i < 300_000; i++) expect(compact.add(`host-${i}.example.test`) || i).toBe(true)
  })
})

describe('the weighted map', () => {
  it('lets what was used longest ago go first, and keeps nothing that is too heavy', () => {
    const lru = createWeightedLru<number>(10)
    lru.set('a', 1, 4)
    lru.set('b', 2, 4)
    lru.get('a')
    lru.set('c', 3, 4)
    expect([...lru.entries()]).toEqual([
      ['a', 1],
      ['c', 3],
    ])
    lru.set('a', 9, 11)
    expect(lru.get('a')).toBeUndefined()
    lru.set('d', 4, 6)
    expect([...lru.entries()].map(([key]) => key)).toEqual(['c', 'd'])
    lru.delete('c')
    expect(lru.size).toBe(1)
  })
})

const fail = async (): Promise<number> => Promise.reject(new Error('no'))

describe('single flight', () => {
  it('runs the work once for all who ask while it runs, and again afterwards', async () => {
    const flights = createSingleFlight<number>()
    let runs = 0
    const work = async (): Promise<number> => ++runs
    expect(await Promise.all([1, 2, 3].map(() => flights.run('k', work, undefined)))).toEqual([1, 1, 1])
    expect(await flights.run('k', work, undefined)).toBe(2)
  })

  it('gives a failure to all and forgets it', async () => {
    const flights = createSingleFlight<number>()
    const results = await Promise.allSettled([1, 2].map(() => flights.run('k', fail, undefined)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await flights.run('k', async () => 5, undefined)).toBe(5)
  })

  it('aborts the work when the last caller leaves, and leaves no listener behind', async () => {
    const flights = createSingleFlight<number>()
    let own: AbortSignal | undefined
    const work = (signal: AbortSignal): Promise<number> => {
      own = signal
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'))
        })
      })
    }
    const [one, two] = [new AbortController(), new AbortController()]
    const waiting = [one, two].map(({ signal }) => flights.run('k', work, signal))
    one.abort(new Error('first'))
    await expect(waiting[0]).rejects.toThrow('first')
    expect(own?.aborted).toBe(false)
    two.abort(new Error('second'))
    await expect(waiting[1]).rejects.toThrow('second')
    expect(own?.aborted).toBe(true)
    await expect(flights.run('k', work, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  })
})
