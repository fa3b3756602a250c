import { assert, date, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSitemapDate } from '../../../src/sources/sitemap-dates.ts'

describe('parseSitemapDate', () => {
  it.each([
    ['2024-05-01', '2024-05-01'],
    ['2024-05', '2024-05-01'],
    ['2024', '2024-01-01'],
    [' 2024-05-01T10:20Z ', '2024-05-01T10:20:00Z'],
    ['2024-05-01T10:20:30.25+02:00', '2024-05-01T08:20:30.250Z'],
    ['2024-05-01 10:20:30', '2024-05-01T10:20:30Z'],
    ['2024-05-01T10:20:30-0530', '2024-05-01T15:50:30Z'],
    ['Tue, 02 Jan 2024 10:00:00 GMT', '2024-01-02T10:00:00Z'],
    ['2 January 24 10:00 EST', '2024-01-02T15:00:00Z'],
    ['02-Jan-99 10:00:00', '1999-01-02T10:00:00Z'],
    ['2 Jan 2024', '2024-01-02'],
  ])('reads %s', (text, expected) => {
    expect(parseSitemapDate(text)).toBe(expected)
  })

  it.each([
    '',
    'soon',
    '2024-13-01',
    '2024-02-30',
    '2024-05-01T25:00Z',
    '32 Jan 2024',
    '2 Foo 2024',
    '1714521600',
    '2024-05-01T10:61Z',
  ])('takes %j for no date', (text) => {
    expect(parseSitemapDate(text)).toBeUndefined()
  })

  it('gives back every instant, and never throws', () => {
    assert(
      property(date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (instant) => {
        const text = parseSitemapDate(instant.toISOString())
        // years below 100 are not told apart from two digits by everybody
        if (instant.getUTCFullYear() >= 100) expect(new Date(text ?? '').getTime()).toBe(instant.getTime())
      }),
    )
    assert(property(string(), (text) => void parseSitemapDate(text)))
  })
})
