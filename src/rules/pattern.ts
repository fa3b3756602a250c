/** Patterns as people write them, made into tests. */

import { CrawlError } from '../core/errors.ts'
import type { RuleMatch, UrlPattern, UrlTest } from './contract.ts'
import { parseGlob } from './glob.ts'

type Patterns = UrlPattern | readonly UrlPattern[] | undefined

/** The test, or what was expected in place of the pattern. */
export function parsePattern(pattern: unknown): UrlTest | { readonly problem: string } {
  if (typeof pattern === 'string') return parseGlob(pattern)
  if (pattern instanceof RegExp) return stateless(pattern)
  if (typeof pattern === 'object' && pattern !== null && 'test' in pattern && typeof pattern.test === 'function')
    return pattern as UrlTest
  return { problem: 'a glob, a regular expression, or an object with test(url) such as a URLPattern' }
}

/** Throws CONFIG_INVALID for a pattern that is none. */
export function testsOf(patterns: Patterns): readonly UrlTest[] {
  return listOf(patterns).map((pattern) => {
    const parsed = parsePattern(pattern)
    if ('test' in parsed) return parsed
    const problem = `expected ${parsed.problem}, found ${String(pattern)}`
    throw new CrawlError('CONFIG_INVALID', { context: { problem } })
  })
}

/** Does the URL fit one of `match` (when there are any) and none of `exclude`? */
export function createUrlTest({ match, exclude }: Pick<RuleMatch, 'match' | 'exclude'>): (url: string) => boolean {
  const wanted = testsOf(match)
  const unwanted = testsOf(exclude)
  return (url) => (wanted.length === 0 || wanted.some((one) => one.test(url))) && !unwanted.some((one) => one.test(url))
}

export function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}

/** A regular expression with `g` or `y` remembers where it was. */
function stateless(pattern: RegExp): RegExp {
  return pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')) : pattern
}
