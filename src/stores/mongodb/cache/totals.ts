/** How much the download cache in MongoDB holds. */

import type { Collection, Document } from 'mongodb'
import type { CacheCounts } from '../../../cache/contract.ts'
import type { CacheSize, CacheTotals } from '../../../cache/tables/tables.ts'
import type { CacheDatabase } from './documents.ts'

/** By the server's own books, which cost nothing to ask: without what deleted documents leave for others to fill. */
export async function readSize(database: CacheDatabase): Promise<CacheSize> {
  const { server, pages, blobs, parts } = database
  const [rows, ...rest] = await Promise.all(
    [pages, blobs, parts].map(({ collectionName }) =>
      server.ride(() => server.db.command({ collStats: collectionName })),
    ),
  )
  const bytes = [rows, ...rest].reduce((sum, stats) => sum + Number(stats?.['size'] ?? 0), 0)
  return { rows: Number(rows?.['count'] ?? 0), bytes }
}

/** One sum a question: FerretDB answers 0 to all but the first of several. */
export async function readTotals(database: CacheDatabase): Promise<CacheTotals> {
  const { server, pages, blobs } = database
  const { ride } = server
  const sumOf = async <T extends Document>(collection: Collection<T>, value: unknown): Promise<number> => {
    const stages = [{ $group: { _id: null, n: { $sum: value } } }]
    const [row] = await ride(() => collection.aggregate<{ readonly n: number }>(stages).toArray())
    return Number(row?.n ?? 0)
  }
  const { bytes } = await readSize(database)
  return {
    rows: await sumOf(pages, 1),
    bytes,
    blobs: await sumOf(blobs, 1),
    bodyBytes: await sumOf(pages, '$bodyBytes'),
    packedBytes: await sumOf(blobs, '$packedBytes'),
    oldestMs: await edgeOf(database, 1),
    newestMs: await edgeOf(database, -1),
    counts: await readCounts(database),
    hosts: await readHosts(database),
  }
}

async function edgeOf({ server, pages }: CacheDatabase, direction: 1 | -1): Promise<number | undefined> {
  const [page] = await server.ride(() =>
    pages
      .find({}, { projection: { checkedAtMs: 1 } })
      .sort({ checkedAtMs: direction })
      .limit(1)
      .toArray(),
  )
  return page?.checkedAtMs
}

async function readCounts({ server, counts }: CacheDatabase): Promise<CacheCounts> {
  const found = await server.ride(() => counts.find({}).toArray())
  const of = (name: keyof CacheCounts): number => found.find(({ _id }) => _id === name)?.n ?? 0
  return { hits: of('hits'), revalidated: of('revalidated'), misses: of('misses'), savedBytes: of('savedBytes') }
}

const MAX_HOSTS = 100

async function readHosts({ server, pages }: CacheDatabase): Promise<CacheTotals['hosts']> {
  const ask = (stages: readonly Document[]): Promise<{ _id: string; n: number }[]> =>
    server.ride(() => pages.aggregate<{ _id: string; n: number }>([...stages]).toArray())
  const byRows = await ask([
    { $group: { _id: '$host', n: { $sum: 1 } } },
    { $sort: { n: -1, _id: 1 } },
    { $limit: MAX_HOSTS },
  ])
  const byBytes = await ask([
    { $match: { host: { $in: byRows.map(({ _id }) => _id) } } },
    { $group: { _id: '$host', n: { $sum: '$bodyBytes' } } },
  ])
  const bytes = new Map(byBytes.map(({ _id, n }) => [_id, n]))
  return byRows.map(({ _id, n }) => ({ host: _id, entries: n, bodyBytes: bytes.get(_id) ?? 0 }))
}
