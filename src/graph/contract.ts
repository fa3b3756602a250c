/** The link graph: which page leads where, kept with the page that was settled. */

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
