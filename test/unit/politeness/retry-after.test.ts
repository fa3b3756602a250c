import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '../../../src/politeness/retry-after.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

describe('Retry-After', () => {
  it.each<readonly [string | undefined, number | undefined]>([
    ['120', 120_000],
    ['0', 0],
    [' 5 ', 5000],
    ['0120', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['99999999999999999999', DAY_MS],
    ['9'.repeat(100), DAY_MS],
    ['Fri, 01 Jan 2027 00:00:00 GMT', DAY_MS],
    ...['-5', '1.5', 'abc', '', '120, 60', '60s', '+60', '2026-01-01T00:01:00Z', '9'.repeat(101)].map(
      (text) => [text, undefined] as const,
    ),
    ['Thu, 01 Jan 2026 00:01:00 +0000', undefined],
    [undefined, undefined],
  ])('of %j is %s ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW_MS)).toBe(expected)
  })

  it('is reckoned by the clock of the server that sent it', () => {
    const at = 'Wed, 31 Dec 2025 23:00:03 GMT'
    expect(parseRetryAfter(at, NOW_MS, 'Wed, 31 Dec 2025 23:00:00 GMT')).toBe(3000)
    expect(parseRetryAfter(at, NOW_MS, 'yesterday')).toBe(0)
  })
})
