/** The one pass over a page that finds its links, base, title, canonical, robots words and refresh. No tree is built. */

import { nextTurn } from '../util/next-turn.ts'
import type { PageLink, PageScan, ScanOptions } from './contract.ts'
import { endForeign, isForeign, pushForeign, startsHtml } from './foreign.ts'
import { parseRefresh } from './meta.ts'
import { addLink, closeLinkText, createPage, isIgnored, openLinkText, updateModes, type Page } from './page.ts'
import { resolvePage } from './resolve-page.ts'
import { nextTag, rawAttribute, skipRawText, slotOf, type AttributeName } from './tag-reader.ts'
import { decodeAttribute, decodeMarkupText, foldSpace, wordsOf } from './text.ts'

const MAX_TITLE_CHARS = 10_000
const MAX_ROBOTS_WORDS = 1000
const MAX_REFRESHES = 8
/** Words of `rel` that make a `link` one to another page. */
const LINK_RELS: ReadonlySet<string> = new Set(['next', 'prev', 'previous', 'alternate', 'canonical'])
/** Start tags after which a `frameset` is no longer taken for the page's body. */
const BODY_TAGS: ReadonlySet<string> = new Set(
  (
    'applet area body br button dd dt embed hr iframe image img input keygen li listing marquee object pre select table ' +
    'textarea wbr xmp'
  ).split(' '),
)
const CELL_TAGS: ReadonlySet<string> = new Set('caption td th tr tbody thead tfoot'.split(' '))

/**
 * Scans a page. Linear in its length whatever it holds; what it keeps is bounded by `maxLinks` and the bounds on texts.
 * Never throws. Where damaged markup is read otherwise than by a browser: docs/damaged-markup.md.
 */
export function scanPage(html: string, options: ScanOptions): PageScan {
  const page = createPage(html, options)
  readTags(page)
  closeLinkText(page)
  return resolvePage(page)
}

/** Characters read in one turn: a few milliseconds at the most. */
const CHARS_A_TURN = 128 * 1024

/** The same for a page of many megabytes: others get their turn in between. */
export async function scanPageInTurns(html: string, options: ScanOptions): Promise<PageScan> {
  const page = createPage(html, options)
  const { reader } = page
  do {
    reader.pauseAt = reader.pos + CHARS_A_TURN
    readTags(page)
    // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
    await nextTurn()
  } while (reader.paused)
  closeLinkText(page)
  return resolvePage(page)
}

function readTags(page: Page): void {
  const { reader } = page
  while (nextTag(reader)) {
    if (reader.isEnd) endTag(page, reader.name)
    else if (page.foreign.open.length === 0 || !takeForeignStart(page)) startTag(page, reader.name)
  }
}

function startTag(page: Page, name: string): void {
  if (page.framesetOk && BODY_TAGS.has(name)) forbidFrameset(page)
  if (page.openText !== undefined) watchTables(page, name, false)
  START.get(name)?.(page)
}

/** The page has begun to show something: its body is one. */
function forbidFrameset(page: Page): void {
  if (!page.framesetOk || page.noscripts > 0 || page.inertTemplate > 0) return
  page.framesetOk = false
  updateModes(page)
}

function endTag(page: Page, name: string): void {
  if (page.foreign.open.length > 0) {
    endForeignTag(page, name)
    return
  }
  if (page.openText !== undefined) watchTables(page, name, true)
  if (name === 'br') forbidFrameset(page)
  else if (name === 'a') closeLinkText(page)
  else if (name === 'noscript') page.noscripts = Math.max(0, page.noscripts - 1)
  else if (name === 'template') endTemplate(page)
}

function endForeignTag(page: Page, name: string): void {
  // an end tag of the link around a drawing closes the drawing too
  if (name === 'a' && page.openText?.foreign === false) page.foreign.open.length = 0
  endForeign(page.foreign, name)
  updateModes(page)
  if (name === 'a') closeLinkText(page)
}

function endTemplate(page: Page): void {
  if (page.templates === 0) return
  if (page.templates === page.inertTemplate) page.inertTemplate = 0
  page.templates--
}

/** A link that was left open in a cell of a table ends with the cell. */
function watchTables(page: Page, name: string, isEnd: boolean): void {
  const { openText } = page
  if (openText === undefined) return
  if (name === 'table' && !isEnd) openText.tables++
  else if (name === 'table' && openText.tables > 0) openText.tables--
  else if ((name === 'table' || CELL_TAGS.has(name)) && openText.tables === 0) closeLinkText(page)
}

/** A start tag inside SVG or MathML. False: it is to be read as HTML. */
function takeForeignStart(page: Page): boolean {
  const { reader, foreign } = page
  if (!isForeign(foreign)) return false
  const html = startsHtml(foreign, {
    name: reader.name,
    selfClosing: reader.selfClosing,
    holdsHtml:
      reader.name === 'annotation-xml' && /^(text\/html|application\/xhtml\+xml)$/i.test(valueOf(page, 'encoding')),
    htmlFont:
      reader.name === 'font' && /[\s"'/](color|face|size)[\s=/>]/i.test(reader.html.slice(reader.tagStart, reader.pos)),
  })
  if (!html && reader.name === 'a') startAnchor(page)
  updateModes(page)
  return !html
}

const START: ReadonlyMap<string, (page: Page) => void> = new Map<string, (page: Page) => void>([
  ['a', startAnchor],
  ['area', (page) => takeLink(page, 'area', 'href')],
  ['base', startBase],
  ['frame', startFrame],
  ['frameset', startFrameset],
  [
    'iframe',
    (page) => {
      takeLink(page, 'iframe', 'src')
      skipText(page)
    },
  ],
  ['link', startLink],
  ['math', startForeign],
  ['meta', startMeta],
  ['noembed', skipText],
  ['noframes', skipText],
  ['noscript', startNoscript],
  ['plaintext', startPlaintext],
  ['script', skipText],
  ['style', skipText],
  ['svg', startForeign],
  ['template', startTemplate],
  ['textarea', skipText],
  ['title', startTitle],
  ['xmp', skipText],
])

/** Value of an attribute, references decoded; empty when it is not there. */
function valueOf(page: Page, name: AttributeName): string {
  return decodeAttribute(rawAttribute(page.reader, name) ?? '')
}

function startAnchor(page: Page): void {
  closeLinkText(page)
  if (isIgnored(page)) return
  const { reader } = page
  const isDrawn = page.foreign.open.at(-1) === 'svg'
  const slot = slotOf(reader, 'href') ?? (isDrawn ? slotOf(reader, 'xlink:href') : undefined)
  if (slot === undefined) return
  const link = addLink(page, { tag: 'a', slot, rel: rawAttribute(reader, 'rel') })
  const isEmpty = reader.selfClosing && (isForeign(page.foreign) || page.options.xml === true)
  if (link !== undefined && page.options.withText === true && !isEmpty) openLinkText(page, link)
}

function takeLink(page: Page, tag: PageLink['tag'], attribute: 'href' | 'src'): void {
  const slot = slotOf(page.reader, attribute)
  if (slot === undefined || (isIgnored(page) && !(tag === 'frame' && page.inertTemplate === 0))) return
  addLink(page, { tag, slot, rel: rawAttribute(page.reader, 'rel') })
}

function startFrame(page: Page): void {
  if (page.inFrameset) takeLink(page, 'frame', 'src')
}

function startFrameset(page: Page): void {
  if (!page.framesetOk || page.inertTemplate > 0) return
  page.inFrameset = true
  page.framesetOk = false
  updateModes(page)
}

function startLink(page: Page): void {
  const rel = rawAttribute(page.reader, 'rel')
  const slot = slotOf(page.reader, 'href')
  if (rel === undefined || slot === undefined || isIgnored(page)) return
  const words = wordsOf(decodeAttribute(rel))
  if (words.includes('canonical')) page.canonicalHref ??= rawAttribute(page.reader, 'href') || undefined
  const leadsOn = words.some((word) => LINK_RELS.has(word)) && !words.includes('stylesheet')
  if (leadsOn) addLink(page, { tag: 'link', slot, rel })
}

function startBase(page: Page): void {
  if (!isIgnored(page)) page.baseHref ??= rawAttribute(page.reader, 'href')
}

function startMeta(page: Page): void {
  if (isIgnored(page) || rawAttribute(page.reader, 'content') === undefined) return
  const name = valueOf(page, 'name').trim().toLowerCase()
  if (name !== '' && (name === 'robots' || name === (page.options.agent ?? 'spoor').toLowerCase())) takeRobots(page)
  if (page.noscripts === 0 && valueOf(page, 'http-equiv').toLowerCase() === 'refresh') takeRefresh(page)
}

function takeRobots(page: Page): void {
  const words = wordsOf(valueOf(page, 'content'))
  for (const word of words.slice(0, MAX_ROBOTS_WORDS - page.robots.length)) page.robots.push(word)
}

function takeRefresh(page: Page): void {
  const refresh = parseRefresh(valueOf(page, 'content'))
  if (refresh !== undefined && page.refreshes.length < MAX_REFRESHES) page.refreshes.push(refresh)
}

function startTitle(page: Page): void {
  const start = page.reader.pos
  const end = skipText(page)
  if (page.title !== undefined || isIgnored(page)) return
  const text = page.reader.html.slice(start, Math.min(end, start + MAX_TITLE_CHARS))
  page.title = foldSpace(decodeMarkupText(text).replaceAll('\0', '\u{fffd}'))
}

/** Passes over the text of the element just opened; answers where it ends. */
function skipText(page: Page): number {
  const { reader } = page
  if (page.options.xml === true && reader.selfClosing) return reader.pos
  return skipRawText(reader, reader.name)
}

function startPlaintext(page: Page): void {
  page.reader.pos = page.reader.html.length
}

function startNoscript(page: Page): void {
  page.noscripts++
}

/** A template's content is inert, unless it is the shadow tree of an element: that one is seen. */
function startTemplate(page: Page): void {
  page.templates++
  const shadow = /^(open|closed)$/i.test(valueOf(page, 'shadowrootmode'))
  if (!shadow && page.inertTemplate === 0) page.inertTemplate = page.templates
}

function startForeign(page: Page): void {
  if (page.reader.selfClosing) return
  pushForeign(page.foreign, page.reader.name)
  updateModes(page)
}
