/** From bytes to text: which encoding a page is in, and its decoding by the tables of the Encoding standard. */

import { isAscii, isUtf8 } from 'node:buffer'
import { TextDecoder as WhatwgDecoder, getBOMEncoding } from '@exodus/bytes/encoding.js'
import sniffHtmlEncoding from 'html-encoding-sniffer'
import { nextTurn } from '../util/next-turn.ts'
import { guessCharset } from './charset-guess.ts'
import { lateMetaCharset, xmlCharset } from './charset-marks.ts'
import { headerCharset, isXmlEssence, parseType } from './mime-type.ts'

export interface DetectedCharset {
  /** Name of the Encoding standard, lower case. */
  readonly charset: string
  /** Where it was found. `meta` stands for the XML declaration too. */
  readonly source: 'bom' | 'header' | 'meta' | 'detected' | 'default'
}

export interface DecodedPage extends DetectedCharset {
  readonly text: string
}

const DEFAULT_CHARSET = 'windows-1252'
/** No encoding has this name: told apart from everything the sniffer can find. */
const NOTHING = 'nothing'

/**
 * Encoding of a body: byte order mark, then the header, then what the document says of itself, then its bytes (valid UTF-8,
 * else a guess that has to be a good one), then windows-1252.
 */
export function detectCharset(bytes: Uint8Array, contentType: string | undefined): DetectedCharset {
  const mark = getBOMEncoding(bytes)
  if (mark !== null) return { charset: mark, source: 'bom' }
  const header = headerCharset(contentType)
  if (header !== undefined) return { charset: header, source: 'header' }
  const declared = declaredCharset(bytes, parseType(contentType)?.essence)
  if (declared !== undefined) return { charset: declared, source: 'meta' }
  return undeclaredCharset(bytes, parseType(contentType)?.essence)
}

function declaredCharset(bytes: Uint8Array, essence: string | undefined): string | undefined {
  if (essence === undefined || essence === 'text/html') return htmlCharset(bytes)
  if (!isXmlEssence(essence)) return undefined
  const declared = xmlCharset(bytes)
  if (declared !== undefined || isUtf8(bytes)) return declared
  return htmlCharset(bytes)
}

/** The prescan of the standard, over 1,024 bytes; then a `meta` anywhere, as a browser's parser finds it. */
function htmlCharset(bytes: Uint8Array): string | undefined {
  const found = sniffHtmlEncoding(bytes, { defaultEncoding: NOTHING })
  if (found !== NOTHING) return found.toLowerCase()
  return lateMetaCharset(bytes) ?? xmlCharset(bytes)
}

function undeclaredCharset(bytes: Uint8Array, essence: string | undefined): DetectedCharset {
  if (essence !== undefined && (isXmlEssence(essence) || isJson(essence)))
    return { charset: 'utf-8', source: 'default' }
  if (isAscii(bytes) && !bytes.includes(0x1b)) return { charset: DEFAULT_CHARSET, source: 'default' }
  if (isUtf8(bytes) && !isAscii(bytes)) return { charset: 'utf-8', source: 'detected' }
  const guess = guessCharset(bytes)
  return guess === undefined ? { charset: DEFAULT_CHARSET, source: 'default' } : { charset: guess, source: 'detected' }
}

function isJson(essence: string): boolean {
  return essence === 'application/json' || essence.endsWith('+json')
}

/**
 * Decodes by an encoding's name or label; a byte order mark is no part of the text, bad bytes become U+FFFD. An encoding
 * that does not exist is read as windows-1252.
 */
export function decodeText(bytes: Uint8Array, charset: string): string {
  const name = charset.toLowerCase()
  if (isAsciiSuperset(name) && isAscii(bytes)) return asBuffer(bytes).toString('latin1')
  if (name === 'utf-8' || name === 'utf8') return decodeUtf8(bytes)
  return decoderFor(name).decode(bytes)
}

export function decodePage(bytes: Uint8Array, contentType: string | undefined): DecodedPage {
  const detected = detectCharset(bytes, contentType)
  const { charset, source } = detected
  return { charset, source, text: decodeText(bytes, charset) }
}

/** Bytes decoded in one turn: some 10 ms by the slowest table. */
const BYTES_A_TURN = 1 << 20

/** The same for a body of many megabytes: others get their turn in between. */
export async function decodePageInTurns(bytes: Uint8Array, contentType: string | undefined): Promise<DecodedPage> {
  const { charset, source } = detectCharset(bytes, contentType)
  const name = charset.toLowerCase()
  if (isAsciiSuperset(name) && isAscii(bytes)) return { charset, source, text: decodeText(bytes, name) }
  const decoder = decoderFor(name)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += BYTES_A_TURN) {
    parts.push(decoder.decode(bytes.subarray(at, at + BYTES_A_TURN), { stream: true }))
    // oxlint-disable-next-line no-await-in-loop -- turns come one after the other
    await nextTurn()
  }
  parts.push(decoder.decode())
  return { charset, source, text: parts.join('') }
}

/** ASCII bytes mean ASCII text in all of them; these are most pages. */
function isAsciiSuperset(name: string): boolean {
  return name === 'utf-8' || name.startsWith('windows-') || name === 'gbk' || name === 'gb18030' || name === 'euc-kr'
}

function decodeUtf8(bytes: Uint8Array): string {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return asBuffer(bytes).toString('utf8', start)
}

function decoderFor(name: string): InstanceType<typeof WhatwgDecoder> {
  // an encoding that browsers refuse to decode (`replacement`): its ASCII, and so its links, can still be read
  try {
    return new WhatwgDecoder(name)
  } catch {
    return new WhatwgDecoder(DEFAULT_CHARSET)
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
