/** What is remembered of looks at a page, and when the next one is due. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecrawlMode, Visit } from '../../../src/recrawl/contract.ts'
import { isDue, isModifiedSince } from '../../../src/recrawl/due.ts'
import { formatVisit, noteLook, parseVisit } from '../../../src/recrawl/visit.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const bounds = { minMs: HOUR, maxMs: 30 * DAY }
const NOW = 1_704_067_200_000

/** The findings of looks one day apart, and the visit that is left. */
function looks(...digests: readonly (string | undefined)[]): {
  findings: (string | undefined)[]
  visit: Visit | undefined
} {
  let visit: Visit | undefined
  const findings = digests.map((digest, day) => {
    const answer = noteLook(visit, { digest, atMs: NOW + day * DAY, bounds })
    visit = answer?.visit ?? visit
    return answer?.finding
  })
  return { findings, visit }
}

describe('looks at a page', () => {
  it('find it new, unchanged, changed, gone once, and new when it is back', () => {
    expect(looks('a', 'a', 'b', undefined, undefined, 'b').findings).toEqual([
      'new',
      'unchanged',
      'changed',
      'gone',
      undefined,
      'new',
    ])
    expect(looks(undefined, undefined)).toEqual({ findings: [undefined, undefined], visit: undefined })
  })

  it('come sooner to pages that change and later to those that do not, within the bounds', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', undefined), { minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(letters, (digests) => {
        const { visit } = looks('a', ...digests)
        expect(visit?.intervalMs).toBeGreaterThanOrEqual(bounds.minMs)
        expect(visit?.intervalMs).toBeLessThanOrEqual(bounds.maxMs)
      }),
    )
    const every = Array.from({ length: 20 }, (_, n) => String(n))
    expect(looks(...every).visit?.intervalMs).toBe(HOUR)
    expect(looks(...every.map(() => 'same')).visit?.intervalMs).toBe(30 * DAY)
  })

  it('out of the cache never make a page look checked earlier than it was', () => {
    const { visit } = looks('a', 'a')
    expect(noteLook(visit, { digest: 'a', atMs: NOW - DAY, bounds })?.visit.checkedAtMs).toBe(NOW + DAY)
  })

  it('are kept as a short text, to the second', () => {
    const visits = fc.record({
      digest: fc.option(fc.stringMatching(/^[\w-]{16}$/), { nil: undefined }),
      checkedAtMs: fc.integer({ min: 0, max: 8e12 }),
      changedAtMs: fc.integer({ min: 0, max: 8e12 }),
      intervalMs: fc.integer({ min: 0, max: 3650 * DAY }),
    })
    fc.assert(
      fc.property(visits, (visit) => {
        const text = formatVisit(visit)
        expect(text.length).toBeLessThanOrEqual(50)
        const read = parseVisit(text)
        expect(read?.digest).toBe(visit.digest)
        for (const key of ['checkedAtMs', 'changedAtMs', 'intervalMs'] as const) {
          expect(read?.[key]).toBe(Math.floor(visit[key] / 1000) * 1000)
        }
      }),
    )
    for (const text of ['', 'x', '....', 'a.b.c', `${'a'.repeat(99)}.1.1.1`]) expect(parseVisit(text)).toBeUndefined()
  })
})

describe('what is due', () => {
  const visit: Visit = { digest: 'a', checkedAtMs: NOW, changedAtMs: NOW, intervalMs: 3 * DAY }
  const due = (mode: RecrawlMode, days: number, of: Visit | undefined = visit): boolean =>
    isDue({ mode, visit: of, nowMs: NOW + days * DAY, bounds })

  it('goes by age, by the interval of the page, or by nothing', () => {
    expect([1, 7, 8].map((days) => due({ kind: 'age', ms: 7 * DAY }, days))).toEqual([false, true, true])
    expect([1, 3].map((days) => due({ kind: 'adaptive' }, days))).toEqual([false, true])
    expect([due({ kind: 'all' }, 0), due({ kind: 'sitemap' }, 99)]).toEqual([true, false])
    expect(due({ kind: 'age', ms: DAY }, -2), 'a clock that was set back').toBe(true)
    expect(isDue({ mode: { kind: 'sitemap' }, visit: undefined, nowMs: NOW, bounds })).toBe(true)
  })

  it('goes by the date of a sitemap: a day lasts until its end, and no date is none', () => {
    const dates = ['2023-12-31', '2024-01-01', '2024-01-01T00:00:00Z', '2024-01-01T00:00:01Z', 'yesterday']
    expect(dates.map((lastmod) => isModifiedSince(lastmod, visit))).toEqual([false, true, false, true, false])
    expect(isModifiedSince('1999-01-01', undefined)).toBe(true)
  })
})
