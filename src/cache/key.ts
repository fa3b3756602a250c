/** Names of cache entries: 128 bits of digest, the first 32 of them the host's. */

import { hash } from 'node:crypto'

export interface CacheKeyParts {
  /** Default GET. */
  readonly method?: string
  /** Canonical or as it is; without fragment. */
  readonly url: string
  /** Tells answers to one URL apart that depend on request headers. Default: none. */
  readonly variant?: string
}

const HOST_DIGITS = 8
const KEY_DIGITS = 32

/** 32 hexadecimal digits. */
export function cacheKeyOf({ method = 'GET', url, variant = '' }: CacheKeyParts): string {
  // A URL holds no line end, so no two sets of parts make one text.
  const rest = sha256(`${method}\n${url}\n${variant}`).slice(0, KEY_DIGITS - HOST_DIGITS)
  return hostPrefixOf(hostOf(url)) + rest
}

/** Pages of one host come one after the other. */
let last = { host: '', prefix: sha256('').slice(0, HOST_DIGITS) }

/** The first 8 digits of all keys of a host. Hosts may share them: look at the URL too. */
export function hostPrefixOf(host: string): string {
  if (host !== last.host) last = { host, prefix: sha256(host).slice(0, HOST_DIGITS) }
  return last.prefix
}

/** With the port when the URL has one. */
export function hostOf(url: string): string {
  const start = url.indexOf('//') + 2
  let end = start
  while (end < url.length && url[end] !== '/' && url[end] !== '?' && url[end] !== '#') end += 1
  const authority = url.slice(start, end)
  return authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()
}

function sha256(text: string): string {
  return hash('sha256', text)
}
