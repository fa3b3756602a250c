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
