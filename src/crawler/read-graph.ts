/** The link graph of a crawl, read from its store. */

import type { GraphNode, GraphSource, StoredPageLinks } from '../graph/contract.ts'
import type { RequestRecord } from '../frontier/contract.ts'
import type { Store } from '../stores/contract.ts'
import { hostKeyOf } from '../url/canonical.ts'

const PAGE = 500
const LINK_PAGE = 200

/** What a source of pages answers: some, and where the next begin. */
interface Batch<T> {
  readonly found: readonly T[]
  readonly next?: string | undefined
}

export async function openGraph({ frontier, items, links }: Store, task: string): Promise<GraphSource> {
  const first = await links?.pages(task, { max: 1 })
  /** What has become a request after a link to it was kept. */
  const requestOf = new Map<string, string>()
  const unmet = async (after: string | undefined): Promise<Batch<GraphNode>> => {
    const page = await links?.urls(task, { max: PAGE, ...at(after) })
    const found: GraphNode[] = []
    for (const { id, url, request } of page?.urls ?? []) {
      if (request === undefined) found.push({ id, url, host: hostKeyOf(url), state: 'unmet' })
      else requestOf.set(id, request)
    }
    return { found, next: page?.next }
  }
  return {
    task,
    hasLinks: first !== undefined && (first.pages.length > 0 || first.next !== undefined),
    async *nodes() {
      yield* all(async (after) => {
        const page = await frontier.list({ task }, { max: PAGE, ...at(after) })
        return { found: page.records.map(nodeOf), next: page.next }
      })
      yield* all(unmet)
    },
    async *items() {
      let after = 0
      for (;;) {
        const batch = await items.read(task, after, PAGE)
        for (const { json } of batch) yield json
        const last = batch.at(-1)
        if (last === undefined) return
        after = last.seq
      }
    },
    async *pages() {
      for await (const _ of all(unmet)); // learns which of them are requests
      yield* all<StoredPageLinks>(async (after) => {
        const page = await links?.pages(task, { max: LINK_PAGE, ...at(after) })
        return { found: (page?.pages ?? []).map((kept) => renamed(kept, requestOf)), next: page?.next }
      })
    },
  }
}

const at = (after: string | undefined): { readonly after?: string } => (after === undefined ? {} : { after })

async function* all<T>(read: (after: string | undefined) => Promise<Batch<T>>): AsyncGenerator<T> {
  let after: string | undefined
  do {
    const { found, next } = await read(after)
    yield* found
    after = next
  } while (after !== undefined)
}

/** A link to what was no request yet and one to the request may now be the same. */
function renamed(page: StoredPageLinks, requestOf: ReadonlyMap<string, string>): StoredPageLinks {
  if (!page.links.some(({ target }) => requestOf.has(target))) return page
  const links = page.links.map((link) => ({ ...link, target: requestOf.get(link.target) ?? link.target }))
  return { ...page, links }
}

function nodeOf(record: RequestRecord): GraphNode {
  const { id, request, state, attempts } = record
  const last = attempts.at(-1)
  return {
    id,
    url: request.url,
    host: request.hostKey,
    state,
    depth: request.depth,
    ...(record.reason === undefined ? {} : { reason: record.reason }),
    ...(record.status === undefined ? {} : { status: record.status }),
    ...(record.finalUrl === undefined ? {} : { finalUrl: record.finalUrl }),
    ...(record.parentUrl === undefined ? {} : { parentUrl: record.parentUrl }),
    ...(record.aliasOf === undefined ? {} : { aliasOf: record.aliasOf }),
    ...(last === undefined ? {} : { attempts: attempts.length, error: last.error }),
  }
}
