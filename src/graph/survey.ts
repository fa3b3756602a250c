/** Goes through a crawl once and finds what people ask of it: what is linked most, from nowhere, or to nothing. */

import type {
  BrokenLink,
  DepthRow,
  GraphNode,
  GraphSource,
  Listed,
  PageSize,
  StoredPageLinks,
  Survey,
} from './contract.ts'
import { chainsOf } from './redirect-chains.ts'
import { Top } from './top.ts'

/** `max`: of the longest list. Memory grows with the known URLs: some 500 bytes each. */
export async function surveyGraph(source: GraphSource, max: number): Promise<Survey> {
  const surveyor = new Surveyor(source, max)
  for await (const node of source.nodes()) surveyor.meetNode(node)
  surveyor.resolveAliases()
  for await (const page of source.pages()) surveyor.meetPage(page)
  surveyor.resolveDropped()
  for await (const line of source.items()) surveyor.meetItem(line)
  return surveyor.survey()
}

interface Met {
  readonly node: GraphNode
  /** The one that stands for it. */
  root: Met | undefined
  linkedFrom: number
  readonly from: string[]
}

/** Of one broken link, and of one content under several URLs. */
const MAX_SOURCES = 10

class Surveyor {
  readonly #source: GraphSource
  readonly #max: number
  readonly #byId = new Map<string, Met>()
  readonly #byUrl = new Map<string, Met>()
  /** URLs of pages that had more links than are kept. */
  readonly #cut = new Set<string>()
  readonly #contents = new Map<string, { count: number; readonly urls: string[] }>()
  readonly #largest: Top<PageSize>
  readonly #slowest: Top<PageSize>
  readonly #untitled: Top<string>
  readonly #undescribed: Top<string>
  #links = 0

  constructor(source: GraphSource, max: number) {
    this.#source = source
    this.#max = max
    this.#largest = new Top(max)
    this.#slowest = new Top(max)
    this.#untitled = new Top(max)
    this.#undescribed = new Top(max)
  }

  meetNode(node: GraphNode): void {
    const met: Met = { node, root: undefined, linkedFrom: 0, from: [] }
    this.#byId.set(node.id, met)
    this.#byUrl.set(node.url, met)
  }

  resolveAliases(): void {
    for (const met of this.#byId.values()) {
      const { aliasOf, parentUrl } = met.node
      if (aliasOf !== undefined) met.root = this.#byUrl.get(aliasOf)
      if (!this.#source.hasLinks && parentUrl !== undefined) noteSource(met.root ?? met, parentUrl)
    }
  }

  meetPage({ page, links, dropped, title, bytes, ms, contentHash, isHtml }: StoredPageLinks): void {
    const met = this.#byId.get(page)
    if (met === undefined) return
    const { url, state } = met.node
    this.#links += links.length
    if (dropped > 0) this.#cut.add(url)
    const targets = new Set<Met>()
    for (const { target } of links) {
      const to = this.#byId.get(target)
      if (to !== undefined) targets.add(to.root ?? to)
    }
    targets.delete(met)
    for (const target of targets) noteSource(target, url)
    if (state !== 'done') return
    this.#largest.offer(bytes, { url, bytes, ms })
    if (ms > 0) this.#slowest.offer(ms, { url, bytes, ms })
    if (isHtml && title === '') this.#untitled.offer(0, url)
    this.#noteContent(contentHash, url)
  }

  /** What was found on a page with too many links has a link there, although it is not kept. */
  resolveDropped(): void {
    if (this.#cut.size === 0) return
    for (const met of this.#byId.values()) {
      const { parentUrl } = met.node
      const target = met.root ?? met
      if (target.linkedFrom === 0 && parentUrl !== undefined && this.#cut.has(parentUrl)) noteSource(target, parentUrl)
    }
  }

  /** The record of a page, as far as it is one. */
  meetItem(line: string): void {
    const { url, bytes, title, contentType, fields } = JSON.parse(line) as Readonly<Record<string, unknown>>
    if (typeof url !== 'string') return
    if (typeof fields === 'object' && fields !== null && 'description' in fields)
      if ((fields.description ?? '') === '') this.#undescribed.offer(0, url)
    if (this.#source.hasLinks) return
    if (typeof bytes === 'number') this.#largest.offer(bytes, { url, bytes, ms: 0 })
    if (title === '' && contentType === 'text/html') this.#untitled.offer(0, url)
  }

  #noteContent(hash: string, url: string): void {
    if (hash === '') return
    const same = this.#contents.get(hash)
    if (same === undefined) this.#contents.set(hash, { count: 1, urls: [url] })
    else if (++same.count <= MAX_SOURCES) same.urls.push(url)
  }

  survey(): Survey {
    return {
      task: this.#source.task,
      hasLinks: this.#source.hasLinks,
      nodes: this.#byId.size,
      links: this.#links,
      hosts: new Set(this.#nodes().map(({ host }) => host)).size,
      states: countBy(this.#nodes(), ({ state }) => state),
      statuses: countBy(this.#nodes(), ({ state, status }) =>
        state === 'done' || state === 'failed' ? String(status ?? 0) : undefined,
      ),
      skipped: countBy(this.#nodes(), ({ state, reason }) => (state === 'skipped' ? (reason ?? 'unknown') : undefined)),
      depths: depthsOf(this.#nodes()),
      ...this.#linkFigures(),
      redirects: this.#redirects(),
      largest: listed(this.#largest),
      slowest: listed(this.#slowest),
      untitled: listed(this.#untitled),
      undescribed: listed(this.#undescribed),
      duplicates: this.#duplicates(),
    }
  }

  #nodes(): readonly GraphNode[] {
    return [...this.#byId.values()].map(({ node }) => node)
  }

  #linkFigures(): Pick<Survey, 'mostLinked' | 'orphans' | 'broken'> {
    const mostLinked = new Top<Survey['mostLinked']['list'][number]>(this.#max)
    const orphans = new Top<Survey['orphans']['list'][number]>(this.#max)
    const broken = new Top<BrokenLink>(this.#max)
    for (const { node, linkedFrom, from } of this.#byId.values()) {
      const { url, state } = node
      if (linkedFrom > 0) mostLinked.offer(linkedFrom, { url, links: linkedFrom })
      else if (state !== 'skipped' && state !== 'unmet') orphans.offer(0, { url, state })
      if (state === 'failed') broken.offer(linkedFrom, brokenLink(node, { count: linkedFrom, list: from }))
    }
    return { mostLinked: listed(mostLinked), orphans: listed(orphans), broken: listed(broken) }
  }

  #redirects(): Survey['redirects'] {
    const chains = new Top<readonly string[]>(this.#max)
    for (const chain of chainsOf(this.#nodes())) chains.offer(chain.length, chain)
    return listed(chains)
  }

  #duplicates(): Survey['duplicates'] {
    const top = new Top<Survey['duplicates']['list'][number]>(this.#max)
    for (const same of this.#contents.values()) if (same.count > 1) top.offer(same.count, same)
    return listed(top)
  }
}

function noteSource(met: Met, url: string): void {
  met.linkedFrom++
  if (met.from.length < MAX_SOURCES) met.from.push(url)
}

function brokenLink(
  { url, reason = 'unknown', status, attempts = 0, error = '' }: GraphNode,
  from: BrokenLink['from'],
): BrokenLink {
  return { url, reason, status: status ?? null, from, attempts, error: error.split('\n', 1)[0] ?? '' }
}

function listed<T>(top: Top<T>): Listed<T> {
  return { count: top.count, list: top.list() }
}

function countBy(
  nodes: readonly GraphNode[],
  keyOf: (node: GraphNode) => string | undefined,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const key = keyOf(node)
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function depthsOf(nodes: readonly GraphNode[]): readonly DepthRow[] {
  const rows = new Map<number, { depth: number; known: number; done: number; failed: number }>()
  for (const { depth, state } of nodes) {
    if (depth === undefined) continue
    const row = rows.get(depth) ?? { depth, known: 0, done: 0, failed: 0 }
    row.known++
    if (state === 'done' || state === 'failed') row[state]++
    rows.set(depth, row)
  }
  return [...rows.values()].toSorted((a, b) => a.depth - b.depth)
}
