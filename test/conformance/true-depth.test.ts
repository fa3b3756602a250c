import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Lease } from '../../src/frontier/contract.ts'
import type { Store } from '../../src/stores/contract.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/store.ts'
import { createFakeClock } from '../../src/testing/fake-clock.ts'
import { answered, fingerprintOf, request, settings, settlement, TASK } from '../../src/testing/suite/subject.ts'
import { seededRandom } from '../../src/util/random.ts'

interface Graph {
  /** Where each page leads. Page 0 is the seed. */
  readonly links: readonly (readonly number[])[]
  /** Pages that redirect, and where to. */
  readonly redirects: ReadonlyMap<number, number>
  readonly maxDepth: number
  readonly seed: number
}

const graph: fc.Arbitrary<Graph> = fc.integer({ min: 2, max: 24 }).chain((size) => {
  const page = fc.nat(size - 1)
  return fc.record({
    links: fc.array(fc.array(page, { maxLength: 4 }), { minLength: size, maxLength: size }),
    redirects: fc
      .array(fc.tuple(fc.integer({ min: 1, max: size - 1 }), page), { maxLength: 3 })
      // of chains and loops of redirects only the frontier's own tests speak
      .map((pairs) => new Map(pairs.filter(([from, to]) => from !== to && !pairs.some(([other]) => other === to)))),
    maxDepth: fc.nat(6),
    seed: fc.nat(),
  })
})

/** Shortest distances from page 0; a redirect is no step. */
function distancesOf({ links, redirects, maxDepth }: Graph): Map<number, number> {
  const end = (page: number): number => redirects.get(page) ?? page
  const distances = new Map([[end(0), 0]])
  for (const [page, depth] of distances) {
    if (depth >= maxDepth) continue
    for (const link of links[page] ?? []) if (!distances.has(end(link))) distances.set(end(link), depth + 1)
  }
  return distances
}

/** Crawls with up to five requests in flight, which end in any order. Answers how often each page was fetched. */
async function crawl(store: Store, { links, redirects, maxDepth, seed }: Graph): Promise<Map<number, number>> {
  const { frontier } = store
  const random = seededRandom(seed)
  const fetched = new Map<number, number>()
  const flying: Lease[] = []
  const known = new Set(['0'])
  await frontier.openTask(settings({ maxDepth }))
  await frontier.add([request('0')])
  for (;;) {
    flying.push(...(await frontier.lease({ tasks: [TASK], max: 5 - flying.length, leaseMs: 60_000 })))
    const [lease] = flying.splice(Math.floor(random() * flying.length), 1)
    if (lease === undefined) return fetched
    const page = Number(new URL(lease.url).pathname.slice(1))
    fetched.set(page, (fetched.get(page) ?? 0) + 1)
    const target = redirects.get(page)
    if (target !== undefined) {
      const { url, fingerprint, hostKey } = request(String(target))
      const outcome = { kind: 'redirected', to: { url, fingerprint, hostKey, hop: '301' } } as const
      await frontier.settle([settlement(lease, { outcome })])
      continue
    }
    const names = [...new Set(links[page])].map(String)
    // what a filter in front of the store would do, for links met at any depth: here only ever at the same
    const isKnown = (name: string): boolean => known.has(`${name} at ${lease.request.depth + 1}`)
    const discovered = names
      .filter((name) => !isKnown(name))
      .map((name) => request(name, { depth: lease.request.depth + 1 }))
    const knownLinks = names.filter(isKnown).map(fingerprintOf)
    for (const name of names) known.add(`${name} at ${lease.request.depth + 1}`)
    const items = [{ data: { page, depth: lease.request.depth }, isPage: true }]
    await frontier.settle([settlement(lease, { discovered, knownLinks, items, host: answered })])
  }
}

async function expectTrueDepths(store: Store, each: Graph): Promise<void> {
  const fetched = await crawl(store, each)
  const wanted = distancesOf(each)
  const items = (await store.items.read(TASK, 0, 1000)).map(
    ({ json }) => JSON.parse(json) as { page: number; depth: number },
  )
  expect(new Map(items.map(({ page, depth }) => [page, depth]))).toEqual(
    new Map([...wanted].toSorted(([a], [b]) => a - b)),
  )
  expect(items.length).toBe(wanted.size)
  expect([...fetched.values()].every((times) => times === 1)).toBe(true)
  expect(await store.verify()).toEqual([])
}

it('in memory, exactly the pages in reach are fetched, once, and carry their shortest distance', async () => {
  const property = fc.asyncProperty(graph, async (each) => {
    await using store = openMemoryStore({ clock: createFakeClock(), random: seededRandom(1) })
    await expectTrueDepths(store, each)
  })
  await fc.assert(property, { numRuns: 300 })
})

it('on SQLite, exactly the pages in reach are fetched, once, and carry their shortest distance', async () => {
  const property = fc.asyncProperty(graph, async (each) => {
    const dir = mkdtempSync(join(tmpdir(), 'spoor-depth-'))
    try {
      await using store = await openSqliteStore({ dir, clock: createFakeClock(), random: seededRandom(1) })
      await expectTrueDepths(store, each)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
  await fc.assert(property, { numRuns: 40 })
})
