/** What a pass over a page has gathered so far, before links are resolved, and the modes it can be in. */

import type { PageLink, ScanOptions } from './contract.ts'
import { createForeignStack, isForeign, type ForeignStack } from './foreign.ts'
import type { RefreshText } from './meta.ts'
import { createTagReader, type TagReader } from './tag-reader.ts'
import { decodeMarkupText, foldSpace } from './text.ts'

export interface FoundLink {
  readonly tag: PageLink['tag']
  /** Where its address is written. */
  readonly from: number
  readonly to: number
  readonly rel: string | undefined
  text: string
}

export interface Page {
  readonly reader: TagReader
  readonly options: ScanOptions
  readonly foreign: ForeignStack
  readonly links: FoundLink[]
  droppedLinks: number
  baseHref: string | undefined
  title: string | undefined
  canonicalHref: string | undefined
  readonly robots: string[]
  readonly refreshes: RefreshText[]
  /** Open `noscript` elements. */
  noscripts: number
  templates: number
  /** Depth of the template whose content is no part of the document; 0: none. */
  inertTemplate: number
  /** A `frameset` may still take the place of the body. */
  framesetOk: boolean
  inFrameset: boolean
  /** The link whose text is being gathered. */
  openText: OpenText | undefined
}

export interface OpenText {
  readonly link: FoundLink
  readonly pieces: string[]
  length: number
  /** Tables opened inside the link. */
  tables: number
  /** The link is an element of SVG. */
  readonly foreign: boolean
}

const DEFAULT_MAX_LINKS = 50_000
const MAX_TEXT_CHARS = 10_000

export function createPage(html: string, options: ScanOptions): Page {
  const page: Page = {
    reader: createTagReader(html),
    options,
    foreign: createForeignStack(),
    links: [],
    droppedLinks: 0,
    baseHref: undefined,
    title: undefined,
    canonicalHref: undefined,
    robots: [],
    refreshes: [],
    noscripts: 0,
    templates: 0,
    inertTemplate: 0,
    framesetOk: true,
    inFrameset: false,
    openText: undefined,
  }
  updateModes(page)
  return page
}

/** What is met now is no part of the document that a reader sees. */
export function isIgnored(page: Page): boolean {
  return page.inertTemplate > 0 || page.inFrameset
}

/** Tells the reader of tags what to stop at; to be called after every change of what it depends on. */
export function updateModes(page: Page): void {
  const { reader } = page
  reader.everyTag = page.framesetOk || page.openText !== undefined || page.foreign.open.length > 0
  reader.cdata = isForeign(page.foreign) || page.options.xml === true
  if (!page.framesetOk && page.openText === undefined) reader.onText = undefined
  else
    reader.onText ??= (from, to) => {
      takeText(page, from, to)
    }
}

function takeText(page: Page, from: number, to: number): void {
  const { openText } = page
  if (openText !== undefined && openText.length < MAX_TEXT_CHARS) {
    const piece = page.reader.html.slice(from, Math.min(to, from + MAX_TEXT_CHARS - openText.length))
    openText.pieces.push(decodeMarkupText(piece))
    openText.length += piece.length
  }
  if (page.framesetOk && page.noscripts === 0 && !isBlank(page.reader.html, from, to)) {
    page.framesetOk = false
    updateModes(page)
  }
}

function isBlank(html: string, from: number, to: number): boolean {
  for (let pos = from; pos < to; pos++) if (html.charCodeAt(pos) > 0x20) return false
  return true
}

/** A link of the tag that is being read; `slot` holds its address. */
interface TagLink extends Pick<FoundLink, 'tag' | 'rel'> {
  readonly slot: number
}

/** Notes a link of the document. Answers it, unless it is over the bound. */
export function addLink(page: Page, { tag, slot, rel }: TagLink): FoundLink | undefined {
  if (page.links.length >= (page.options.maxLinks ?? DEFAULT_MAX_LINKS)) {
    page.droppedLinks++
    return undefined
  }
  const { starts, ends } = page.reader
  const found: FoundLink = { tag, from: starts[slot] ?? 0, to: ends[slot] ?? 0, rel, text: '' }
  page.links.push(found)
  return found
}

export function openLinkText(page: Page, link: FoundLink): void {
  page.openText = { link, pieces: [], length: 0, tables: 0, foreign: isForeign(page.foreign) }
  updateModes(page)
}

export function closeLinkText(page: Page): void {
  const { openText } = page
  if (openText === undefined) return
  openText.link.text = foldSpace(openText.pieces.join('').replaceAll('\0', ''))
  page.openText = undefined
  updateModes(page)
}
