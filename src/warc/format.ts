/** From an exchange to the records of a WARC file. */

import { randomUUID } from 'node:crypto'
import type { WarcExchange } from './contract.ts'
import { sha1Digest } from './digest.ts'
import { clean, formatRequest, formatResponseHead } from './http-message.ts'

export interface NewWarcRecord {
  readonly type: string
  readonly id: string
  /** Header and block and the two line ends that close a record. */
  readonly bytes: Uint8Array
}

interface RecordDraft {
  readonly type: string
  readonly dateMs: number
  readonly contentType: string
  readonly block: Uint8Array
  /** In the order in which they are written. */
  readonly fields: Readonly<Record<string, string | undefined>>
}

const REVISIT = 'http://netpreserve.org/warc/1.1/revisit/'

function formatWarcDate(ms: number): string {
  return new Date(ms).toISOString()
}

function formatRecord({ type, dateMs, contentType, block, fields }: RecordDraft): NewWarcRecord {
  const id = `<urn:uuid:${randomUUID()}>`
  const all: Readonly<Record<string, string | undefined>> = {
    'WARC-Type': type,
    'WARC-Record-ID': id,
    'WARC-Date': formatWarcDate(dateMs),
    ...fields,
    'WARC-Block-Digest': sha1Digest(block),
    'Content-Type': contentType,
    'Content-Length': String(block.length),
  }
  const lines = ['WARC/1.1']
  for (const [name, value] of Object.entries(all)) if (value !== undefined) lines.push(`${name}: ${clean(value)}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8')
  return { type, id, bytes: Buffer.concat([head, block, Buffer.from('\r\n\r\n')]) }
}

export function formatWarcinfo(options: {
  readonly dateMs: number
  readonly filename: string
  readonly fields: Readonly<Record<string, string>>
}): NewWarcRecord {
  const lines = Object.entries(options.fields).map(([name, value]) => `${clean(name)}: ${clean(value)}\r\n`)
  return formatRecord({
    type: 'warcinfo',
    dateMs: options.dateMs,
    contentType: 'application/warc-fields',
    block: Buffer.from(lines.join('')),
    fields: { 'WARC-Filename': options.filename },
  })
}

/** A record that holds the same payload. */
export interface EarlierCapture {
  readonly url: string
  readonly dateMs: number
}

export interface FormatOptions {
  /** WARC-Record-ID of the file's warcinfo. */
  readonly warcinfoId: string
  readonly payloadDigest: string
  /** Then a revisit record is made, without the payload. */
  readonly earlier?: EarlierCapture
}

/**
 * The answer first, then metadata, last the request: a group whose request is there is whole.
 */
export function formatExchange(exchange: WarcExchange, options: FormatOptions): readonly NewWarcRecord[] {
  const answer = formatAnswer(exchange, options)
  const common = {
    'WARC-Target-URI': targetUri(exchange.url),
    'WARC-Concurrent-To': answer.id,
    'WARC-Warcinfo-ID': options.warcinfoId,
  }
  const { dateMs, metadata } = exchange
  const records = [answer]
  if (metadata !== undefined) {
    const lines = Object.entries(metadata).map(([name, value]) => `${clean(name)}: ${clean(value)}\r\n`)
    const block = Buffer.from(lines.join(''))
    records.push(
      formatRecord({ type: 'metadata', dateMs, contentType: 'application/warc-fields', block, fields: common }),
    )
  }
  const block = formatRequest(exchange)
  const contentType = 'application/http;msgtype=request'
  records.push(formatRecord({ type: 'request', dateMs, contentType, block, fields: common }))
  return records
}

function formatAnswer(exchange: WarcExchange, { warcinfoId, payloadDigest, earlier }: FormatOptions): NewWarcRecord {
  const { url, dateMs, status, body, truncated, ip } = exchange
  const notModified = status === 304
  const isRevisit = notModified || earlier !== undefined
  const head = formatResponseHead(exchange)
  return formatRecord({
    type: isRevisit ? 'revisit' : 'response',
    dateMs,
    contentType: 'application/http;msgtype=response',
    block: isRevisit ? head : Buffer.concat([head, body]),
    fields: {
      'WARC-Target-URI': targetUri(url),
      'WARC-Warcinfo-ID': warcinfoId,
      'WARC-IP-Address': ip,
      'WARC-Profile': isRevisit
        ? REVISIT + (notModified ? 'server-not-modified' : 'identical-payload-digest')
        : undefined,
      'WARC-Refers-To-Target-URI': refersTo(exchange, earlier),
      'WARC-Refers-To-Date': earlier === undefined ? undefined : formatWarcDate(earlier.dateMs),
      'WARC-Payload-Digest': notModified ? undefined : payloadDigest,
      'WARC-Truncated': truncated,
    },
  })
}

function refersTo({ url, status }: WarcExchange, earlier: EarlierCapture | undefined): string | undefined {
  if (earlier !== undefined) return targetUri(earlier.url)
  return status === 304 ? targetUri(url) : undefined
}

/** Serialised URLs hold no blanks; a foreign one must not break the line. */
function targetUri(url: string): string {
  return url.replace(/#.*$/s, '').replace(/\s/g, (blank) => encodeURIComponent(blank))
}
