/** What a document says of its own encoding beyond the first kilobyte: a late `meta`, an XML declaration. */

import { encodingOf } from './mime-type.ts'
import { createTagReader, nextTag, rawAttribute, skipRawText, type TagReader } from './tag-reader.ts'
import { decodeAttribute } from './text.ts'

/** A declaration further down is not looked for. */
const MAX_BYTES = 1 << 20
const RAW_TEXT: ReadonlySet<string> = new Set('iframe noembed noframes script style textarea title xmp'.split(' '))

/** Encoding that a `meta` element names, wherever it stands; not one in a script, a comment or an attribute. */
export function lateMetaCharset(bytes: Uint8Array): string | undefined {
  const html = latin1Of(bytes, MAX_BYTES)
  if (!/charset/i.test(html)) return undefined
  const reader = createTagReader(html)
  while (nextTag(reader)) {
    if (reader.isEnd) continue
    const charset = reader.name === 'meta' ? metaCharset(reader) : undefined
    if (charset !== undefined) return charset
    if (RAW_TEXT.has(reader.name)) skipRawText(reader, reader.name)
  }
  return undefined
}

function metaCharset(reader: TagReader): string | undefined {
  const direct = rawAttribute(reader, 'charset')
  if (direct !== undefined) return readable(encodingOf(decodeAttribute(direct)))
  if (rawAttribute(reader, 'http-equiv')?.toLowerCase() !== 'content-type') return undefined
  const content = decodeAttribute(rawAttribute(reader, 'content') ?? '')
  const [, quoted, apostrophed, bare] = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(content) ?? []
  const label = quoted ?? apostrophed ?? bare
  return label === undefined ? undefined : readable(encodingOf(label))
}

/** A document whose declaration was read byte by byte is not in UTF-16. */
function readable(charset: string | undefined): string | undefined {
  if (charset?.startsWith('utf-16') === true) return 'utf-8'
  return charset === 'x-user-defined' ? 'windows-1252' : charset
}

/** Encoding of the XML declaration that a document begins with. */
export function xmlCharset(bytes: Uint8Array): string | undefined {
  const start = latin1Of(bytes, 1024)
  const declaration = /^<\?xml[^>]*/.exec(start)?.[0] ?? ''
  const [, quoted, apostrophed] = /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(declaration) ?? []
  const label = quoted ?? apostrophed
  return label === undefined ? undefined : readable(encodingOf(label))
}

function latin1Of(bytes: Uint8Array, max: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, max)).toString('latin1')
}
