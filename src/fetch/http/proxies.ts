/** Which proxy takes a request: in turn or by host, passing over those that are resting, and none where NO_PROXY says so. */

import net from 'node:net'

import type { Clock } from '../../core/clock.ts'
import type { WireUrl } from './wire-url.ts'
import { parseProxy, type Proxy } from './proxy-url.ts'

export interface ProxyOptions {
  /** As written by the user. They come before those of the environment. */
  readonly proxies?: readonly string[]
  /** `request` (default): the next one each time. `host`: one host keeps its proxy while that is well. */
  readonly rotation?: 'request' | 'host'
  /** `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy` and their upper-case forms are read from it. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

export interface Proxies {
  /** Undefined: connect directly. `not` are those that failed this request already. */
  choose(url: WireUrl, not: ReadonlySet<Proxy>): Proxy | undefined
  /** Has every proxy for this URL failed it? Going direct instead is nobody's wish. */
  exhausted(url: WireUrl, not: ReadonlySet<Proxy>): boolean
  /** It could not be used: it rests, longer each time. */
  failed(proxy: Proxy): void
  worked(proxy: Proxy): void
}

const FIRST_REST_MS = 5000
const MAX_REST_MS = 300_000

interface Health {
  failures: number
  restsUntilMs: number
}

/** Throws CONFIG_INVALID for a proxy that is none. */
export function createProxies(options: ProxyOptions): Proxies {
  const env = options.env ?? {}
  const own = (options.proxies ?? []).map(parseProxy)
  const fromEnv = (...names: readonly string[]): readonly Proxy[] => {
    const text = names.map((name) => env[name]?.trim() ?? '').find((value) => value !== '')
    return text === undefined ? [] : [parseProxy(text)]
  }
  // HTTP_PROXY in upper case is what a CGI request's Proxy header becomes: only the lower-case form counts, as in curl.
  const plain = own.length > 0 ? own : fromEnv('http_proxy', 'all_proxy', 'ALL_PROXY')
  const secure = own.length > 0 ? own : fromEnv('https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY')
  const bypass = parseNoProxy(env['no_proxy'] ?? env['NO_PROXY'] ?? '')
  const health = new Map<Proxy, Health>()
  let turn = 0

  const candidates = (url: WireUrl): readonly Proxy[] => {
    const all = url.secure ? secure : plain
    if (all.length === 0 || bypass(url.host, url.port)) return []
    return own.length === 0 && isLoopback(url.host) ? [] : all
  }
  return {
    choose: (url, not) => {
      const all = candidates(url)
      if (all.length === 0) return undefined
      const now = options.clock.monotonicMs()
      const start = options.rotation === 'host' ? hashOf(url.host) : turn++
      const order = all.map((_, at) => all[(start + at) % all.length]).filter((proxy) => proxy !== undefined)
      const left = order.filter((proxy) => !not.has(proxy))
      const rested = left.find((proxy) => (health.get(proxy)?.restsUntilMs ?? 0) <= now)
      // All rest: the one that wakes first is as good as any.
      return (
        rested ?? left.toSorted((a, b) => (health.get(a)?.restsUntilMs ?? 0) - (health.get(b)?.restsUntilMs ?? 0))[0]
      )
    },
    exhausted: (url, not) => {
      const all = candidates(url)
      return all.length > 0 && all.every((proxy) => not.has(proxy))
    },
    failed: (proxy) => {
      const failures = (health.get(proxy)?.failures ?? 0) + 1
      const restMs = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.min(failures - 1, 10))
      health.set(proxy, { failures, restsUntilMs: options.clock.monotonicMs() + restMs })
    },
    worked: (proxy) => {
      if (health.size > 0) health.delete(proxy)
    },
  }
}

/** Commas or blanks between; `*`, names (with all below them), addresses, address/bits, each with or without a port. */
export function parseNoProxy(text: string): (host: string, port: number) => boolean {
  const rules = text
    .split(/[\s,]+/)
    .filter((rule) => rule !== '')
    .map((rule) => ruleOf(rule.toLowerCase()))
  return (host, port) => rules.some((rule) => rule(host.toLowerCase().replace(/\.$/, ''), port))
}

function ruleOf(text: string): (host: string, port: number) => boolean {
  if (text === '*') return () => true
  const withPort = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(text)
  const wantedPort = withPort === null ? undefined : Number(withPort[2])
  const name = (withPort?.[1] ?? text).replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
  const block = subnetOf(name)
  return (host, port) => {
    if (wantedPort !== undefined && wantedPort !== port) return false
    const family = net.isIP(host)
    if (family !== 0 && block !== undefined) return block.check(host, family === 6 ? 'ipv6' : 'ipv4')
    return host === name || (family === 0 && name !== '' && host.endsWith(`.${name}`))
  }
}

function subnetOf(text: string): net.BlockList | undefined {
  const [address = '', bits] = text.split('/')
  const family = net.isIP(address)
  if (family === 0) return undefined
  const list = new net.BlockList()
  const kind = family === 6 ? 'ipv6' : 'ipv4'
  const prefix = bits === undefined ? (family === 6 ? 128 : 32) : Number(bits)
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > (family === 6 ? 128 : 32)) return undefined
  list.addSubnet(address, prefix, kind)
  return list
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.')
}

function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0
  return hash
}
