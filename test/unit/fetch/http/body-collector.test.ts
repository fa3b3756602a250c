import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createBodyCollector } from '../../../../src/fetch/http/body-collector.ts'

describe('a body collector', () => {
  it('gives back what it was given, however it was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 1000, size: 'max' }), (chunks) => {
        const collector = createBodyCollector()
        for (const chunk of chunks) collector.add(Buffer.from(chunk))
        expect(collector.take().equals(Buffer.concat(chunks))).toBe(true)
        expect(collector.take().length).toBe(0)
      }),
      { numRuns: 30 },
    )
  })

  it('does not copy a body that came in one chunk', () => {
    const collector = createBodyCollector()
    const chunk = Buffer.from('whole')
    collector.add(chunk)
    expect(collector.take()).toBe(chunk)
  })
})

const piece = (bytes: number, fill: number): Buffer => Buffer.alloc(bytes, fill)
const collect = (expected: number, pieces: readonly Buffer[]): Buffer => {
  const collector = createBodyCollector()
  collector.expect(expected)
  for (const each of pieces) collector.add(each)
  return collector.take()
}

describe('a body whose length was told', () => {
  const pieces = Array.from({ length: 20 }, (_, index) => piece(64 * 1024, index))
  const whole = Buffer.concat(pieces)

  it.each([
    ['as told', whole.length],
    ['longer than told', whole.length - 100_000],
    ['shorter than told', whole.length + 5_000_000],
    ['told to be small', 10],
  ])('is whole when it is %s', (_name, expected) => {
    expect(collect(expected, pieces).equals(whole)).toBe(true)
  })

  it('is not copied at its end', () => {
    const body = collect(whole.length, pieces)
    expect(body.buffer.byteLength).toBe(whole.length)
  })
})
