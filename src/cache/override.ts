/** What a request asks of the cache, as people write it, made into what is kept with the request. */

import { CrawlError } from '../core/errors.ts'
import type { CacheMode, CacheOverride } from '../core/request.ts'

const MODES: ReadonlySet<unknown> = new Set<CacheMode>(['on', 'http', 'refresh', 'offline', 'off'])

/** Throws CONFIG_INVALID for anything else: requests come from plain JavaScript and JSON too. */
export function cacheOverrideOf(value: CacheMode | CacheOverride): CacheOverride {
  const { mode, ttlMs, ...others } = partsOf(value)
  const [other] = Object.keys(others)
  if (other !== undefined) throw refused('only mode and ttlMs', other)
  if (mode !== undefined && !MODES.has(mode)) throw refused(`one of ${[...MODES].join(', ')}`, mode)
  if (ttlMs !== undefined && !isSpan(ttlMs)) throw refused('milliseconds from 0 as ttlMs', ttlMs)
  return { ...(mode === undefined ? {} : { mode }), ...(ttlMs === undefined ? {} : { ttlMs }) }
}

function partsOf(value: unknown): CacheOverride {
  if (typeof value === 'string') return { mode: value as CacheMode }
  if (typeof value !== 'object' || value === null) throw refused('a mode or { mode, ttlMs }', value)
  return value
}

const isSpan = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0

function refused(expected: string, found: unknown): CrawlError {
  const problem = `cache of a request: expected ${expected}, found ${JSON.stringify(found) ?? String(found)}`
  return new CrawlError('CONFIG_INVALID', { context: { problem } })
}
