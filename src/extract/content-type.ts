/** What kind of thing an answer is: its Content-Type, checked against its bytes by the WHATWG MIME Sniffing standard. */

import { computedMIMEType } from 'whatwg-mimetype'
import { isXmlEssence, parseType } from './mime-type.ts'

export interface SniffedType {
  /** Lower case, as in `text/html`. */
  readonly essence: string
  /** To be read as a page: HTML or XHTML, and its bytes do not say otherwise. */
  readonly isHtml: boolean
  readonly isXml: boolean
  readonly isText: boolean
}

/** Bytes that are looked at: the resource header of the standard. */
const HEADER_BYTES = 1445
/** Of 512 bytes so many may be controls in something that is still a page. */
const MAX_CONTROL_SHARE = 0.05

/**
 * Tells the type of a body. `noSniff` is the header `X-Content-Type-Options: nosniff`. Binary data that is served as HTML is
 * no page; a body without a usable type is looked at; XML whose root is an XHTML document is a page.
 */
export function sniffType(bytes: Uint8Array, contentTypeHeader: string | undefined, noSniff = false): SniffedType {
  const head = bytes.subarray(0, HEADER_BYTES)
  const essence = computedEssence(head, contentTypeHeader, noSniff)
  const isXml = isXmlEssence(essence)
  const isHtml =
    essence === 'text/html' || isXhtmlEssence(essence)
      ? !isBinary(head, contentTypeHeader)
      : isXml && hasXhtmlRoot(head)
  return { essence, isHtml, isXml, isText: isHtml || isXml || TEXT_ESSENCE.test(essence) }
}

const UNKNOWN_TYPES: ReadonlySet<string> = new Set(['unknown/unknown', 'application/unknown', '*/*'])

function computedEssence(head: Uint8Array, header: string | undefined, noSniff: boolean): string {
  // the types of nearly all answers, which the bytes have no say in
  const supplied = parseType(header)?.essence
  if (supplied === 'text/html') return supplied
  const isUnknown = supplied === undefined || UNKNOWN_TYPES.has(supplied)
  const { essence } = computedMIMEType(head, {
    noSniff,
    ...(isUnknown || header === undefined ? {} : { contentTypeHeader: header }),
    ...(isUnknown ? { contentTypeHeader: '*/*' } : {}),
  })
  return isUnknown && !noSniff && essence === 'text/plain' && HTML_START.test(startOfText(head)) ? 'text/html' : essence
}

/** What pages begin with besides the tags that the standard lists; a byte order mark may stand before. */
const HTML_START =
  /^<(?:!--|(?:!doctype html|html|head|script|iframe|div|table|a|style|title|body|p|meta|link|base|center|ul|ol|frameset|main|section|article|header|nav|span|img|h[1-6]|noscript)(?=[ >\t\n\f\r/]))/i

/** Beginning of the text without byte order mark and leading white space, one character a byte. */
function startOfText(head: Uint8Array): string {
  const text = Buffer.from(head).toString('latin1')
  const isUtf16 = text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff')
  return (isUtf16 ? text.slice(2).replaceAll('\0', '') : text.replace(/^\xef\xbb\xbf/, '')).replace(/^[\t\n\f\r ]+/, '')
}

/** Served as HTML, yet an image, an archive or other data. */
function isBinary(head: Uint8Array, header: string | undefined): boolean {
  if (beginsWithTag(head)) return false
  const text = startOfText(head)
  if (text.startsWith('<') || /charset\s*=\s*"?(?:utf-?16|ucs-2|unicode)/i.test(header ?? '')) return false
  const start = head.subarray(0, 512)
  const controls = start.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0)
  if (controls === 0) return text.startsWith('%PDF-')
  const looks = computedMIMEType(head).essence
  return start.includes(0) || controls > start.length * MAX_CONTROL_SHARE || !/^text\/|octet-stream$/.test(looks)
}

/** What nearly all pages begin with, told without making text of them. */
function beginsWithTag(head: Uint8Array): boolean {
  for (const byte of head) {
    if (byte === 0x3c) return true
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09 && byte !== 0x0c) return false
  }
  return false
}

function isControl(byte: number): boolean {
  return byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f)
}

function isXhtmlEssence(essence: string): boolean {
  return essence === 'application/xhtml+xml' || essence === 'application/vnd.wap.xhtml+xml'
}

function hasXhtmlRoot(head: Uint8Array): boolean {
  const text = startOfText(head).replace(/<!--[^]*?-->|<\?[^]*?\?>|<![^>]*>/g, '')
  return /^\s*<html(?=[\s>])/.test(text)
}

const TEXT_ESSENCE = /^text\/|[/+]json$|^application\/(?:(?:x-)?javascript|ecmascript|x-ndjson|yaml|x-yaml|toml|sql)$/
