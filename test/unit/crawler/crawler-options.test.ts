import { describe, expect, it } from 'vitest'
import { Crawler, isCrawlError } from '../../../src/index.ts'

function problemOf(options: Record<string, unknown>): string {
  try {
    void new Crawler(options)
  } catch (error) {
    if (isCrawlError(error, 'CONFIG_INVALID')) return error.message
    throw error
  }
  return ''
}

describe('options of a crawler', () => {
  it('are taken by their own names and by those that people know', () => {
    expect(problemOf({ maxConcurrency: 4, maxCrawlDepth: 0, delayMs: 0, order: 'dfs', headers: [] })).toBe('')
  })

  it.each([
    [{ maxConcurency: 4 }, 'unknown option maxConcurency; did you mean maxConcurrency?'],
    [{ maxConcurrency: '4' }, 'maxConcurrency: expected a number, found "4"'],
    [{ order: 'random' }, 'order: expected one of bfs, dfs, found "random"'],
    [{ robots: 'no' }, 'robots: expected true or false, found "no"'],
    [{ headers: 'x: y' }, 'headers: expected a list, found "x: y"'],
  ])('that are wrong say what was expected and found: %j', (options, problem) => {
    expect(problemOf(options)).toBe(problem)
  })

  it('have bounds', () => {
    expect(problemOf({ maxConcurrency: 0 })).toContain('maxConcurrency: expected')
    expect(problemOf({ delayMs: -5 })).toContain('delayMs: expected')
    expect(problemOf({ delayMs: Number.NaN })).toContain('delayMs: expected')
  })
})
