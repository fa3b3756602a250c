/** Pages made to hold up the crawler: whatever they hold, the others get their turn. */

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Crawler, type CrawlerOptions } from '../../src/crawler/crawler.ts'
import { openForReading } from '../../src/crawler/read-crawl.ts'
import type { SiteAnswer } from '../../src/testing/site-answer.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder } from '../support/command.ts'
import { LONGEST_STALL_MS, watchLoop } from '../support/loop-watch.ts'

const MIB = 1024 * 1024

function pageOf(piece: string, bytes = 12 * MIB, charset = ''): SiteAnswer {
  const one = Buffer.from(piece, 'latin1')
  const headers = { 'content-type': `text/html${charset === '' ? '' : `; charset=${charset}`}` }
  return { headers, body: Buffer.alloc(bytes, one) }
}

function linksOf(count: number, linkOf: (index: number) => string): SiteAnswer {
  return {
    headers: { 'content-type': 'text/html' },
    body: Array.from({ length: count }, (_, index) => linkOf(index)).join('\n'),
  }
}

const PAGES: readonly (readonly [name: string, answer: SiteAnswer])[] = [
  ['twelve megabytes of <b>', pageOf('<b>')],
  ['twelve megabytes of <svg></x>', pageOf('<svg></x>')],
  ['one tag of twelve megabytes', pageOf('<a ')],
  ['twelve megabytes of <', pageOf('<')],
  ['a script that never ends', pageOf('<script><!--<script>')],
  ['a title that never ends', pageOf('<title></titl')],
  ['a comment that never ends', pageOf('<!--')],
  ['words of an encoding that is guessed', pageOf('\xe9\xe8 ')],
  ['twelve megabytes of Shift_JIS', pageOf('\x82\xa0\x82', 12 * MIB, 'shift_jis')],
  ['twelve megabytes of metas', pageOf('<meta name=robots content="a,b,c">')],
  ['a hundred thousand links', linksOf(100_000, (index) => `<a href=/leaf/${index}>x</a>`)],
  ['forty thousand links of 700 characters', linksOf(40_000, (index) => `<a href=/${'abcdefgh/'.repeat(75)}${index}>`)],
  [
    'fifty thousand links with sessions',
    linksOf(50_000, (index) => `<a href="/x?PHPSESSID=${index}&a=%20&b=${index}">`),
  ],
  ['fifty thousand links that are none', linksOf(50_000, (index) => `<a href="http://[${index}">`)],
  ['fifty thousand links in nofollow', linksOf(50_000, (index) => `<a rel=nofollow href="p${index}">`)],
]

const TREES = ['<div>', '<b>', '<ul><li>', '<table><td>', '<b><div>', '<p>x</p>', '<svg>', '<font><p>', '<a><table>']

async function worstOf(answer: SiteAnswer, options: CrawlerOptions): Promise<number> {
  await using site = await openTestSite({ '/': { links: [] }, '/big': answer })
  await using folder = await openTemporaryFolder()
  // a first crawl loads and warms up what every crawl needs
  await new Crawler({ ...options, dir: join(folder.path, 'warm') }).run(site.url('/'))
  const dir = join(folder.path, 'big')
  using loop = watchLoop()
  await expect(new Crawler({ ...options, dir }).run(site.url('/big'))).resolves.toMatchObject({ pages: 1, failed: 0 })
  const worst = loop.worstMs()
  const reader = await openForReading({ dir, store: undefined, task: 'default' })
  expect(await reader.verify()).toMatchObject({ ok: true })
  await reader.close()
  return worst
}

describe('the event loop', () => {
  it.each(PAGES)(`is not held up for ${LONGEST_STALL_MS} ms by %s`, { timeout: 300_000 }, async (_name, answer) => {
    expect(await worstOf(answer, { maxDepth: 0, robots: false, cache: 'off' })).toBeLessThan(LONGEST_STALL_MS)
  })

  it.each(TREES)(
    'is not held up either when fields are taken out of a page of %j',
    { timeout: 300_000 },
    async (piece) => {
      const select = [{ name: 'h', field: 'h1', many: false }]
      const options = { maxDepth: 0, robots: false, cache: 'off' as const, select }
      expect(await worstOf(pageOf(piece, 4 * MIB), options)).toBeLessThan(LONGEST_STALL_MS)
    },
  )
})
