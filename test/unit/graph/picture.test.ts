import { SaxesParser } from 'saxes'
import { expect, it } from 'vitest'
import type { GraphNode, GraphSource, StoredPageLinks } from '../../../src/graph/contract.ts'
import { layOut } from '../../../src/graph/layout.ts'
import { formatPicturePage } from '../../../src/graph/picture-page.ts'
import { readPicture } from '../../../src/graph/picture.ts'
import { formatSvg } from '../../../src/graph/svg.ts'
import { load } from 'cheerio'

const HOSTILE = `http://a.test/"><script>alert(1)</script>&'`

/** `links`: from one id to others. */
function graphOf(
  nodes: readonly Partial<GraphNode>[],
  links: Readonly<Record<string, readonly string[]>>,
): GraphSource {
  const facts = { dropped: 0, title: '', bytes: 0, ms: 0, contentHash: '', isHtml: true }
  return {
    task: '<b>shop</b>',
    hasLinks: true,
    async *nodes() {
      for (const [place, node] of nodes.entries())
        yield {
          id: String(place + 1),
          url: `http://a.test/${place + 1}`,
          host: 'a.test',
          state: 'done',
          depth: 1,
          ...node,
        }
    },
    async *pages() {
      for (const [page, targets] of Object.entries(links)) {
        const kept = targets.map((target) => ({ target, kind: 'a', rel: '', text: '' }) as const)
        yield { page, links: kept, ...facts } satisfies StoredPageLinks
      }
    },
    async *items() {},
  }
}

const NODES: readonly Partial<GraphNode>[] = [
  { depth: 0 },
  { url: HOSTILE, state: 'failed' },
  { host: 'b.test', url: 'http://b.test/' },
  { state: 'skipped', reason: 'duplicate', aliasOf: 'http://a.test/1' },
]

it('shows each URL, its links once, and where redirects lead', async () => {
  const picture = await readPicture(graphOf(NODES, { 1: ['2', '3', '3', '1', '99'], 3: ['1'] }))
  expect(picture).toMatchObject({ isGrouped: false, droppedDots: 0, droppedLines: 0 })
  expect(picture.lines).toEqual([
    [3, 0],
    [0, 1],
    [0, 2],
    [2, 0],
  ])
  expect(picture.dots.map((dot) => [dot.class, dot.linkedFrom])).toEqual([
    ['ok', 1],
    ['failed', 1],
    ['ok', 1],
    ['redirected', 0],
  ])
})

it('shows the levels of each host where there are too many URLs, the worst state first', async () => {
  const picture = await readPicture(graphOf(NODES, { 1: ['2', '3'], 3: ['1'] }), { maxDots: 3, maxLines: 2 })
  expect(picture).toMatchObject({ isGrouped: true, droppedDots: 0, droppedLines: 1 })
  expect(picture.dots.map(({ label, count, class: kind }) => [label, count, kind])).toEqual([
    ['a.test, level 0', 1, 'ok'],
    ['a.test, level 1', 2, 'failed'],
    ['b.test, level 1', 1, 'ok'],
  ])
})

it('is the same each time, and everything in it is text', async () => {
  const picture = await readPicture(graphOf(NODES, { 1: ['2', '3'] }))
  const input = { depths: picture.dots.map(({ depth }) => depth), lines: picture.lines }
  const places = layOut(input)
  expect(layOut(input)).toEqual(places)
  const elements: string[] = []
  const titles: string[] = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => elements.push(name))
  parser.on('text', (text) => titles.push(text))
  parser.write([...formatSvg(picture, places)].join('')).close()
  expect(elements.filter((name) => name === 'circle').length).toBe(4 + 3)
  expect(elements).not.toContain('script')
  expect(titles.join('\n')).toContain(`${HOSTILE} (failed, linked from 1)`)
  const $ = load([...formatPicturePage(picture, places)].join(''))
  expect([$('script').length, $('a').length, $('[onerror], img, b').length]).toEqual([1, 4, 0])
})

it('draws nothing, one and two dots', () => {
  expect(layOut({ depths: [], lines: [] })).toEqual([])
  expect(layOut({ depths: [0], lines: [] })).toEqual([{ x: 0, y: 0 }])
  const two = layOut({ depths: [0, 0], lines: [[0, 1]] })
  expect(two.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true)
})
