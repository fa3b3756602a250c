/** `--recrawl sitemap`: pages that a sitemap lists with a later date than that of the last look are looked at again. */

import type { Door } from '../engine/contract.ts'
import type { SeedEntry } from '../engine/feed.ts'
import { isModifiedSince } from '../recrawl/due.ts'
import { parseVisit } from '../recrawl/visit.ts'
import type { Store } from '../stores/contract.ts'
import { parseHttpUrl } from '../url/canonical.ts'
import { addDue } from './round.ts'

export interface RecrawlListed {
  readonly task: string
  readonly door: Door
  readonly store: Store
  /** Told when some were put back into the queue. */
  readonly onDue: () => void
}

/** Requests that are put back in one step. */
const BATCH = 200

/** Hands all entries on. */
export async function* recrawlListed(
  seeds: AsyncIterable<SeedEntry>,
  { task, door, store, onDue }: RecrawlListed,
): AsyncGenerator<SeedEntry> {
  let ids: string[] = []
  const requeue = async (): Promise<void> => {
    if (ids.length === 0) return
    const due = ids
    ids = []
    await addDue(store, task, await store.frontier.requeue({ task, ids: due }))
    onDue()
  }
  for await (const entry of seeds) {
    const id = await dueId(entry, { task, door, store })
    if (id !== undefined) ids.push(id)
    if (ids.length >= BATCH) await requeue()
    yield entry
  }
  await requeue()
}

/** Names the request, where it was settled before the page was changed. */
async function dueId(
  entry: SeedEntry,
  { task, door, store }: Omit<RecrawlListed, 'onDue'>,
): Promise<string | undefined> {
  if (typeof entry === 'string' || !('listed' in entry)) return undefined
  const lastmod = entry.userData?.['lastmod']
  const parsed = parseHttpUrl(entry.url)
  if (typeof lastmod !== 'string' || !parsed.ok) return undefined
  const record = await store.frontier.get(task, door.fingerprintOf(parsed.url))
  if (record === undefined || (record.state !== 'done' && record.state !== 'failed')) return undefined
  return isModifiedSince(lastmod, parseVisit(record.visit)) ? record.id : undefined
}
