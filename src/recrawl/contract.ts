/** Crawling again what a crawl knows: what is remembered of a page, what is due, and what became of it. */

/** Which pages are due when a crawl that is at its end is run again. */
export type RecrawlMode =
  | { readonly kind: 'all' }
  /** Not looked at for so long. */
  | { readonly kind: 'age'; readonly ms: number }
  /** Those for which a sitemap gives a later date than that of the last look. */
  | { readonly kind: 'sitemap' }
  /** Not looked at for their own interval: shorter for pages that were found changed, longer for the others. */
  | { readonly kind: 'adaptive' }

/** What is kept with a request of the last look at its page. */
export interface Visit {
  /** Of the body. Undefined: the page was there and is gone. */
  readonly digest: string | undefined
  /** Milliseconds since the epoch. */
  readonly checkedAtMs: number
  /** When another body than before was seen, or the first one. */
  readonly changedAtMs: number
  /** After which an adaptive crawl looks again. */
  readonly intervalMs: number
}

/** `new`: not seen before, or back again. `gone`: it was there, and now the server says 404 or 410. */

export type Finding = 'new' | 'changed' | 'unchanged' | 'gone'

/** Bounds of the adaptive interval. */
export interface IntervalBounds {
  readonly minMs: number
  readonly maxMs: number
}
