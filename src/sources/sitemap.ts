/** Reads a sitemap, an index, a feed or a list of URLs as a stream, packed or not, as far as it can be read. */

import { setImmediate } from 'node:timers/promises'
import { TextDecoder, getBOMEncoding, normalizeEncoding } from '@exodus/bytes/encoding.js'
import { type Bytes, gunzip, isGzip, peekBytes } from '../util/byte-stream.ts'
import { type Line, createLineSplitter } from '../util/lines.ts'
import type { SitemapAlternate, SitemapEntry } from './contract.ts'
import { parseSitemapDate } from './sitemap-dates.ts'
import { type SitemapRecord, createSitemapXmlReader } from './sitemap-xml.ts'

export interface SitemapLimits {
  /** Of one file, unpacked. Default 50 MB (52,428,800), as the standard has it. What is beyond is not read. */
  readonly maxBytes: number
  /** Of one file. Default 50,000, as the standard has it. */
  readonly maxUrls: number
  /** Default 8192. */
  readonly maxUrlBytes: number
}

export const SITEMAP_LIMITS: SitemapLimits = { maxBytes: 50 * 1024 * 1024, maxUrls: 50_000, maxUrlBytes: 8192 }

export type SitemapFind =
  | { readonly kind: 'page'; readonly entry: SitemapEntry }
  /** An index lists another sitemap. */
  | { readonly kind: 'sitemap'; readonly url: string; readonly lastmod?: string }
  /** One line for people: what was expected, what was found. At most a few a file. */
  | { readonly kind: 'problem'; readonly problem: string }

export interface ParseSitemapOptions {
  /** Where it was found, for addresses that are not absolute. */
  readonly url?: string
  readonly limits?: Partial<SitemapLimits>
}

const HEAD_BYTES = 1024
const MAX_PACKINGS = 5
const SLICE_BYTES = 64 * 1024
/** Others get their turn this often. */
const SLICES_A_TURN = 2

/**
 * Told by its content, whatever its name or type says: gzip (also packed several times), XML by its first element, or
 * text with one URL a line. Never rejects for what the bytes hold: what is wrong is a find of its own.
 */
export async function* parseSitemap(
  source: Uint8Array | Bytes,
  options: ParseSitemapOptions = {},
): AsyncGenerator<SitemapFind> {
  const limits = { ...SITEMAP_LIMITS, ...options.limits }
  const tally = createTally(limits, options.url)
  try {
    const unpacked = await unpack(source instanceof Uint8Array ? slices(source) : source)
    const { head, bytes } = await peekBytes(limitBytes(unpacked, limits.maxBytes, tally.note), HEAD_BYTES)
    const text = decode(head, bytes)
    yield* isXml(head) ? readXml(text, tally) : readList(text, tally)
  } catch (error) {
    if (!isZlibError(error)) throw error
    tally.note('its packed data is damaged or ends too early')
  }
  yield* tally.problems()
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0, count = 1; at < bytes.length; at += SLICE_BYTES, count += 1) {
    yield bytes.subarray(at, at + SLICE_BYTES)
    if (count % SLICES_A_TURN === 0) await setImmediate()
  }
}

async function unpack(source: Bytes): Promise<Bytes> {
  let { head, bytes } = await peekBytes(source, 4)
  for (let packings = 0; isGzip(head) && packings < MAX_PACKINGS; packings += 1) {
    ;({ head, bytes } = await peekBytes(gunzip(bytes), 4))
  }
  return bytes
}

async function* limitBytes(bytes: Bytes, maxBytes: number, note: Tally['note']): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length > maxBytes) {
      yield chunk.subarray(0, chunk.length - (length - maxBytes))
      note(`it is longer than ${String(maxBytes)} bytes: the rest is not read`)
      return
    }
    yield chunk
  }
}

function isZlibError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('Z_')
}

function isXml(head: Uint8Array): boolean {
  return new TextDecoder(encodingOf(head)).decode(head).trimStart().startsWith('<')
}

/** A byte order mark, then the XML declaration, then UTF-8. */
function encodingOf(head: Uint8Array): string {
  const marked = getBOMEncoding(head)
  if (marked !== null) return marked
  const start = Buffer.from(head).toString('latin1')
  const label = /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1]
  const named = label === undefined ? null : normalizeEncoding(label)
  // it could be read so far: it is not two bytes a character
  return named === null || named.startsWith('utf-16') || named === 'replacement' ? 'utf-8' : named
}

async function* decode(head: Uint8Array, bytes: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder(encodingOf(head))
  let isFirst = true
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true })
    // nothing may stand before an XML declaration
    const content = isFirst ? text.trimStart() : text
    if (content !== '') isFirst = false
    yield content
  }
  yield decoder.decode()
}

async function* readXml(text: AsyncIterable<string>, tally: Tally): AsyncGenerator<SitemapFind> {
  const reader = createSitemapXmlReader()
  for await (const piece of text) {
    yield* tally.take(reader.write(piece))
    if (reader.problem !== undefined || tally.isFull()) break
  }
  yield* tally.take(reader.end())
  if (reader.problem !== undefined) tally.note(reader.problem)
}

async function* readList(text: AsyncIterable<string>, tally: Tally): AsyncGenerator<SitemapFind> {
  const lines = createLineSplitter(tally.maxUrlBytes + 1)
  for await (const piece of text) {
    yield* tally.take(recordsOf(lines.push(piece)))
    if (tally.isFull()) return
  }
  yield* tally.take(recordsOf(lines.end()))
}

function recordsOf(lines: readonly Line[]): SitemapRecord[] {
  const filled = lines.filter(({ text }) => text.trim() !== '')
  return filled.map(({ text }) => ({ kind: 'page', loc: text, lastmod: '', priority: '', alternates: [] }))
}

/** Turns records into finds, and counts what must be bounded. */
interface Tally {
  readonly maxUrlBytes: number
  take(records: readonly SitemapRecord[]): Generator<SitemapFind>
  isFull(): boolean
  note(problem: string): void
  problems(): Generator<SitemapFind>
}

function createTally({ maxUrls, maxUrlBytes }: SitemapLimits, base: string | undefined): Tally {
  const notes = new Set<string>()
  let urls = 0
  let refused = 0
  let firstRefused = ''
  const refuse = (loc: string): void => {
    refused += 1
    if (refused === 1) firstRefused = JSON.stringify(loc.trim().slice(0, 100))
  }
  const take = function* (records: readonly SitemapRecord[]): Generator<SitemapFind> {
    for (const record of records) {
      if (urls >= maxUrls) {
        notes.add(`it lists more than ${String(maxUrls)} URLs: the rest is not read`)
        return
      }
      const url = addressOf(record.loc, { base, maxUrlBytes })
      if (url === undefined) {
        refuse(record.loc)
        continue
      }
      urls += 1
      yield findOf(record, url, (href) => addressOf(href, { base, maxUrlBytes }))
    }
  }
  return {
    maxUrlBytes,
    take,
    // those refused count too: a file of nothing else must end
    isFull: () => urls >= maxUrls || refused >= maxUrls,
    note: (problem) => {
      notes.add(problem)
    },
    *problems() {
      if (refused > 0) notes.add(`${String(refused)} of its entries are no URL, the first: ${firstRefused}`)
      for (const problem of notes) yield { kind: 'problem', problem }
    },
  }
}

function findOf(record: SitemapRecord, url: string, resolve: (href: string) => string | undefined): SitemapFind {
  const lastmod = parseSitemapDate(record.lastmod)
  const dated = lastmod === undefined ? {} : { lastmod }
  if (record.kind === 'sitemap') return { kind: 'sitemap', url, ...dated }
  const priority = parsePriority(record.priority)
  const alternates = record.alternates.flatMap(({ language, href }): SitemapAlternate[] => {
    const alternate = resolve(href)
    return alternate === undefined ? [] : [{ language, url: alternate }]
  })
  const entry = {
    url,
    ...dated,
    ...(priority === undefined ? {} : { priority }),
    ...(alternates.length === 0 ? {} : { alternates }),
  }
  return { kind: 'page', entry }
}

function parsePriority(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^\d*\.?\d+$|^\d+\.$/.test(trimmed) || trimmed.length > 20) return undefined
  const priority = Number(trimmed)
  return priority <= 1 ? priority : undefined
}

/** Absolute, or beginning with a slash or a dot and resolved; undefined for what is no page's address. */
function addressOf(
  loc: string,
  { base, maxUrlBytes }: { base: string | undefined; maxUrlBytes: number },
): string | undefined {
  const text = loc.trim()
  const from = /^[/.?]/.test(text) ? base : undefined
  if (text.length > maxUrlBytes || !URL.canParse(text, from)) return undefined
  const url = new URL(text, from)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  url.hash = ''
  return url.href.length > maxUrlBytes ? undefined : url.href
}
