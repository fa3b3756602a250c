/** From a WARC into the cache, so that an archive can be crawled offline; and from the cache into a WARC. */

import type { CacheFilter, CacheStore, NewCacheEntry } from '../../cache/contract.ts'
import { cacheKeyOf } from '../../cache/key.ts'
import { isStorableStatus } from '../../cache/policy.ts'
import type { WarcRecord, WarcWriter } from '../../warc/contract.ts'
import { type HttpResponseMessage, parseResponse } from '../../warc/http-message.ts'
import { nameEntry, tellEntry } from './entry-field.ts'
import { readWarc } from './reader.ts'

export interface ImportOptions {
  /** What entries are named by; the same as the crawl's. Default: the URL without its fragment. */
  readonly canonicalOf?: (url: string) => string
  /** A longer page is passed over. Default 64 MiB. */
  readonly maxBodyBytes?: number
  readonly onFault?: (problem: string, offset: number) => void
  /** Dates records that have none. */
  readonly nowMs: number
}

export interface ImportResult {
  readonly records: number
  readonly imported: number
  /** Why records with an answer were not taken: `older`, `status`, `truncated`, `method`, `url`, `no-http`, `unresolved`. */
  readonly passedOver: Readonly<Record<string, number>>
}

const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Room for the head, and for bodies that are packed badly. */
const MAX_HEAD_BYTES = 1024 * 1024

type PassedOver = 'method' | 'older' | 'status' | 'truncated' | 'url' | 'no-http' | 'unresolved'

/**
 * Takes every whole answer to http and https URLs that the cache would have kept: responses, resources, and revisits of
 * what is there. A later capture replaces an earlier one, whatever their order in the file. Rejects as source and store do.
 */
export async function importWarc(
  source: AsyncIterable<Uint8Array>,
  store: CacheStore,
  options: ImportOptions,
): Promise<ImportResult> {
  const { maxBodyBytes = MAX_BODY_BYTES, onFault } = options
  const passedOver: Partial<Record<PassedOver, number>> = {}
  let [records, imported] = [0, 0]
  const reading = { maxBlockBytes: maxBodyBytes + MAX_HEAD_BYTES, ...(onFault === undefined ? {} : { onFault }) }
  const counted = async function* (): AsyncGenerator<WarcRecord> {
    for await (const record of readWarc(source, reading)) {
      records += 1
      yield record
    }
  }
  for await (const { record, isPosted } of answersOf(counted())) {
    const outcome = isPosted ? 'method' : await takeRecord(record, store, options)
    if (outcome === 'imported') imported += 1
    else passedOver[outcome] = (passedOver[outcome] ?? 0) + 1
  }
  return { records, imported, passedOver }
}

interface Answer {
  readonly record: WarcRecord
  /** It answers a request whose answers are not kept. */
  readonly isPosted: boolean
}

/** Answers, each looked at together with the request before or behind it. */
async function* answersOf(records: AsyncIterable<WarcRecord>): AsyncGenerator<Answer> {
  let waiting: WarcRecord | undefined
  let asked: WarcRecord | undefined
  for await (const record of records) {
    const isAnswer = ANSWERS.has(record.type)
    if (waiting !== undefined) yield { record: waiting, isPosted: isAnswerTo(waiting, record) }
    waiting = undefined
    if (isAnswer && isAnswerTo(record, asked)) yield { record, isPosted: true }
    else if (isAnswer) waiting = record
    asked = record.type === 'request' ? record : undefined
  }
  if (waiting !== undefined) yield { record: waiting, isPosted: false }
}

const ANSWERS: ReadonlySet<string> = new Set(['response', 'resource', 'revisit'])

/** Is it the answer to this request, and is that one whose answers are not kept (POST)? */
function isAnswerTo(answer: WarcRecord, request: WarcRecord | undefined): boolean {
  if (request?.type !== 'request') return false
  const method = /^[A-Z]+/.exec(Buffer.from(request.block.subarray(0, 20)).toString('latin1'))?.[0]
  if (method === undefined || method === 'GET') return false
  const [mine, others] = [answer, request].map((record) => headerOf(record, 'warc-record-id'))
  const named = headerOf(request, 'warc-concurrent-to') ?? headerOf(answer, 'warc-concurrent-to')
  return named === undefined ? answer.targetUri === request.targetUri : named === mine || named === others
}

async function takeRecord(
  record: WarcRecord,
  store: CacheStore,
  options: ImportOptions,
): Promise<'imported' | PassedOver> {
  const url = webUrl(record.targetUri)
  if (url === undefined) return 'url'
  const isCut = record.partial || record.headers.some(([name]) => name === 'warc-truncated')
  if (isCut) return 'truncated'
  const message = await messageOf(record, store, options)
  if (typeof message === 'string') return message
  if (!isStorableStatus(message.status)) return 'status'
  const identity = options.canonicalOf?.(url) ?? url
  const named = nameEntry(identity, message.headers)
  const atMs = record.dateMs ?? options.nowMs
  const before = await store.head(named)
  if (before !== undefined && before.fetchedAtMs > atMs) return 'older'
  const entry: NewCacheEntry = {
    ...named,
    ...(identity === url ? {} : { wireUrl: url }),
    method: 'GET',
    status: message.status,
    fetchedAtMs: atMs,
    checkedAtMs: atMs,
    wireBytes: message.wireBytes,
  }
  await store.put(entry, message.body)
  return 'imported'
}

async function messageOf(
  record: WarcRecord,
  store: CacheStore,
  options: ImportOptions,
): Promise<HttpResponseMessage | 'no-http' | 'unresolved'> {
  const { block, type } = record
  if (type === 'resource') {
    return { status: 200, headers: resourceHeaders(record), body: block, wireBytes: block.length }
  }
  const message = parseResponse(block, options.maxBodyBytes ?? MAX_BODY_BYTES)
  if (type !== 'revisit') return message ?? 'no-http'
  return (await revisited({ record, message, store, options })) ?? 'unresolved'
}

/** The payload that a revisit stands for, when the cache has it. */
async function revisited(revisit: {
  readonly record: WarcRecord
  readonly message: HttpResponseMessage | undefined
  readonly store: CacheStore
  readonly options: ImportOptions
}): Promise<HttpResponseMessage | undefined> {
  const { record, message, store, options } = revisit
  const referred = webUrl(headerOf(record, 'warc-refers-to-target-uri') ?? record.targetUri)
  if (referred === undefined) return undefined
  const url = options.canonicalOf?.(referred) ?? referred
  const found = await store.get({ key: cacheKeyOf({ url }), url })
  if (found === undefined) return undefined
  const { entry, body } = found
  // What a 304 says of itself is not what it says of the page.
  const own = message === undefined || message.status === 304 ? entry : message
  return { status: own.status, headers: own.headers, body, wireBytes: entry.wireBytes }
}

function resourceHeaders(record: WarcRecord): HttpResponseMessage['headers'] {
  const type = headerOf(record, 'content-type')
  return type === undefined ? [] : [['content-type', type]]
}

function headerOf({ headers }: WarcRecord, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}

function webUrl(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  url.hash = ''
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined
}

export interface ExportOptions {
  readonly store: Pick<CacheStore, 'list' | 'get'>
  readonly writer: Pick<WarcWriter, 'write'>
  /** Default: all. */
  readonly filter?: CacheFilter
}

/** Writes every entry of the cache as an exchange of its day. Answers how many. */
export async function exportWarc({ store, writer, filter = {} }: ExportOptions): Promise<number> {
  let exported = 0
  let cursor: string | undefined
  do {
    const page = await store.list(filter, cursor === undefined ? {} : { cursor })
    for (const { key, url } of page.entries) {
      const found = await store.get({ key, url })
      if (found === undefined) continue
      const { entry, body } = found
      const { method, status, fetchedAtMs } = entry
      const wireUrl = entry.wireUrl ?? url
      const headers = tellEntry(entry)
      await writer.write({ url: wireUrl, dateMs: fetchedAtMs, method, requestHeaders: {}, status, headers, body })
      exported += 1
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return exported
}
