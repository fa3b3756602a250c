/** The standard record of a page: its keys, their order and their meaning. */

import type { JsonObject } from '../core/json.ts'

/** Keys of a page's item in the order in which they are written; `fields` follows when there are any. */
export const PAGE_COLUMNS = [
  'url',
  'finalUrl',
  'status',
  'depth',
  'title',
  'contentType',
  'bytes',
  'links',
  'fetchedAt',
  'fromCache',
] as const
export type PageColumn = (typeof PAGE_COLUMNS)[number]

export interface PageItemOptions {
  /** As requested, without fragment. */
  readonly url: string
  /** After redirects. */
  readonly finalUrl: string
  readonly status: number
  readonly depth: number
  /** White space folded; empty when there is none. */
  readonly title: string
  /** As the server sent it; empty when it sent none. */
  readonly contentType: string
  /** Of the body after decoding. */
  readonly bytes: number
  /** How many links were found. */
  readonly links: number
  /** Milliseconds since the epoch. */
  readonly fetchedAtMs: number
  readonly fromCache: boolean
  /** The page asks not to be indexed; only then is it a key of the record. */
  readonly noindex?: boolean
  /** The page names this as its own address; a key of the record only where it is another one than `finalUrl`. */
  readonly canonical?: string | undefined
  /** A browser has rendered the page; files made of it, relative to the data folder, are keys of the record too. */
  readonly rendered?: { readonly screenshot?: string; readonly pdf?: string }
  /** What was selected from the page; left out when empty. */
  readonly fields?: JsonObject
}

/** One a page that reached the handler, exactly once, whatever crashed. */
export function pageItem(options: PageItemOptions): JsonObject {
  const { url, finalUrl, status, depth, title, contentType, bytes, links, fromCache, fields } = options
  const fetchedAt = new Date(options.fetchedAtMs).toISOString()
  const { noindex, canonical, rendered } = options
  // filled one by one: nearly all records then have one shape
  const record: { -readonly [K in keyof JsonObject]: JsonObject[K] } = {
    url,
    finalUrl,
    status,
    depth,
    title,
    contentType,
    bytes,
    links,
    fetchedAt,
    fromCache,
  }
  if (noindex === true) record['noindex'] = true
  if (canonical !== undefined && canonical !== finalUrl) record['canonical'] = canonical
  if (rendered !== undefined) Object.assign(record, { rendered: true }, rendered)
  if (fields !== undefined && Object.keys(fields).length > 0) record['fields'] = fields
  return record
}
