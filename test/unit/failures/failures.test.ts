import { describe, expect, it } from 'vitest'
import { FAILURE_CLASSES } from '../../../src/core/outcome.ts'
import { failureOfStatus, isUnasked304 } from '../../../src/failures/classify.ts'
import { decideRetry } from '../../../src/failures/retry-policy.ts'

const lowest = (): number => 0
const highest = (): number => 0.999_999

function retry(attempt: number, maxRetries: number): boolean {
  return decideRetry({ failure: 'http-5xx', attempt, maxRetries, random: lowest }).retry
}

function waits(random: () => number): readonly number[] {
  return [1, 2, 3, 4, 20, 2000].map((attempt) => {
    const decision = decideRetry({ failure: 'reset', attempt, maxRetries: Infinity, random })
    return decision.retry ? decision.inMs : -1
  })
}

function inMs(retryAfterMs: number): unknown {
  return decideRetry({ failure: 'throttled', attempt: 1, maxRetries: 2, retryAfterMs, random: lowest })
}

describe('the class of a status', () => {
  it.each([
    [200, undefined],
    [204, undefined],
    [301, undefined],
    [400, 'http-4xx'],
    [404, 'http-4xx'],
    [408, 'http-4xx'],
    [429, 'throttled'],
    [451, 'http-4xx'],
    [500, 'http-5xx'],
    [503, 'http-5xx'],
    [599, 'http-5xx'],
    [999, 'http-5xx'],
    [199, 'protocol'],
  ])('of %i is %s', (status, expected) => {
    expect(failureOfStatus(status)).toBe(expected)
  })

  it('is none for a 304 that was asked for, and a fault for one that was not', () => {
    expect(isUnasked304(304, { 'if-none-match': '"1"' })).toBe(false)
    expect(isUnasked304(304, { accept: '*/*' })).toBe(true)
    expect(isUnasked304(200, {})).toBe(false)
  })

  it('of 503 is a request to slow down when it says for how long', () => {
    expect(failureOfStatus(503, true)).toBe('throttled')
    expect(failureOfStatus(500, true)).toBe('http-5xx')
  })
})

describe('a further try', () => {
  it('is made for faults of the moment only', () => {
    const retried = FAILURE_CLASSES.filter(
      (failure) => decideRetry({ failure, attempt: 1, maxRetries: 2, random: lowest }).retry,
    )
    expect(retried).toEqual([
      'dns',
      'connect',
      'timeout',
      'reset',
      'incomplete',
      'http-5xx',
      'throttled',
      'proxy',
      'handler',
      'browser',
    ])
  })

  it.each([
    [408, true],
    [425, true],
    [429, true],
    [400, false],
    [404, false],
    [410, false],
  ])('after status %i: %s', (status, expected) => {
    expect(decideRetry({ failure: 'http-4xx', status, attempt: 1, maxRetries: 2, random: lowest }).retry).toBe(expected)
  })

  it('is made as often as asked for and no more', () => {
    expect([retry(1, 0), retry(1, 1), retry(2, 1), retry(3, 3), retry(4, 3)]).toEqual([false, true, false, true, false])
  })

  it('waits longer each time, with jitter, up to a minute', () => {
    expect(waits(lowest)).toEqual([200, 400, 800, 1600, 30_000, 30_000])
    expect(waits(highest)).toEqual([400, 800, 1600, 3200, 60_000, 60_000])
  })

  it('waits as long as the server asks, at most a day', () => {
    expect(inMs(5000)).toEqual({ retry: true, inMs: 5000 })
    expect(inMs(0)).toEqual({ retry: true, inMs: 200 })
    expect(inMs(1e15)).toEqual({ retry: true, inMs: 86_400_000 })
    expect(inMs(Number.NaN)).toEqual({ retry: true, inMs: 200 })
  })
})
