/** Proxy addresses as people write them. */

import { CrawlError } from '../../core/errors.ts'

export interface Proxy {
  /** How it is spoken to: absolute form and CONNECT, or SOCKS5. */
  readonly protocol: 'http' | 'socks5'
  /** TLS to the proxy itself. */
  readonly secure: boolean
  readonly host: string
  readonly port: number
  /** Decoded. */
  readonly username: string | undefined
  readonly password: string
  /** For messages and as a key: scheme, host and port; never credentials. */
  readonly label: string
  /** The whole, credentials included: two accounts at one proxy are two proxies. Never logged. */
  readonly key: string
}

const SCHEMES: Readonly<
  Record<string, { readonly protocol: 'http' | 'socks5'; readonly secure: boolean; readonly port: number }>
> = {
  'http:': { protocol: 'http', secure: false, port: 80 },
  'https:': { protocol: 'http', secure: true, port: 443 },
  'socks5:': { protocol: 'socks5', secure: false, port: 1080 },
  'socks5h:': { protocol: 'socks5', secure: false, port: 1080 },
  'socks:': { protocol: 'socks5', secure: false, port: 1080 },
}

/** `host:port` alone means http, as in curl. Throws CONFIG_INVALID. */
export function parseProxy(text: string): Proxy {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  const scheme = url !== undefined && Object.hasOwn(SCHEMES, url.protocol) ? SCHEMES[url.protocol] : undefined
  if (url === undefined || scheme === undefined || url.hostname === '') throw invalid(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? scheme.port : Number(url.port)
  if (port === 0) throw invalid(text)
  const username = url.username === '' ? undefined : decode(url.username)
  return {
    protocol: scheme.protocol,
    secure: scheme.secure,
    host,
    port,
    username,
    password: decode(url.password),
    label: `${url.protocol}//${url.hostname}:${port}`,
    key: `${url.protocol}//${url.username}:${url.password}@${url.hostname}:${port}`,
  }
}

/** The value of Proxy-Authorization, or undefined without credentials. */
export function basicCredentials(proxy: Pick<Proxy, 'username' | 'password'>): string | undefined {
  if (proxy.username === undefined) return undefined
  return `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`, 'utf8').toString('base64')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function invalid(text: string): CrawlError {
  const shown = text.replace(/\/\/[^/@]*@/, '//').replace(/^[^/@]*@/, '')
  return new CrawlError('CONFIG_INVALID', {
    context: { problem: `expected a proxy like http://host:port, https://… or socks5://…, found "${shown}"` },
  })
}
