/** What one pass over a page finds. */

import type { UrlPieces } from '../core/url-pieces.ts'

/** A link as the page has it, resolved. */
export interface PageLink {
  /** Absolute, http or https, without fragment. */
  readonly url: string
  readonly tag: 'a' | 'area' | 'link' | 'iframe' | 'frame'
  /** The words of the attribute `rel`, lower case, one blank between them. Empty when there is none. */
  readonly rel: string
  /** rel contains nofollow. */
  readonly nofollow: boolean
  /** Text of the element, white space folded; only when asked for. */
  readonly text?: string
}

export interface PageScan {
  /** What relative links are resolved against. */
  readonly base: string
  /** In document order, repetitions included. Made when it is first asked for: most pages are only visited. */
  readonly links: readonly PageLink[]
  /** How many these are. */
  readonly linkCount: number
  /** How many addresses were found, whatever they are: told without looking at them. */
  readonly foundCount: number
  /** White space folded. Empty when there is none. */
  readonly title: string
  readonly canonical: string | undefined
  /** Tokens of the robots metas that concern the agent, lower case. */
  readonly robots: readonly string[]
  readonly refresh: PageRefresh | undefined
  /** http(s) links that could not be parsed, or that are too long: counted, so that nothing is silent. */
  readonly invalidLinks: number
  /** Links longer than the bound: their first 200 characters. At most 1,000 of them. */
  readonly tooLong: readonly string[]
  /** Links after the first `maxLinks`: left out and counted. */
  readonly droppedLinks: number
  /** Shows all links in document order, without making a list of them. */
  visitLinks(visitor: LinkVisitor): void
  /** The same for a page of thousands: others get their turn in between. */
  visitLinksInTurns(visitor: LinkVisitor): Promise<void>
}

/** Looks at the links of a page one by one. */
export interface LinkVisitor {
  /** True: nothing more is wanted of this link, which has no `rel`. Not asked of all links. */
  readonly passesOver?: (pieces: UrlPieces) => boolean
  /** All others. */
  readonly take: (link: PageLink) => void
}

/** Where a page, or the header of its answer, sends its readers on. */
export interface PageRefresh {
  /** Absolute, http or https, without fragment. */
  readonly url: string
  readonly seconds: number
}

/** Resolves what a page writes in its links: absolute http(s) URL, or null for what is none. */
export interface HrefResolver {
  (href: string): string | null
  /** The same for an address that stands in the markup; undefined where it is not plain what it means. */
  readonly pieces?: (text: string, from: number, to: number) => UrlPieces | undefined
}

export interface ScanOptions {
  /** Final URL of the page. */
  readonly url: string
  /** Encoding of the page, for the queries of its links. Default utf-8. */
  readonly charset?: string
  /** Product token of the robots metas that concern us besides `robots`. Default spoor. */
  readonly agent?: string
  readonly withText?: boolean
  /** Default 8192. */
  readonly maxUrlBytes?: number
  /** Default 50,000. */
  readonly maxLinks?: number
  /** The page is XHTML: `<script/>` ends where it begins, and CDATA sections are text. Default false. */
  readonly xml?: boolean
  /** Makes the resolver for a base URL. Default: the platform's `URL`. */
  readonly resolve?: (base: string) => HrefResolver
}
