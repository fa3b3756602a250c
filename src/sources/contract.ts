/** Where a crawl's first URLs come from. */

import type { JsonObject } from '../core/json.ts'
import type { CacheMode, CacheOverride } from '../core/request.ts'

/** A URL of a seed file. */
export interface Seed {
  /** Absolute, http or https, as it stands in the file; a bare domain has become `http://domain/`. */
  readonly url: string
  /** Counted from 1; in an archive, within its file. */
  readonly line: number
  readonly depth?: number
  readonly priority?: number
  readonly label?: string
  readonly userData?: JsonObject
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string
  /** What the download cache does for it. */
  readonly cache?: CacheMode | CacheOverride
}

/** A line that holds no URL: to be counted as `invalid-url`. */
export interface SeedProblem {
  /** One line for people: file, line, what was expected and found. */
  readonly problem: string
  readonly line: number
}

export type SeedLine = Seed | SeedProblem

/** A page of a sitemap or feed. */
export interface SitemapEntry {
  /** Absolute, http or https, without fragment. */
  readonly url: string
  /** A date `2024-05-01` or an instant in ISO 8601; none when there is none or it is no date. */
  readonly lastmod?: string
  /** 0 to 1; none when there is none or it is no priority. */
  readonly priority?: number
  /** The same page in other languages, as `hreflang` says. At most 200. */
  readonly alternates?: readonly SitemapAlternate[]
}

export interface SitemapAlternate {
  readonly language: string
  readonly url: string
}
