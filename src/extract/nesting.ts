/** Keeps a page from nesting without end: trees of such pages take time that is quadratic in their depth. */

import { isBreakout } from './foreign.ts'
import { createTagReader, nextTag, skipRawText, type TagReader } from './tag-reader.ts'

/** Browsers nest no deeper. */
const MAX_DEPTH = 512
const RAW_TEXT: ReadonlySet<string> = new Set('iframe noembed noframes script style textarea title xmp'.split(' '))
/** Elements that do not nest in themselves: without content, or ended by the next of their kind. */
const SHALLOW: ReadonlySet<string> = new Set(
  (
    'a area base basefont bgsound body br button col colgroup dd dt embed form frame h1 h2 h3 h4 h5 h6 head hr html img ' +
    'input keygen li link meta nobr option p param plaintext select source track wbr'
  ).split(' '),
)
/** Parts of tables: each ends what was left open in the part before it. */
const TABLE_PARTS: ReadonlySet<string> = new Set('caption tbody td tfoot th thead tr'.split(' '))
const FOREIGN: ReadonlySet<string> = new Set(['svg', 'math'])
const HOLDS_HTML: ReadonlySet<string> = new Set(['foreignobject', 'desc'])

interface Nesting {
  readonly open: string[]
  /** How often a name is open. */
  readonly counts: Map<string, number>
  /** Names of start tags that were left out, so that their end tags are too. */
  readonly dropped: Map<string, number>
  /** Inside SVG or MathML, where `<x/>` ends where it begins. */
  foreign: boolean
}

/**
 * The page as it is, unless it nests deeper than browsers do, or a tag has more than a thousand attributes: then without
 * the tags and attributes beyond. Linear; never throws.
 */
export function limitNesting(html: string): string {
  const reader = createTagReader(html)
  reader.everyTag = true
  const nesting: Nesting = { open: [], counts: new Map(), dropped: new Map(), foreign: false }
  const kept: string[] = []
  let copiedTo = 0
  while (nextTag(reader)) {
    const { tagStart, pos, floodFrom } = reader
    if (floodFrom > tagStart) {
      kept.push(html.slice(copiedTo, floodFrom))
      copiedTo = pos - 1
    }
    if (isKept(nesting, reader)) continue
    if (copiedTo <= tagStart) kept.push(html.slice(copiedTo, tagStart))
    copiedTo = pos
  }
  return copiedTo === 0 ? html : kept.join('') + html.slice(copiedTo)
}

function isKept(nesting: Nesting, reader: TagReader): boolean {
  const { name, isEnd } = reader
  if (RAW_TEXT.has(name)) {
    if (!isEnd) skipRawText(reader, name)
    return true
  }
  if (SHALLOW.has(name)) {
    if (isBreakout(name)) nesting.foreign = false
    return true
  }
  return isEnd ? takeEnd(nesting, name) : takeStart(nesting, reader)
}

function takeStart(nesting: Nesting, { name, selfClosing }: TagReader): boolean {
  if (isBreakout(name) || HOLDS_HTML.has(name)) nesting.foreign = false
  else if (nesting.foreign && selfClosing) return true
  if (TABLE_PARTS.has(name)) closeTo(nesting, 'table')
  if (nesting.open.length >= MAX_DEPTH) {
    nesting.dropped.set(name, (nesting.dropped.get(name) ?? 0) + 1)
    return false
  }
  if (FOREIGN.has(name)) nesting.foreign = !selfClosing
  nesting.open.push(name)
  nesting.counts.set(name, (nesting.counts.get(name) ?? 0) + 1)
  return true
}

function takeEnd(nesting: Nesting, name: string): boolean {
  const left = nesting.dropped.get(name) ?? 0
  if (left > 0) {
    nesting.dropped.set(name, left - 1)
    return false
  }
  if (TABLE_PARTS.has(name)) closeTo(nesting, 'table')
  else if ((nesting.counts.get(name) ?? 0) > 0) {
    closeTo(nesting, name)
    pop(nesting)
    if (FOREIGN.has(name)) nesting.foreign = false
  }
  return true
}

/** Ends all that is open inside the innermost element of that name, if there is one. */
function closeTo(nesting: Nesting, name: string): void {
  if ((nesting.counts.get(name) ?? 0) === 0) return
  while (nesting.open.at(-1) !== name) pop(nesting)
}

function pop({ open, counts }: Nesting): void {
  const name = open.pop() ?? ''
  counts.set(name, (counts.get(name) ?? 1) - 1)
}
