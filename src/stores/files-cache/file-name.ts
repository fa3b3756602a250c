/** From a URL to the readable name of its file: safe on Linux, macOS and Windows, and never one name for two URLs. */

import { createHash } from 'node:crypto'
import type { CacheId } from '../../cache/contract.ts'
import { cacheKeyOf } from '../../cache/key.ts'

/*
 * `~` never stands in a name that was taken from a URL: what follows it is ours, so no URL can forge it.
 *   folder   `name`, `name~d` (it holds a dot), `name~HASH` (something had to be changed), `~e` (empty segment)
 *   page     `index.html` (the URL ends in a slash), `name.ext`, `name~.html` (it has no ending), `name~HASH.ext`
 * Folders hold no dot or end in `~…`; pages hold one and do not: so /a stands beside /a/b. Names that are not changed
 * hold lower-case letters only, so no two of them differ by case alone.
 */

export interface PagePlace {
  /** Below the cache's folder: the host, then a folder for each segment. */
  readonly folders: readonly string[]
  readonly name: string
  /** Where the page goes when its folder is full. */
  readonly shard: string
}

/** Bytes of a name that is taken over; below 255 with all that is added. */
const MAX_NAME = 100
const MAX_QUERY = 60
/** macOS takes 1,024 bytes of path, the cache's own folder among them. */
const MAX_PATH = 600
const MAX_FOLDERS = 40
const HASH_DIGITS = 16

/** `url`: http or https, WHATWG-serialised, without fragment. Anything else gets a name as well. */
export function placeOf({ key, url }: CacheId): PagePlace {
  const { scheme, authority, path, query } = split(url)
  const segments = path.split('/').slice(1)
  const last = segments.pop() ?? ''
  const plain = key === cacheKeyOf({ url })
  const host = hostFolder(scheme, authority)
  const hash = hashOf(plain ? url : `${url}\n${key}`)
  const leaf = leafName(last, { query, hash, plain })
  const folders = [host, ...segments.map(folderName)]
  const shard = `~${hash.slice(0, 2)}`
  const length = folders.reduce((sum, folder) => sum + folder.length + 1, leaf.length)
  if (length <= MAX_PATH && folders.length <= MAX_FOLDERS) return { folders, name: leaf, shard }
  return { folders: [host, '~long', shard], name: `${safe(last).text.slice(0, MAX_QUERY)}~${hash}.html`, shard }
}

interface UrlParts {
  readonly scheme: string
  readonly authority: string
  readonly path: string
  /** With its question mark. */
  readonly query: string
}

function split(url: string): UrlParts {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?]*)([^?]*)(.*)$/s.exec(url)
  const [, scheme = '', authority = '', path = url, query = ''] = match ?? []
  return { scheme, authority, path: path.startsWith('/') ? path : `/${path}`, query }
}

/** `host`, `host~8080`; the scheme only when it is not https. */
function hostFolder(scheme: string, authority: string): string {
  const at = authority.lastIndexOf('@')
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/s.exec(authority.slice(at + 1)) ?? []
  // No name of a host is as long as this, and no login belongs into a name of a folder.
  const { text, changed } = safe(host.toLowerCase())
  const isHost = !changed && at === -1 && text !== ''
  const name = isHost ? text : `${text}~${hashOf(authority)}`
  return `${name}${port === undefined ? '' : `~${port}`}${scheme === 'https' ? '' : `~${safe(scheme).text}`}`
}

function folderName(segment: string): string {
  if (segment === '') return '~e'
  const { text, changed } = safe(segment)
  if (changed) return `${text}~${hashOf(segment)}`
  return text.includes('.') ? `${text}~d` : text
}

interface LeafOptions {
  readonly query: string
  readonly hash: string
  /** False: an answer beside the one that has the plain name. */
  readonly plain: boolean
}

function leafName(segment: string, { query, hash, plain }: LeafOptions): string {
  const simple = query === '' && plain
  if (segment === '' && simple) return 'index.html'
  const [stem, ending] = splitEnding(segment)
  const { text, changed } = safe(stem)
  const isTaken = segment === 'index.html' || text === ''
  if (simple && !changed && !isTaken) return ending === '' ? `${text}~.html` : `${text}${ending}`
  const readable = query === '' ? '' : `~${safe(query.slice(1)).text.slice(0, MAX_QUERY)}`
  return `${text}${readable}~${hash}${ending === '' ? '.html' : ending}`
}

function splitEnding(segment: string): readonly [stem: string, ending: string] {
  const dot = /\.[a-z0-9]{1,10}$/.exec(segment)?.index ?? segment.length
  return [segment.slice(0, dot), segment.slice(dot)]
}

/** Names that Windows gives to devices, whatever their ending. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/i

interface SafeName {
  readonly text: string
  /** Another name may give the same text. */
  readonly changed: boolean
}

/** Only ASCII that every file system takes. */
function safe(name: string): SafeName {
  let text = name.slice(0, MAX_NAME).replace(/[^A-Za-z0-9._%=&,;@!()+$'-]/g, '_')
  if (text.endsWith('.')) text = `${text.slice(0, -1)}_`
  if (DEVICES.test(text)) text = `_${text}`
  return { text, changed: text !== name || hasCase(name) }
}

/** Upper-case letters, apart from those of escapes as the URL standard writes them; and lower-case ones there. */
function hasCase(name: string): boolean {
  return /[A-Z]/.test(name.replace(/%[0-9A-F]{2}/g, '')) || /%[0-9A-Fa-f]?[a-f]/.test(name)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}
