/** True depth (invariant I7): whatever the graph, the latencies and the concurrency, a depth limit cuts at the shortest distance. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Crawler } from '../../../src/crawler/crawler.ts'
import { openForReading } from '../../../src/crawler/read-crawl.ts'
import { graphSite } from '../../../src/testing/site-shapes.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { openTemporaryFolder } from '../../support/command.ts'

const GRAPHS = 300

interface Case {
  readonly adjacency: readonly (readonly number[])[]
  readonly latenciesMs: readonly number[]
  readonly maxDepth: number
  readonly concurrency: number
}

const graphs: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 24 }).chain((size) =>
  fc.record({
    adjacency: fc.array(fc.array(fc.nat(size - 1), { maxLength: 4 }), { minLength: size, maxLength: size }),
    // a wide spread: a short way through a slow page loses against a long one through fast ones
    latenciesMs: fc.array(fc.constantFrom(0, 0, 1, 4, 15), { minLength: size, maxLength: size }),
    maxDepth: fc.nat(6),
    concurrency: fc.integer({ min: 1, max: 12 }),
  }),
)

async function depthsOf(dir: string): Promise<Map<string, number>> {
  const reader = await openForReading({ dir, store: undefined, task: 'default' })
  const depths = new Map<string, number>()
  for await (const line of reader.items()) {
    const { url, depth } = JSON.parse(line) as { readonly url: string; readonly depth: number }
    expect(depths.has(url), `${url} is there twice`).toBe(false)
    depths.set(url, depth)
  }
  await reader.close()
  return depths
}

it(
  `crawls exactly the pages within the limit, each at its shortest distance (${GRAPHS} graphs)`,
  { timeout: 300_000 },
  async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite({})
    let run = 0
    await fc.assert(
      fc.asyncProperty(graphs, async ({ adjacency, latenciesMs, maxDepth, concurrency }) => {
        const shape = graphSite(adjacency, latenciesMs)
        site.setRoutes(shape.handler)
        site.clearLog()
        run += 1
        const dir = join(folder.path, String(run))
        const options = { dir, maxDepth, concurrency, perHost: concurrency, delayMs: 0, robots: false }
        await new Crawler(options).run(site.url(shape.seed))
        const wanted = [...shape.depths].filter(([, depth]) => depth <= maxDepth)
        expect(await depthsOf(dir)).toEqual(new Map(wanted.map(([path, depth]) => [site.url(path), depth])))
        expect(site.log.map(({ path }) => path).toSorted()).toEqual(wanted.map(([path]) => path).toSorted())
        await rm(dir, { recursive: true })
      }),
      { numRuns: GRAPHS },
    )
  },
)
