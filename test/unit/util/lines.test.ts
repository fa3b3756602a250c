import { array, assert, constantFrom, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineSplitter } from '../../../src/util/lines.ts'

function split(pieces: readonly string[], max = 1000): string[] {
  const splitter = createLineSplitter(max)
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()].map(({ text }) => text)
}

describe('createLineSplitter', () => {
  it('ends lines at LF, CRLF and CR, wherever the pieces are cut', () => {
    assert(
      property(array(constantFrom('a', 'bc', '\n', '\r', '\r\n', '')), (pieces) => {
        const text = pieces.join('')
        const expected = text.split(/\r\n|\n|\r/)
        if (expected.at(-1) === '') expected.pop()
        expect(split(pieces)).toEqual(expected)
        expect(split([...text])).toEqual(expected)
        expect(split([text])).toEqual(expected)
      }),
    )
  })

  it('numbers lines from 1 and gives a last one without an end', () => {
    const splitter = createLineSplitter(10)
    expect(splitter.push('a\n\nb')).toMatchObject([{ number: 1 }, { number: 2 }])
    expect(splitter.end()).toEqual([{ text: 'b', number: 3, isCut: false }])
    expect(splitter.end()).toEqual([])
  })

  it('cuts a line at the bound, however it comes, and goes on with the next', () => {
    expect(split(['x'.repeat(25), 'y'.repeat(25), '\nnext\n'], 10)).toEqual(['xxxxxxxxxx', 'next'])
    const splitter = createLineSplitter(3)
    expect(splitter.push('abc\nabcd\n').map(({ isCut }) => isCut)).toEqual([false, true])
  })
})
