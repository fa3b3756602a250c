/**
 * Which variant of a URL's answers an entry is, carried through an archive in a field of its own: without it a page that
 * was seen with credentials, or that a browser has rendered, would be given to everyone once it is imported again.
 */

import type { NewCacheEntry } from '../../cache/contract.ts'
import { cacheKeyOf, hostOf, hostPrefixOf } from '../../cache/key.ts'
import type { HeaderList } from '../../fetch/contract.ts'

const FIELD = 'x-spoor-entry'
/** More than any answer of ours depends on. */
const MAX_NAMES = 64
const KEY = /^[0-9a-f]{32}$/
/** A header name, and a digest as the gate makes them; none stands for a header that was not sent. */
const PAIR = /^([!#$%&'*+\-.^_`|~0-9a-z]{1,100})=([\w-]{22})?$/

type Named = Pick<NewCacheEntry, 'key' | 'url' | 'varied' | 'headers'>

/** The headers of the answer with the field; without it, where the entry is the only one of its URL. */
export function tellEntry({ key, url, method, varied, headers }: Named & Pick<NewCacheEntry, 'method'>): HeaderList {
  const own = headers.filter(([name]) => name !== FIELD)
  if (varied === undefined && key === cacheKeyOf({ method, url })) return own
  const pairs = Object.entries(varied ?? {}).map(([name, digest]) => `${name}=${digest}`)
  return [...own, [FIELD, [key, ...pairs].join(' ')]]
}

/** The entry that an answer to a GET of the URL is kept as. A field that cannot be of that URL's host counts for nothing. */
export function nameEntry(url: string, headers: HeaderList): Named {
  const text = headers.find(([name]) => name === FIELD)?.[1]
  const plain = { key: cacheKeyOf({ url }), url }
  if (text === undefined) return { ...plain, headers }
  const own = { ...plain, headers: headers.filter(([name]) => name !== FIELD) }
  const [key = '', ...pairs] = text.split(' ', MAX_NAMES + 1)
  if (!KEY.test(key) || !key.startsWith(hostPrefixOf(hostOf(url)))) return own
  const varied = pairs.flatMap((pair) => {
    const [, name, digest = ''] = PAIR.exec(pair) ?? []
    return name === undefined ? [] : [[name, digest] as const]
  })
  return { ...own, key, ...(varied.length === 0 ? {} : { varied: Object.fromEntries(varied) }) }
}
