import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PageLink } from '../../../src/extract/contract.ts'
import { decodePage, decodePageInTurns } from '../../../src/extract/charset.ts'
import { scanPage, scanPageInTurns } from '../../../src/extract/scan.ts'

const KIB = 1024
const PIECES = [
  '<a href="/x?a=1&amp;b=2" rel=nofollow>text</a>\n',
  '<p>words <b>and</b> more</p>',
  '<svg><a xlink:href=/s><title>t</title></svg>',
  '<script>if (a < b) document.write("<a href=/no>")</script>',
  '<!-- <a href=/no> -->',
  '<table><td><a href=../y>',
  '<template><a href=/inert></template>',
  '<a href="http://[">',
  `<img src="data:image/png;base64,${'A'.repeat(3000)}">`,
]

/** All that a pass finds, as plain data. */
function dataOf(scan: ReturnType<typeof scanPage>): unknown {
  const { base, links, linkCount, foundCount, title, canonical, refresh, robots, invalidLinks, tooLong } = scan
  return { base, links, linkCount, foundCount, title, canonical, refresh, robots, invalidLinks, tooLong }
}

describe('a large page read in turns', () => {
  it('gives what it gives when it is read in one go', async () => {
    const options = { url: 'http://site.test/a/b', withText: true }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { minLength: 20, maxLength: 40 }), async (pieces) => {
        const part = pieces.join('')
        const html = `<title>t</title>${part.repeat(Math.ceil((600 * KIB) / part.length))}<meta name=robots content=nofollow>`
        expect(dataOf(await scanPageInTurns(html, options))).toEqual(dataOf(scanPage(html, options)))
      }),
      { numRuns: 12 },
    )
  })

  it('shows its links in the same order when they are visited in turns', async () => {
    const html = Array.from({ length: 5000 }, (_, index) => `<a href=/p${index}>x</a>`).join('')
    const scan = scanPage(html, { url: 'http://site.test/' })
    const links: PageLink[] = []
    await scan.visitLinksInTurns({ take: (link) => links.push(link) })
    expect(links).toEqual(scan.links)
    expect(links).toHaveLength(5000)
  })

  it.each(['utf-8', 'windows-1251', 'gbk', 'shift_jis', 'iso-2022-jp', 'utf-16le', 'nonsense'])(
    'is decoded from %s as in one go, however its characters lie',
    async (charset) => {
      const contentType = `text/html; charset=${charset}`
      const random = Buffer.alloc(2_500_000)
      for (let at = 0; at < random.length; at++) random[at] = (at * 2_654_435_761) >>> 13
      expect(await decodePageInTurns(random, contentType)).toEqual(decodePage(random, contentType))
    },
  )
})
