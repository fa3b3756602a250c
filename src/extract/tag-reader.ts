/** Reads the tags of a page one by one by the tokenizer states of the HTML standard (13.2.5), without building anything. */

import { endOfScript, endOfRawText, skipDeclaration } from './raw-text.ts'
import { createWordList } from './word-list.ts'

const TAB = 0x09
const LF = 0x0a
const FF = 0x0c
const CR = 0x0d
const SPACE = 0x20
const BANG = 0x21
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const SLASH = 0x2f
const EQUALS = 0x3d
const GREATER = 0x3e
const QUESTION = 0x3f

/** Attributes that are kept of the tags that matter; their place here is their slot in the reader. */
const ATTRIBUTES = [
  'href',
  'rel',
  'src',
  'name',
  'content',
  'http-equiv',
  'xlink:href',
  'encoding',
  'shadowrootmode',
  'charset',
] as const
export type AttributeName = (typeof ATTRIBUTES)[number]
const SLOTS: ReadonlyMap<string, number> = new Map(ATTRIBUTES.map((name, slot) => [name, slot]))

/** Tags whose start is looked at; of all others the tokenizer only finds the end. */
const START_TAGS = [
  'a',
  'annotation-xml',
  'area',
  'base',
  'font',
  'frame',
  'frameset',
  'iframe',
  'link',
  'math',
  'meta',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
  'script',
  'style',
  'svg',
  'template',
  'textarea',
  'title',
  'xmp',
]
const END_TAGS = ['noscript', 'template']

const startTags = createWordList(START_TAGS)
const endTags = createWordList(END_TAGS)
const attributes = createWordList(ATTRIBUTES)

/** Where one pass over a page stands. Owned by the pass; nothing else writes to it but through the functions here. */
export interface TagReader {
  readonly html: string
  pos: number
  /** `nextTag` pauses between two tags beyond this place: a page of many megabytes is read in turns. */
  pauseAt: number
  /** The last answer of `nextTag` was a pause, not the end. */
  paused: boolean
  /** Stop at every tag, not only at those that matter in plain HTML. */
  everyTag: boolean
  /** CDATA sections are sections here, not bogus comments: foreign content. */
  cdata: boolean
  /** Receives every piece of text between tags while it is set. */
  onText: ((from: number, to: number) => void) | undefined
  /** Lower case. Empty for a name that is not of ASCII: no element we know. */
  name: string
  isEnd: boolean
  selfClosing: boolean
  tagStart: number
  /** Where the first attribute over a thousand begins: of this tag if it is after `tagStart`. */
  floodFrom: number
  /** Places of the values of the current tag, by slot; −1: not there. */
  readonly starts: Int32Array
  readonly ends: Int32Array
}

export function createTagReader(html: string): TagReader {
  return {
    html,
    pos: 0,
    pauseAt: Number.POSITIVE_INFINITY,
    paused: false,
    everyTag: false,
    cdata: false,
    onText: undefined,
    name: '',
    isEnd: false,
    selfClosing: false,
    tagStart: 0,
    floodFrom: -1,
    starts: new Int32Array(ATTRIBUTES.length).fill(-1),
    ends: new Int32Array(ATTRIBUTES.length),
  }
}

/** Goes on to the next tag that matters. False at the end of the page and at a pause; a tag that the end cuts is none. */
export function nextTag(reader: TagReader): boolean {
  const { html } = reader
  let pos = reader.pos
  reader.paused = false
  for (;;) {
    if (pos > reader.pauseAt) {
      reader.pos = pos
      reader.paused = true
      return false
    }
    const open = html.indexOf('<', pos)
    reader.onText?.(pos, open < 0 ? html.length : open)
    if (open < 0) return false
    const code = html.charCodeAt(open + 1)
    if (isLetter(code)) {
      pos = readTag(reader, open, open + 1)
      if (pos === FOUND) return true
    } else if (code === SLASH && isLetter(html.charCodeAt(open + 2))) {
      pos = readTag(reader, open, open + 2)
      if (pos === FOUND) return true
    } else {
      pos = skipOther(reader, open, code)
    }
    if (pos < 0) return false
  }
}

/** Slot of an attribute that the current tag has: where its value is in `starts` and `ends`. Undefined: it has none. */
export function slotOf(reader: TagReader, name: AttributeName): number | undefined {
  const slot = SLOTS.get(name) ?? 0
  return (reader.starts[slot] ?? -1) < 0 ? undefined : slot
}

/** Value of an attribute of the current tag as it is written, or undefined. */
export function rawAttribute(reader: TagReader, name: AttributeName): string | undefined {
  const slot = slotOf(reader, name)
  return slot === undefined ? undefined : reader.html.slice(reader.starts[slot], reader.ends[slot])
}

/**
 * Passes over the text of an element that holds no markup (title, textarea, style, script, ...) and over its end tag.
 * Answers where the text ended; an element that is never closed takes the rest of the page.
 */
export function skipRawText(reader: TagReader, name: string): number {
  const { html, pos } = reader
  const end = name === 'script' ? endOfScript(html, pos) : endOfRawText(html, pos, name)
  if (end < 0) {
    reader.pos = html.length
    return html.length
  }
  const after = readAttributes(reader, end + 2 + name.length, false)
  reader.pos = after < 0 ? html.length : after
  return end
}

export function isHtmlSpace(code: number): boolean {
  return code === SPACE || code === LF || code === TAB || code === CR || code === FF
}

/** No page that people read has so many in one tag. */
const MANY_ATTRIBUTES = 1000
/** Attributes that are told apart in one tag. */
const MAX_ATTRIBUTES = 20_000

const FOUND = -2
const ENDED = -1

/** Reads the tag whose name begins at `nameStart`: FOUND, ENDED or where to go on. */
function readTag(reader: TagReader, open: number, nameStart: number): number {
  const { html } = reader
  let nameEnd = nameStart
  let bits = 0
  let code = html.charCodeAt(nameEnd)
  while (code > GREATER || isNameCode(code)) {
    bits |= code
    code = html.charCodeAt(++nameEnd)
  }
  if (nameEnd >= html.length) return ENDED
  const isEnd = nameStart - open === 2
  const name = listedName(html, { nameStart, nameEnd, isEnd })
  const known = name !== undefined
  reader.selfClosing = false
  if (known) reader.starts.fill(-1)
  const pos = code === GREATER ? nameEnd + 1 : readAttributes(reader, nameEnd, known)
  if (pos < 0 || !(known || reader.everyTag)) return pos
  reader.name = name ?? (bits > 0x7f ? '' : html.slice(nameStart, nameEnd).toLowerCase())
  reader.isEnd = isEnd
  reader.tagStart = open
  reader.pos = pos
  return FOUND
}

function listedName(
  html: string,
  { nameStart, nameEnd, isEnd }: { readonly nameStart: number; readonly nameEnd: number; readonly isEnd: boolean },
): string | undefined {
  const place = (isEnd ? endTags : startTags).find(html, nameStart, nameEnd)
  // a list is not asked for its element −1, which takes the engine the long way
  return place === -1 ? undefined : (isEnd ? END_TAGS : START_TAGS)[place]
}

/**
 * Passes over the attributes of a tag from `from`, just after its name; with `keep` it notes the known ones, of two with
 * one name the first. Answers the place after `>`, or ENDED.
 */
// oxlint-disable-next-line complexity -- the attribute states of the standard, in one loop because it is the hottest one
function readAttributes(reader: TagReader, from: number, keep: boolean): number {
  const { html } = reader
  let pos = from
  for (let count = 0; ; count++) {
    if (count >= MANY_ATTRIBUTES) {
      if (count === MANY_ATTRIBUTES) reader.floodFrom = pos
      if (count > MAX_ATTRIBUTES) return endOfFlood(html, pos)
    }
    let code = html.charCodeAt(pos)
    let slash = false
    while (code === SLASH || isHtmlSpace(code)) {
      slash = code === SLASH
      code = html.charCodeAt(++pos)
    }
    if (code === GREATER) {
      reader.selfClosing = slash
      return pos + 1
    }
    const nameStart = pos
    do code = html.charCodeAt(++pos)
    while (code > GREATER || (code !== EQUALS && isNameCode(code)))
    const nameEnd = pos
    while (isHtmlSpace(code)) code = html.charCodeAt(++pos)
    let valueStart = nameEnd
    let valueEnd = nameEnd
    if (code === EQUALS) {
      do code = html.charCodeAt(++pos)
      while (isHtmlSpace(code))
      valueStart = code === DOUBLE_QUOTE || code === SINGLE_QUOTE ? pos + 1 : pos
      valueEnd = endOfValue(html, pos, code)
      if (valueEnd < 0) return ENDED
      pos = valueStart > pos ? valueEnd + 1 : valueEnd
    }
    if (pos >= html.length) return ENDED
    if (keep) noteAttribute(reader, { nameStart, nameEnd, valueStart, valueEnd })
  }
}

/** No page has such a tag: it ends at the next `>`, whatever quotes are open. */
function endOfFlood(html: string, pos: number): number {
  const end = html.indexOf('>', pos)
  return end < 0 ? ENDED : end + 1
}

function endOfValue(html: string, start: number, first: number): number {
  if (first === DOUBLE_QUOTE) return html.indexOf('"', start + 1)
  if (first === SINGLE_QUOTE) return html.indexOf("'", start + 1)
  let end = start
  let code = first
  while (code > GREATER || (code < GREATER && !isHtmlSpace(code))) code = html.charCodeAt(++end)
  return end
}

interface AttributePlaces {
  readonly nameStart: number
  readonly nameEnd: number
  readonly valueStart: number
  readonly valueEnd: number
}

function noteAttribute(reader: TagReader, places: AttributePlaces): void {
  const slot = attributes.find(reader.html, places.nameStart, places.nameEnd)
  if (slot === -1 || reader.starts[slot] !== -1) return
  reader.starts[slot] = places.valueStart
  reader.ends[slot] = places.valueEnd
}

/** What begins with `<` and is no tag: comment, declaration, bogus comment, or text. */
function skipOther(reader: TagReader, open: number, code: number): number {
  const { html } = reader
  if (code === BANG) {
    const end = skipDeclaration(html, open, reader.cdata)
    if (end > 0 && reader.cdata && html.startsWith('<![CDATA[', open)) reader.onText?.(open + 9, end - 3)
    return end
  }
  if (code === QUESTION || code === SLASH) {
    const end = html.indexOf('>', open + 2)
    return end < 0 ? ENDED : end + 1
  }
  reader.onText?.(open, open + 1)
  return open + 1
}

function isNameCode(code: number): boolean {
  return code <= GREATER && code !== GREATER && code !== SLASH && !isHtmlSpace(code)
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
