/** HTTP messages inside WARC records: written from an exchange, read from a block. */

import { STATUS_CODES } from 'node:http'
import * as zlib from 'node:zlib'
import type { HeaderList } from '../fetch/contract.ts'
import type { WarcExchange } from './contract.ts'

/** Fields about the form on the wire, which the kept body does not have any more. */
const CODINGS = new Set(['content-encoding', 'transfer-encoding', 'content-length'])
const KNOWN_CODINGS = /^\s*(?:(?:gzip|x-gzip|deflate|br|zstd|compress|identity)\s*(?:,|$)\s*)*$/i
const SECRETS = new Set(['authorization', 'proxy-authorization', 'cookie'])

/** Status line and fields of a response, up to and with the empty line; they fit the decoded body that follows. */
export function formatResponseHead({ status, headers, body }: WarcExchange): Uint8Array {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()]
  for (const [name, value] of headers)
    lines.push(`${isOutdated(name, value) ? `x-orig-${name}` : name}: ${clean(value)}`)
  if (body.length > 0 || headers.some(([name]) => name === 'content-length'))
    lines.push(`content-length: ${body.length}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** A coding that the fetcher does not know is still on the body. */
function isOutdated(name: string, value: string): boolean {
  return CODINGS.has(name) && (name !== 'content-encoding' || KNOWN_CODINGS.test(value))
}

export function formatRequest({ url, method, requestHeaders, requestBody }: WarcExchange): Uint8Array {
  const { host, pathname, search } = new URL(url)
  const lines = [`${clean(method)} ${pathname}${search} HTTP/1.1`, `host: ${host}`]
  for (const [name, value] of Object.entries(requestHeaders)) {
    if (name !== 'host' && !SECRETS.has(name)) lines.push(`${clean(name)}: ${clean(value)}`)
  }
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return requestBody === undefined ? head : Buffer.concat([head, Buffer.from(requestBody)])
}

/** No value may begin a line of its own. */
export function clean(value: string): string {
  return value.replace(/[\r\n\0]+/g, ' ')
}

export interface HttpResponseMessage {
  readonly status: number
  readonly headers: HeaderList
  /** Without transfer and content codings, as far as they can be undone. */
  readonly body: Uint8Array
  /** Length before that. */
  readonly wireBytes: number
}

const MAX_HEAD_BYTES = 512 * 1024

/** Undefined: the block is no HTTP response. `maxBytes` bounds the decoded body; what is longer stays as it is. */
export function parseResponse(block: Uint8Array, maxBytes: number): HttpResponseMessage | undefined {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
  const end = endOfHead(bytes)
  const lines = bytes.toString('latin1', 0, end.head).split(/\r?\n/)
  const status = /^HTTP\/\d(?:\.\d)?\s+(\d{3})(?:\s|$)/i.exec(lines[0] ?? '')?.[1]
  if (status === undefined) return undefined
  const headers = parseFields(lines.slice(1))
  const raw = bytes.subarray(end.body)
  const codings = tokensOf(headers, 'content-encoding')
  const whole = tokensOf(headers, 'transfer-encoding').includes('chunked') ? (dechunk(raw) ?? raw) : raw
  return { status: Number(status), headers, body: undoCodings(whole, codings, maxBytes), wireBytes: raw.length }
}

/** Where the fields end and where the body begins; a block without an empty line is all head. */
function endOfHead(bytes: Buffer): { readonly head: number; readonly body: number } {
  let at = 0
  while (at < bytes.length && at < MAX_HEAD_BYTES) {
    const line = bytes.indexOf(10, at)
    if (line === -1) break
    const isEmpty = line === at || (line === at + 1 && bytes[at] === 13)
    if (isEmpty && at > 0) return { head: at, body: line + 1 }
    at = line + 1
  }
  return { head: Math.min(bytes.length, MAX_HEAD_BYTES), body: bytes.length }
}

export function parseFields(lines: readonly string[]): HeaderList {
  const fields: [string, string][] = []
  for (const line of lines) {
    const last = fields.at(-1)
    if (/^[ \t]/.test(line) && last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim()
    const colon = line.indexOf(':')
    if (colon > 0 && !/^[ \t]/.test(line)) {
      fields.push([line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()])
    }
  }
  return fields
}

function tokensOf(headers: HeaderList, wanted: string): readonly string[] {
  return headers
    .filter(([name]) => name === wanted)
    .flatMap(([, value]) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '')
}

/** Undefined: it is not chunked, whatever the field says. A body that breaks off gives what came. */
function dechunk(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    const line = bytes.indexOf(10, at)
    if (line === -1 || line - at > 4096) break
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r?$/i.exec(bytes.toString('latin1', at, line))?.[1]
    if (size === undefined) break
    const length = Number.parseInt(size, 16)
    if (length === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(line + 1, line + 1 + length))
    at = line + 1 + length
    if (bytes[at] === 13) at += 1
    if (bytes[at] === 10) at += 1
  }
  return parts.length === 0 ? undefined : Buffer.concat(parts)
}

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number; finishFlush: number }) => Buffer

function undoCodings(body: Buffer, codings: readonly string[], maxBytes: number): Uint8Array {
  let bytes: Buffer = body
  for (const coding of codings.toReversed()) {
    const decode = decoderOf(coding, bytes)
    if (decode === undefined) continue
    try {
      const finishFlush = coding === 'br' ? zlib.constants.BROTLI_OPERATION_FLUSH : zlib.constants.Z_SYNC_FLUSH
      bytes = decode(bytes, { maxOutputLength: maxBytes, finishFlush })
    } catch {
      // the field says more than the bytes keep: many writers store the body decoded and the field unchanged
      return bytes
    }
  }
  return bytes
}

function decoderOf(coding: string, bytes: Uint8Array): Decoder | undefined {
  if (bytes.length === 0) return undefined
  if (coding === 'gzip' || coding === 'x-gzip') return zlib.gunzipSync
  if (coding === 'br') return zlib.brotliDecompressSync
  // servers send both forms under this name
  if (coding === 'deflate') return ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync : zlib.inflateRawSync
  return undefined
}
