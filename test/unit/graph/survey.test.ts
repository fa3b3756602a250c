/** What the figures say of a page that has more links than are kept. */

import { expect, test } from 'vitest'
import type { GraphNode, GraphSource, StoredPageLinks } from '../../../src/graph/contract.ts'
import { surveyGraph } from '../../../src/graph/survey.ts'

const url = (path: string): string => `http://a.test${path}`
const node = (path: string, more: Partial<GraphNode> = {}): GraphNode => ({
  id: path,
  url: url(path),
  host: 'a.test',
  state: 'done',
  ...more,
})

async function* each<T>(list: readonly T[]): AsyncIterable<T> {
  for (const one of list) yield await Promise.resolve(one)
}

function sourceOf(dropped: number): GraphSource {
  const page: StoredPageLinks = {
    page: '/',
    links: [{ target: '/kept', kind: 'a', rel: '', text: '' }],
    dropped,
    title: 'all',
    bytes: 1,
    ms: 1,
    contentHash: '',
    isHtml: true,
  }
  const found = { parentUrl: url('/') }
  const nodes = [
    node('/'),
    node('/kept', found),
    node('/beyond', found),
    node('/broken', { ...found, state: 'failed', status: 404, reason: 'http-4xx' }),
  ]
  return { task: 'default', hasLinks: true, nodes: () => each(nodes), pages: () => each([page]), items: () => each([]) }
}

test('what is found on a page with too many links is no orphan, and a broken one names the page', async () => {
  const { orphans, broken } = await surveyGraph(sourceOf(2), 10)
  expect(orphans.list.map((one) => one.url)).toEqual([url('/')])
  expect(broken.list[0]?.from).toEqual({ count: 1, list: [url('/')] })
})

test('where all links are kept, a page that no longer leads there is no source', async () => {
  const { orphans } = await surveyGraph(sourceOf(0), 10)
  expect(orphans.list.map((one) => one.url)).toEqual(expect.arrayContaining([url('/beyond'), url('/broken')]))
})
