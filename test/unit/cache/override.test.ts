/** What people may write of a request's cache, and what they are told otherwise. */

import { expect, it } from 'vitest'
import { cacheOverrideOf } from '../../../src/cache/override.ts'
import type { CacheOverride } from '../../../src/core/request.ts'

it('takes a mode as a word, and both settings as an object', () => {
  expect(cacheOverrideOf('refresh')).toEqual({ mode: 'refresh' })
  expect(cacheOverrideOf({ ttlMs: 0 })).toEqual({ ttlMs: 0 })
  expect(cacheOverrideOf({ mode: 'http', ttlMs: 5 })).toEqual({ mode: 'http', ttlMs: 5 })
  expect(cacheOverrideOf({})).toEqual({})
})

it.each([
  ['fresh', 'expected one of on, http, refresh, offline, off, found "fresh"'],
  [{ mode: 3 }, 'found 3'],
  [{ ttlMs: -1 }, 'expected milliseconds from 0 as ttlMs, found -1'],
  [{ ttlMs: Infinity }, 'expected milliseconds from 0 as ttlMs'],
  [{ ttlMs: '1' }, 'found "1"'],
  [{ ttl: 1 }, 'expected only mode and ttlMs, found "ttl"'],
  [null, 'found null'],
  [7, 'found 7'],
])('refuses %j', (value, message) => {
  expect(() => cacheOverrideOf(value as CacheOverride)).toThrow(message)
})
