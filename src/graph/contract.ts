/** The link graph: which page leads where, kept with the page that was settled. */

import type { RequestState } from '../core/request.ts'
import type { PageLink } from '../extract/contract.ts'

/** The element; `refresh` is a meta element or a header. */
export type LinkKind = PageLink['tag'] | 'refresh'

/** One link as a page has it. A page that leads somewhere twice by the same kind and rel has it once. */
export interface LinkDraft {
  /** As found: absolute, without fragment. */
  readonly url: string
  readonly fingerprint: string
  readonly hostKey: string
  readonly kind: LinkKind
  /** Lower case words, one blank between them. At most 100 characters. */
  readonly rel: string
  /** What readers click on, white space folded: of the first such link that has any. At most 120 characters. */
  readonly text: string
}

/** What is kept of one page. */
export interface PageLinks extends PageFacts {
  readonly links: readonly LinkDraft[]
  /** Links of the page that are not kept, because it has too many. */
  readonly dropped: number
}

export interface PageFacts {
  /** At most 300 characters. */
  readonly title: string
  /** Of the body, after decompression. */
  readonly bytes: number
  /** From the request to the last byte of the answer, milliseconds. 0: nothing was fetched, the page was in the cache. */
  readonly ms: number
  /** The first 16 characters of base64url of the SHA-256 of the body; empty for an empty one. */
  readonly contentHash: string
  readonly isHtml: boolean
}

export interface StoredLink {
  /** Id of the request that it leads to; `u1` and so on: of a URL that is no request of the task, see `urls`. */
  readonly target: string
  readonly kind: LinkKind
  readonly rel: string
  readonly text: string
}

export interface StoredPageLinks extends PageFacts {
  /** Id of the request. */
  readonly page: string
  readonly links: readonly StoredLink[]
  readonly dropped: number
}

export interface StoredUrl {
  /** `u1` and so on. */
  readonly id: string
  readonly url: string
  /** Id of the request that has come to be for this URL after all. */
  readonly request?: string
}

/**
 * Reads what settlements kept. Invariants, each one a test of the published suite:
 * 1. Links are there with their page's settlement, and only then.
 * 2. Links of a page that is settled again take the place of those it had; after a redirect in between they join them.
 * 3. Forgetting a task forgets its links.
 */
export interface LinkStore {
  /** In the order of ids. `after` is the cursor of the page before. */
  pages(task: string, page: LinkPage): Promise<{ readonly pages: readonly StoredPageLinks[]; readonly next?: string }>
  /** What links lead to and is no request of the task: pages of handlers that do not follow all links have many. */
  urls(task: string, page: LinkPage): Promise<{ readonly urls: readonly StoredUrl[]; readonly next?: string }>
}

export interface LinkPage {
  readonly after?: string
  /** 1 or more. */
  readonly max: number
}

/** One URL of the graph: a request, or what a link leads to and is none (`unmet`). */
export interface GraphNode {
  /** Of the request; `u1` and so on for what is none. */
  readonly id: string
  readonly url: string
  readonly host: string
  readonly state: RequestState | 'unmet'
  /** Of a skip or a failure. */
  readonly reason?: string
  readonly status?: number
  readonly depth?: number
  /** Where redirects have led. */
  readonly finalUrl?: string
  /** The page that it was first found on; none: a seed. */
  readonly parentUrl?: string
  /** URL of the request that stands for this one. */
  readonly aliasOf?: string
  /** Of a failure: how often it was tried, and what came of it last. */
  readonly attempts?: number
  readonly error?: string
}

/** One crawl as a graph, read in pages: each call begins anew. */
export interface GraphSource {
  readonly task: string
  /** False: the crawl kept no links, so that only nodes are known. */
  readonly hasLinks: boolean
  nodes(): AsyncIterable<GraphNode>
  /** Targets are ids of nodes. */
  pages(): AsyncIterable<StoredPageLinks>
  /** Lines of JSON. */
  items(): AsyncIterable<string>
}

export type GraphTextFormat = 'dot' | 'graphml' | 'csv' | 'nodes.csv'
export type GraphFormat = GraphTextFormat | 'svg' | 'html'

/** A list that is cut, with how many there are. */
export interface Listed<T> {
  readonly count: number
  readonly list: readonly T[]
}

export interface DepthRow {
  readonly depth: number
  readonly known: number
  readonly done: number
  readonly failed: number
}

export interface BrokenLink {
  readonly url: string
  readonly reason: string
  readonly status: number | null
  /** Pages that lead there; the first of them. */
  readonly from: Listed<string>
  readonly attempts: number
  /** What came of the last try. */
  readonly error: string
}

export interface PageSize {
  readonly url: string
  readonly bytes: number
  readonly ms: number
}

export interface Survey {
  readonly task: string
  /** False: links were not kept, and what follows from them is told by the page on which each URL was first found. */
  readonly hasLinks: boolean
  readonly nodes: number
  readonly links: number
  readonly hosts: number
  readonly states: Readonly<Record<string, number>>
  /** How many pages have which HTTP status; 0: none came. */
  readonly statuses: Readonly<Record<string, number>>
  readonly skipped: Readonly<Record<string, number>>
  readonly depths: readonly DepthRow[]
  readonly mostLinked: Listed<{ readonly url: string; readonly links: number }>
  /** Known by a seed or a sitemap, and no page leads there. */
  readonly orphans: Listed<{ readonly url: string; readonly state: string }>
  readonly broken: Listed<BrokenLink>
  /** From the URL that is linked to where it ends; the longest first. */
  readonly redirects: Listed<readonly string[]>
  readonly largest: Listed<PageSize>
  readonly slowest: Listed<PageSize>
  /** Pages with the same content under several URLs; the most first. */
  readonly duplicates: Listed<{ readonly count: number; readonly urls: readonly string[] }>
  readonly untitled: Listed<string>
  /** Of pages whose items have a field `description`: those where it is empty. */
  readonly undescribed: Listed<string>
}

export interface ReportFacts {
  /** ISO 8601. */
  readonly writtenAt: string
  readonly version: string
}
