import { describe, expect, it } from 'vitest'
import { parseSelect } from '../../../src/config/parse.ts'
import { selectSchema } from '../../../src/extract/select.ts'
import { extractNow } from '../../../src/extract/schema/extract.ts'
import { sourceOf } from './schema/source-of.ts'

const PAGE = '<h1> Blue  shoe </h1><a class=buy href="/b?x=1&amp;y=2">b</a><p>one<p>two<b>1.299,00 €</b>'

function selected(...texts: string[]): unknown {
  const selects = texts.map((text) => {
    const parsed = parseSelect(text)
    if (!parsed.ok) throw new Error(parsed.expected)
    return parsed.value
  })
  const schema = selectSchema(selects)
  return schema === undefined ? undefined : Object.entries(extractNow(sourceOf(PAGE), schema, 'https://site.test/'))
}

describe('--select', () => {
  it('takes texts, attributes, and null where there is nothing', () => {
    expect(
      selected('name=h1', 'buy=a.buy@href', 'first=p', 'none=.missing', 'bare=h1@id', '__proto__=h1', 'second=p:eq(1)'),
    ).toEqual([
      ['name', 'Blue shoe'],
      ['buy', '/b?x=1&y=2'],
      ['first', 'one'],
      ['none', null],
      ['bare', null],
      ['__proto__', 'Blue shoe'],
      ['second', 'two1.299,00 €'],
    ])
  })

  it('takes all that fits, types, and other ways than CSS', () => {
    expect(
      selected('all[]=p', 'price as number=b', 'link as url=a@href', 'x=xpath://p[2]/b', 're=re:class=(\\w+)'),
    ).toEqual([
      ['all', ['one', 'two1.299,00 €']],
      ['price', 1299],
      ['link', 'https://site.test/b?x=1&y=2'],
      ['x', '1.299,00 €'],
      ['re', 'buy'],
    ])
  })

  it('is nothing when nothing is selected', () => {
    expect(selected()).toBeUndefined()
  })
})
