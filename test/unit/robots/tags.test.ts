import { describe, expect, it } from 'vitest'
import { robotsDirectives } from '../../../src/robots/tags.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const of = (metas: readonly string[], xRobotsTag: readonly string[] = []) =>
  robotsDirectives({ metas, xRobotsTag, agent: 'mybot/1.0', nowMs: NOW_MS })

describe('robots tags', () => {
  it.each([
    [[], false, false],
    [['NONE'], true, true],
    [['all'], false, false],
    [['index,nofollow'], false, true],
    [[' NoIndex , , nofollow'], true, true],
    [['noindex', 'nofollow'], true, true],
    [['noindex follow'], true, false],
    [['noindexed'], false, false],
  ])('in metas %j', (metas, noindex, nofollow) => {
    expect(of(metas)).toEqual({ noindex, nofollow })
  })

  it.each([
    [['none'], true, true],
    [['noindex, nofollow'], true, true],
    [['mybot: nofollow'], false, true],
    [['MyBot: NOFOLLOW'], false, true],
    [['otherbot: noindex, nofollow'], false, false],
    [['noindex', 'otherbot: nofollow'], true, false],
    [['otherbot: noindex, mybot: nofollow'], false, true],
    [['noindex, otherbot: nofollow'], true, false],
    [['max-snippet: 20, nofollow'], false, true],
    [['unavailable_after: 25 Jun 2010 15:00:00 PST'], true, false],
    [['unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, nofollow'], true, true],
    [['unavailable_after: 2010-06-25T15:00:00Z'], true, false],
    [['unavailable_after: 2999-06-25'], false, false],
    [['unavailable_after: soon'], false, false],
    [[`${'x,'.repeat(1_000_000)}noindex`], false, false],
  ])('in headers %j', (headers, noindex, nofollow) => {
    expect(of([], headers)).toEqual({ noindex, nofollow })
  })

  it('count a date only when the time is known', () => {
    expect(robotsDirectives({ metas: ['unavailable_after: 2010-01-01'], xRobotsTag: [], agent: 'x' }).noindex).toBe(
      false,
    )
  })
})
