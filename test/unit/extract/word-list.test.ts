import { describe, expect, it } from 'vitest'
import { createWordList } from '../../../src/extract/word-list.ts'

describe('a list of words', () => {
  const list = createWordList(['href', 'content', 'charset', 'http-equiv'])
  const find = (word: string): number => list.find(`<${word}=`, 1, 1 + word.length)

  it('finds its words in a text, whatever their case', () => {
    expect(['href', 'HREF', 'Content', 'chArset', 'http-EQUIV'].map(find)).toEqual([0, 0, 1, 2, 3])
  })

  it('finds no other word, not even one that differs only in what lower case would take away', () => {
    const kelvin = 'http\u000dequiv'
    const others = ['hrefs', 'hre', 'contend', 'http equiv', kelvin, '', 'ﬀref', 'x'.repeat(40), '1234']
    expect(others.map(find)).toEqual(others.map(() => -1))
  })
})
