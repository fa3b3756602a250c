/** The truth that a made site tells of itself is what a walk over its links finds. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SiteHandler } from '../../../src/testing/site-answer.ts'
import { graphSite, treeSite } from '../../../src/testing/site-shapes.ts'

async function walk(handler: SiteHandler, seed: string): Promise<Map<string, number>> {
  const depths = new Map([[seed, 0]])
  const queue = [seed]
  for (const path of queue) {
    const answer = await handler({ number: 1, visit: 1, atMs: 0, method: 'GET', host: '', path, headers: {} })
    for (const link of answer?.links ?? []) {
      if (depths.has(link)) continue
      depths.set(link, (depths.get(path) ?? 0) + 1)
      queue.push(link)
    }
  }
  return depths
}

describe('a tree site', () => {
  it('has exactly the pages it names, at the depths it names', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 9 }), async (pages, fanout) => {
        const site = treeSite(pages, fanout)
        expect(site.depths.size).toBe(pages)
        expect(await walk(site.handler, site.seed)).toEqual(site.depths)
      }),
      { numRuns: 30 },
    )
  })

  it('knows no other pages', async () => {
    const { handler } = treeSite(3, 2)
    const at = { number: 1, visit: 1, atMs: 0, method: 'GET', host: '', headers: {} }
    expect(await handler({ ...at, path: '/p/3' })).toBeUndefined()
    expect(await handler({ ...at, path: '/robots.txt' })).toBeUndefined()
  })
})

describe('a graph site', () => {
  it('tells the shortest distances of a walk over its links', async () => {
    const graph = fc
      .integer({ min: 1, max: 20 })
      .chain((size) => fc.array(fc.array(fc.nat(size - 1), { maxLength: 4 }), { minLength: size, maxLength: size }))
    await fc.assert(
      fc.asyncProperty(graph, async (adjacency) => {
        const site = graphSite(adjacency)
        expect(await walk(site.handler, site.seed)).toEqual(site.depths)
      }),
      { numRuns: 50 },
    )
  })
})
