/** What an XML sitemap, an index or a feed lists, read as far as it goes; elements are told by their local names. Pure. */

import type * as Saxes from 'saxes'
import type { SaxesParser, SaxesTagPlain } from 'saxes'
import { loadLate } from '../util/load-late.ts'

const saxes = loadLate<typeof Saxes>('saxes')

/** One element that stands for a page or for another sitemap, as it was written. */
export interface SitemapRecord {
  readonly kind: 'page' | 'sitemap'
  readonly loc: string
  readonly lastmod: string
  readonly priority: string
  readonly alternates: readonly { readonly language: string; readonly href: string }[]
}

export interface SitemapXmlReader {
  /** Records that this piece of text ends. */
  write(text: string): SitemapRecord[]
  /** What was begun and can be used. */
  end(): SitemapRecord[]
  /** Why there is nothing more to be had from it: no sitemap, nested without end, garbage. */
  readonly problem: string | undefined
}

const MAX_ALTERNATES = 200
/** Of one value; the rest is dropped, so that it is no URL any more. */
const MAX_VALUE_CHARS = 16 * 1024
const MAX_NESTING = 200
const MAX_DOCTYPE_CHARS = 64 * 1024
const MAX_ENTITIES = 100
/** Errors of syntax that are put up with: some in each address of a long sitemap, not garbage without end. */
const MAX_ERRORS = 1_000_000
/** Of one tag, comment, section: what the parser holds in memory until it is whole. */
const MAX_TOKEN_CHARS = 1024 * 1024

type Family = 'sitemap' | 'rss' | 'atom'

const FAMILIES: Readonly<Record<string, Family>> = {
  urlset: 'sitemap',
  sitemapindex: 'sitemap',
  rss: 'rss',
  rdf: 'rss',
  feed: 'atom',
}
const RECORDS: Readonly<Record<Family, Readonly<Record<string, SitemapRecord['kind']>>>> = {
  sitemap: { url: 'page', sitemap: 'sitemap' },
  rss: { item: 'page' },
  atom: { entry: 'page' },
}
type Field = 'loc' | 'guid' | 'lastmod' | 'priority'
const FIELDS: Readonly<Record<Family, Readonly<Record<string, Field>>>> = {
  sitemap: { loc: 'loc', lastmod: 'lastmod', priority: 'priority' },
  rss: { link: 'loc', guid: 'guid', pubdate: 'lastmod', date: 'lastmod' },
  atom: { updated: 'lastmod', modified: 'lastmod' },
}

interface OpenRecord {
  readonly kind: SitemapRecord['kind']
  readonly prefix: string
  /** Of the element in the tree. */
  readonly level: number
  readonly values: Record<Field, string>
  readonly alternates: { language: string; href: string }[]
}

interface ReaderState {
  family: Family | undefined
  rootPrefix: string
  /** What a record is that lost its own element to broken markup. */
  rootKind: SitemapRecord['kind']
  level: number
  record: OpenRecord | undefined
  /** The field that text belongs to now; its text is kept apart until it is whole. */
  field: { readonly name: Field; readonly level: number; text: string } | undefined
  /** Declared by the document itself: never read, never expanded. */
  entities: readonly string[]
  errors: number
  /** Since the parser told of something. */
  tokenChars: number
  problem: string | undefined
  found: SitemapRecord[]
}

export function createSitemapXmlReader(): SitemapXmlReader {
  const state: ReaderState = {
    family: undefined,
    rootPrefix: '',
    rootKind: 'page',
    level: 0,
    record: undefined,
    field: undefined,
    entities: [],
    errors: 0,
    tokenChars: 0,
    problem: undefined,
    found: [],
  }
  const parser = createParser(state)
  const guard = createAmpersandGuard()
  const take = (): SitemapRecord[] => {
    const { found } = state
    state.found = []
    return found
  }
  return {
    write: (text) => {
      if (state.problem === undefined) parser.write(guard(text))
      state.tokenChars += text.length
      if (state.tokenChars > MAX_TOKEN_CHARS) state.problem ??= 'one of its parts is longer than any sitemap needs'
      return take()
    },
    end: () => {
      state.field = undefined
      endRecord(state)
      if (state.family === undefined) state.problem ??= 'it is no sitemap: it holds no element'
      return take()
    },
    get problem() {
      return state.problem
    },
  }
}

/** Stands for an ampersand that begins no reference: of the private use area, so that it means nothing by itself. */
const STRAY = '\uE0FF'
const STRAY_AMPERSAND = /&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][\w.:-]{0,40});)/gi
const UNFINISHED_REFERENCE = /^&[#\w.:-]{0,42}$/

/**
 * Addresses with a bare `&` are the commonest fault of sitemaps, and the parser would take all up to the next semicolon
 * for the name of an entity. A reference may be cut between two pieces: its beginning is held back.
 */
function createAmpersandGuard(): (text: string) => string {
  let held = ''
  return (text) => {
    const whole = held + text
    const last = whole.lastIndexOf('&')
    const isCut = last !== -1 && whole.length - last < 44 && UNFINISHED_REFERENCE.test(whole.slice(last))
    held = isCut ? whole.slice(last) : ''
    return (isCut ? whole.slice(0, last) : whole).replace(STRAY_AMPERSAND, STRAY)
  }
}

function withAmpersands(text: string): string {
  return text.includes(STRAY) ? text.replaceAll(STRAY, '&') : text
}

function createParser(state: ReaderState): SaxesParser {
  const parser = new (saxes().SaxesParser)({ xmlns: false, position: false })
  const addText = (text: string): void => {
    state.tokenChars = 0
    if (state.field !== undefined)
      state.field.text = `${state.field.text}${withAmpersands(text)}`.slice(0, MAX_VALUE_CHARS)
  }
  const passOver = (): void => {
    state.tokenChars = 0
  }
  parser.on('opentag', (tag) => {
    state.tokenChars = 0
    if (state.problem === undefined) openTag(state, tag)
  })
  parser.on('closetag', () => {
    state.tokenChars = 0
    if (state.problem === undefined) closeTag(state)
  })
  parser.on('doctype', (text) => {
    state.entities = entitiesOf(text)
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('comment', passOver)
  parser.on('processinginstruction', passOver)
  // instead of a handler of errors: making one, with its stack, costs 15 microseconds, and garbage is full of them
  parser.fail = () => {
    state.errors += 1
    if (state.errors > MAX_ERRORS) state.problem ??= 'it is no XML'
    return parser
  }
  return parser
}

function openTag(state: ReaderState, tag: SaxesTagPlain): void {
  state.level += 1
  const { prefix, local } = splitName(tag.name)
  if (state.level > MAX_NESTING) state.problem = `its elements are nested deeper than ${String(MAX_NESTING)}`
  else if (state.family === undefined) openRoot(state, prefix, local)
  else if (!openRecord(state, state.family, { prefix, local })) openField(state, state.family, tag)
}

function openRoot(state: ReaderState, prefix: string, local: string): void {
  const family = Object.hasOwn(FAMILIES, local) ? FAMILIES[local] : undefined
  if (family === undefined) state.problem = `it is no sitemap: its first element is ${local.slice(0, 50)}`
  state.family = family
  state.rootPrefix = prefix
  state.rootKind = local === 'sitemapindex' ? 'sitemap' : 'page'
}

/** A new record ends one that was left open. */
function openRecord(state: ReaderState, family: Family, { prefix, local }: ElementName): boolean {
  const kinds = RECORDS[family]
  const kind = Object.hasOwn(kinds, local) ? kinds[local] : undefined
  if (kind === undefined || (family === 'sitemap' && prefix !== state.rootPrefix)) return false
  endRecord(state)
  state.field = undefined
  state.record = beginRecord({ kind, prefix, level: state.level })
  return true
}

function beginRecord(at: Pick<OpenRecord, 'kind' | 'prefix' | 'level'>): OpenRecord {
  return { ...at, values: { loc: '', guid: '', lastmod: '', priority: '' }, alternates: [] }
}

function openField(state: ReaderState, family: Family, tag: SaxesTagPlain): void {
  const element = splitName(tag.name)
  const record = state.record ?? strayRecord(state, family, element)
  if (record === undefined || state.level !== record.level + 1) return
  if (element.local === 'link' && family !== 'rss') openLink(record, family, tag.attributes)
  const name = fieldOf(family, element, record.prefix)
  if (name === undefined) return
  if (name === 'loc' && record.values.loc.trim() !== '') {
    if (family === 'rss') return
    // several addresses in one record: each is one
    endRecord(state)
    state.record = beginRecord(record)
  }
  state.field = { name, level: state.level, text: '' }
}

/** A stray end tag closes everything: an address that has lost its record begins one. */
function strayRecord(state: ReaderState, family: Family, { prefix, local }: ElementName): OpenRecord | undefined {
  if (family !== 'sitemap' || local !== 'loc' || prefix !== state.rootPrefix) return undefined
  state.record = beginRecord({ kind: state.rootKind, prefix, level: state.level - 1 })
  return state.record
}

/** `image:loc` is no page; `dc:date` is a date. */
function fieldOf(family: Family, { prefix, local }: ElementName, recordPrefix: string): Field | undefined {
  const fields = FIELDS[family]
  const name = Object.hasOwn(fields, local) ? fields[local] : undefined
  return prefix === recordPrefix || name === 'lastmod' ? name : undefined
}

/** Atom's address is an attribute; in a sitemap a link names the page in another language. */
function openLink(record: OpenRecord, family: Family, attributes: Readonly<Record<string, string>>): void {
  const rel = (attributes['rel'] ?? 'alternate').toLowerCase()
  const href = withAmpersands(attributes['href'] ?? '')
  if (rel !== 'alternate' || href === '' || href.length > MAX_VALUE_CHARS) return
  if (family === 'atom') {
    if (record.values.loc === '') record.values.loc = href
  } else if (record.alternates.length < MAX_ALTERNATES) {
    record.alternates.push({ language: (attributes['hreflang'] ?? '').slice(0, 50), href })
  }
}

function closeTag(state: ReaderState): void {
  const { field, record } = state
  if (field !== undefined && field.level === state.level) {
    if (record !== undefined && record.values[field.name] === '') record.values[field.name] = field.text
    state.field = undefined
  }
  if (record !== undefined && record.level === state.level) endRecord(state)
  state.level -= 1
}

function endRecord(state: ReaderState): void {
  const { record, entities } = state
  state.record = undefined
  if (record === undefined) return
  const { loc, guid, lastmod, priority } = record.values
  // a feed's id that is an address stands in for a link
  const address = loc.trim() !== '' || !/^\s*https?:\/\//i.test(guid) ? loc : guid
  if (address.trim() === '' || entities.some((name) => address.includes(name))) return
  state.found.push({ kind: record.kind, loc: address, lastmod, priority, alternates: record.alternates })
}

function entitiesOf(doctype: string): readonly string[] {
  const declared = [...doctype.slice(0, MAX_DOCTYPE_CHARS).matchAll(/<!ENTITY\s+([\w.:-]+)/g)]
  return declared.slice(0, MAX_ENTITIES).map(([, name = '']) => `&${name};`)
}

interface ElementName {
  readonly prefix: string
  /** Lower case. */
  readonly local: string
}

function splitName(name: string): ElementName {
  const colon = name.indexOf(':')
  return { prefix: colon === -1 ? '' : name.slice(0, colon), local: name.slice(colon + 1).toLowerCase() }
}
