import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Lease, Settlement } from '../../../src/frontier/contract.ts'
import type { Store } from '../../../src/stores/contract.ts'
import { request, settings, settlement, TASK } from '../../../src/testing/suite/subject.ts'
import { seededRandom } from '../../../src/util/random.ts'
import type { Random } from '../../../src/util/random.ts'
import { testDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { serviceUrl } from '../../support/services.ts'

const PAGES = 250
const MAX_DEPTH = 7
const WORKERS = 4
const HOSTS = ['a.test', 'b.test', 'c.test']

const server = serviceUrl('POSTGRES')
const seed = Number(process.env['DEPTH_SEED'] ?? 20)

let database: TestDatabase | undefined
beforeAll(async () => {
  if (server !== undefined) database = await testDatabase(server)
})
afterAll(() => database?.drop())

interface Graph {
  readonly links: readonly (readonly number[])[]
  /** Pages that redirect, and where to: never to one that redirects. */
  readonly redirects: ReadonlyMap<number, number>
}

/** A long chain with many short cuts, most of them found late: depths are lowered again and again. */
function graphOf(random: Random): Graph {
  const any = (): number => Math.floor(random() * PAGES)
  const links = Array.from({ length: PAGES }, (_, n) => [n + 1, any(), any()].filter((page) => page < PAGES))
  const pairs = Array.from({ length: 15 }, () => [1 + Math.floor(random() * (PAGES - 1)), any()] as const)
  const sources = new Set(pairs.map(([from]) => from))
  return { links, redirects: new Map(pairs.filter(([from, to]) => from !== to && !sources.has(to))) }
}

/** Shortest distances from page 0; a redirect is no step. */
function distancesOf({ links, redirects }: Graph): Map<number, number> {
  const end = (page: number): number => redirects.get(page) ?? page
  const distances = new Map([[end(0), 0]])
  for (const [page, depth] of distances) {
    if (depth >= MAX_DEPTH) continue
    for (const link of links[page] ?? []) if (!distances.has(end(link))) distances.set(end(link), depth + 1)
  }
  return distances
}

const nameOf = (page: number): string => `${HOSTS[page % HOSTS.length] ?? ''}/${page}`

function settlementOf(lease: Lease, { links, redirects }: Graph): Settlement {
  const page = Number(new URL(lease.url).pathname.slice(1))
  const target = redirects.get(page)
  if (target !== undefined) {
    const { url, fingerprint, hostKey } = request(nameOf(target))
    return settlement(lease, { outcome: { kind: 'redirected', to: { url, fingerprint, hostKey, hop: '301' } } })
  }
  const depth = lease.request.depth + 1
  const discovered = (links[page] ?? []).map((link) => request(nameOf(link), { depth }))
  return settlement(lease, { discovered, items: [{ data: { page, depth: lease.request.depth }, isPage: true }] })
}

/** Holds a few leases and ends them in any order. */
async function crawl({ frontier }: Store, graph: Graph, random: Random): Promise<number[]> {
  const fetched: number[] = []
  const flying: Lease[] = []
  for (;;) {
    flying.push(...(await frontier.lease({ tasks: [TASK], max: 6 - flying.length, leaseMs: 60_000 })))
    if (flying.length === 0) {
      const outlook = await frontier.waitForWork({ tasks: [TASK] }, AbortSignal.timeout(60_000))
      if (outlook === 'ready') continue
      expect(outlook).toBe('finished')
      return fetched
    }
    const ended = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      flying.splice(Math.floor(random() * flying.length), 1),
    ).flat()
    fetched.push(...ended.map(({ url }) => Number(new URL(url).pathname.slice(1))))
    const answers = await frontier.settle(ended.map((lease) => settlementOf(lease, graph)))
    expect(new Set(answers)).toEqual(new Set(['settled']))
  }
}

const byPage = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0]

it.skipIf(server === undefined)(
  `four workers that find short cuts late give every page its shortest distance (seed ${seed})`,
  { timeout: 300_000 },
  async () => {
    if (database === undefined) throw new Error('Expected a database')
    const graph = graphOf(seededRandom(seed))
    const stores = await Promise.all(Array.from({ length: WORKERS }, () => database?.open())).then((opened) =>
      opened.flatMap((each) => each?.store ?? []),
    )
    const [first] = stores
    if (first === undefined) throw new Error('Expected a store')
    await first.frontier.openTask(settings({ maxDepth: MAX_DEPTH, order: 'dfs' }))
    await first.frontier.add([request(nameOf(0))])
    const fetched = await Promise.all(stores.map((store, n) => crawl(store, graph, seededRandom(seed + n))))

    const wanted = distancesOf(graph)
    const items = await first.items.read(TASK, 0, 10_000)
    const found = items.map(({ json }) => JSON.parse(json) as { page: number; depth: number })
    expect(found.map(({ page, depth }): [number, number] => [page, depth]).toSorted(byPage)).toEqual(
      [...wanted].toSorted(byPage),
    )
    const once = fetched.flat()
    expect(new Set(once).size).toBe(once.length)
    expect(fetched.filter((pages) => pages.length > 0).length).toBeGreaterThan(1)
    expect(await first.verify()).toEqual([])
  },
)
