import { describe, expect, it } from 'vitest'
import { createKnownFilter } from '../../../src/frontier/known-filter.ts'
import { seededRandom } from '../../../src/util/random.ts'

describe('known filter', () => {
  it('knows what was noted at this depth or a smaller one', () => {
    const filter = createKnownFilter({ random: seededRandom(1) })
    filter.note('http://a.test/', 3)
    expect(filter.has('http://a.test/', 3)).toBe(true)
    expect(filter.has('http://a.test/', 4)).toBe(true)
    expect(filter.has('http://a.test/', 2)).toBe(false)
    expect(filter.has('http://a.test/b', 3)).toBe(false)
  })

  it('keeps the smallest depth noted', () => {
    const filter = createKnownFilter({ random: seededRandom(1) })
    filter.note('http://a.test/', 3)
    filter.note('http://a.test/', 1)
    filter.note('http://a.test/', 5)
    expect(filter.has('http://a.test/', 1)).toBe(true)
  })

  it('forgets the oldest when it is full, and never says yes to a URL that was not noted', () => {
    const filter = createKnownFilter({ capacity: 1024, random: seededRandom(2) })
    for (let i = 0; i < 100_000; i++) filter.note(`http://a.test/${i}`, 0)
    expect(filter.has('http://a.test/99999', 0)).toBe(true)
    expect(filter.has('http://a.test/0', 0)).toBe(false)
    for (let i = 100_000; i < 200_000; i++) expect(filter.has(`http://a.test/${i}`, 0)).toBe(false)
  })

  it('keeps what is asked for often', () => {
    const filter = createKnownFilter({ capacity: 1024, random: seededRandom(3) })
    filter.note('http://a.test/home', 0)
    for (let i = 0; i < 50_000; i++) {
      filter.note(`http://a.test/${i}`, 0)
      if (i % 100 === 0) expect(filter.has('http://a.test/home', 0)).toBe(true)
    }
  })

  it('tells a URL by its pieces', () => {
    const filter = createKnownFilter({ random: seededRandom(4) })
    const url = 'http://a.test/folder/page.html'
    filter.note(url, 1)
    for (let cut = 0; cut <= url.length; cut++) {
      const text = `<a href="${url.slice(cut)}">`
      const pieces = { prefix: url.slice(0, cut), text, from: 9, to: text.length - 2 }
      expect(filter.hasPieces(pieces, 1)).toBe(true)
      expect(filter.hasPieces(pieces, 0)).toBe(false)
      expect(filter.hasPieces({ ...pieces, to: pieces.to + 1 }, 1)).toBe(false)
    }
  })
})
