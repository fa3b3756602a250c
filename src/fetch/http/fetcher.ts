/** The HTTP fetcher: one hop over kept connections, bounded in time and size, with every fault classified. */

import { systemClock, type Clock } from '../../core/clock.ts'
import { LoopWatch } from '../../core/loop-watch.ts'
import { CrawlError } from '../../core/errors.ts'
import type { FetchFailure, FetchRequest, FetchResult, Fetcher, WireStep } from '../contract.ts'
import { createConnector, type Route } from './connector.ts'
import { parseConnectTo, type ConnectToRule } from './connect-to.ts'
import { hasZstd } from './decode.ts'
import { Exchange, type ExchangePlan } from './exchange.ts'
import { createOrigins, type Origins } from './origins.ts'
import { createProxies, type Proxies } from './proxies.ts'
import { basicCredentials, type Proxy } from './proxy-url.ts'
import { createResolver, type Resolver } from './resolver.ts'
import { createSecure } from './secure.ts'
import { createSignalHub, type SignalHub } from './signal-hub.ts'
import { parseWireUrl, type WireUrl } from './wire-url.ts'

export interface HttpFetcherOptions {
  readonly userAgent: string
  /** Sent with every request, over Accept, Accept-Encoding and Accept-Language of our own; '' leaves one out. */
  readonly headers?: Readonly<Record<string, string>>
  /** As curl's --connect-to: `HOST1:PORT1:HOST2:PORT2`. */
  readonly connectTo?: readonly string[]
  /** Whole exchange. Default 30,000. */
  readonly timeoutMs?: number
  /** Name, connection, proxy and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Most time without a byte once connected. Default: only the whole time-out counts. */
  readonly idleTimeoutMs?: number
  /** After decompression. Default 32 MiB. */
  readonly maxBodyBytes?: number
  /** Accept any certificate. Default false. */
  readonly insecure?: boolean
  /** PEM file of further authorities. */
  readonly caFile?: string
  /** Offer HTTP/2. Default false: it costs three times the CPU. */
  readonly http2?: boolean
  /** http, https and socks5 URLs with or without user:password. */
  readonly proxies?: readonly string[]
  /** Default `request`: they take turns. `host`: one host keeps its proxy. */
  readonly proxyRotation?: 'request' | 'host'
  /** Where http_proxy, https_proxy, all_proxy and no_proxy are read. Default: nowhere. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** An idle connection is closed after this. Default 15,000. */
  readonly keepAliveMs?: number
  /** Origins whose idle connections are kept. Default 256. */
  readonly maxIdleOrigins?: number
  readonly resolver?: Resolver
  /** Told of the steps of each exchange; they do not say whose, so that one request at a time is to be made. Default: nobody. */
  readonly onStep?: (step: WireStep) => void
  readonly clock?: Clock
}

export interface HttpFetcher extends Fetcher {
  /** Origins with connections, for metrics. */
  originCount(): number
}

interface Context {
  readonly options: HttpFetcherOptions
  readonly origins: Origins
  readonly proxies: Proxies
  readonly signals: SignalHub
  readonly clock: Clock
  readonly loop: LoopWatch
  readonly defaults: readonly string[]
}

/** Throws CONFIG_INVALID for a bad rule, proxy, header or CA file. Nothing is connected before the first request. */
export function openHttpFetcher(options: HttpFetcherOptions): HttpFetcher {
  const clock = options.clock ?? systemClock
  const loop = new LoopWatch(clock)
  const http2 = options.http2 ?? false
  const connect = createConnector({
    resolver: options.resolver ?? createResolver({ clock }),
    secure: createSecure(options),
    connectTo: (options.connectTo ?? []).map(ruleOf),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    http2,
    clock,
    loop,
    onStep: options.onStep,
  })
  const origins = createOrigins({
    connect,
    http2,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    maxIdleOrigins: options.maxIdleOrigins ?? 256,
  })
  const proxies = createProxies({
    clock,
    ...(options.proxies === undefined ? {} : { proxies: options.proxies }),
    ...(options.proxyRotation === undefined ? {} : { rotation: options.proxyRotation }),
    ...(options.env === undefined ? {} : { env: options.env }),
  })
  const signals = createSignalHub()
  const context = { options, origins, proxies, signals, clock, loop, defaults: defaultHeaders(options) }
  let closed = false
  return {
    fetch: async (request) => {
      request.signal?.throwIfAborted()
      if (closed) return failure({ failure: 'protocol', error: 'the fetcher is closed' })
      const url = parseWireUrl(request.url)
      if (url === undefined) return failure({ failure: 'protocol', error: 'expected an http or https URL' })
      return await fetchOne(request, url, context)
    },
    originCount: () => origins.size(),
    close: async () => {
      closed = true
      await origins.close()
    },
  }
}

/** With repeats that charge nobody: a kept connection that was lost unused, a proxy that is down while another is not. */
async function fetchOne(request: FetchRequest, url: WireUrl, context: Context): Promise<FetchResult> {
  const { proxies } = context
  const failed = new Set<Proxy>()
  let fresh = false
  for (;;) {
    const proxy = proxies.choose(url, failed)
    // oxlint-disable-next-line no-await-in-loop -- each try follows from how the one before it ended
    const result = await attempt({ request, url, proxy, fresh }, context)
    if (proxy !== undefined && result.kind === 'failure' && result.failure === 'proxy') {
      proxies.failed(proxy)
      failed.add(proxy)
      if (proxies.exhausted(url, failed)) return result
      continue
    }
    if (proxy !== undefined) proxies.worked(proxy)
    if (result.kind === 'response' || result.unsent !== true || fresh || !isIdempotent(request)) return result
    fresh = true
  }
}

function isIdempotent(request: FetchRequest): boolean {
  const method = request.method ?? 'GET'
  return method === 'GET' || method === 'HEAD'
}

interface Attempt {
  readonly request: FetchRequest
  readonly url: WireUrl
  readonly proxy: Proxy | undefined
  readonly fresh: boolean
}

async function attempt(each: Attempt, context: Context): Promise<FetchResult> {
  const { request, url, proxy } = each
  const allowPrivate = request.allowPrivate === true
  // In absolute form one connection to the proxy would do for all hosts; by origin, limits and reuse stay what they are.
  const key = `${allowPrivate ? 'private' : 'public'} ${url.secure ? 'https' : 'http'}://${url.authority} ${proxy?.key ?? ''}`
  const route: Route = { secure: url.secure, host: url.host, port: url.port, allowPrivate, proxy }
  const connection = context.origins.acquire(key, route, each.fresh)
  const absolute = proxy !== undefined && !url.secure && proxy.protocol === 'http'
  return await new Promise<FetchResult>((resolve, reject) => {
    const { signal } = request
    const { signals } = context
    let ticket = -1
    const headers = headersFor(each, absolute, context)
    const target = absolute ? `http://${url.authority}${url.path}` : url.path
    const sending =
      context.options.onStep === undefined ? request : tellSent(request, { target, headers }, context.options.onStep)
    const exchange = new Exchange(planOf(sending, absolute ? proxy : undefined, context), connection, {
      release: (done, reusable) => {
        context.origins.release(done, reusable)
      },
      settle: (result) => {
        if (signal !== undefined) signals.forget(signal, ticket)
        resolve(result)
      },
    })
    if (signal !== undefined) {
      ticket = signals.onAbort(signal, () => {
        exchange.cancel()
        reject(signal.reason as Error)
      })
    }
    connection.client.dispatch(
      {
        path: target,
        method: request.method ?? 'GET',
        headers: headers as string[],
        ...(request.body === undefined ? {} : { body: request.body }),
      },
      exchange,
    )
  })
}

function tellSent(
  request: FetchRequest,
  { target, headers }: { readonly target: string; readonly headers: readonly string[] },
  onStep: (step: WireStep) => void,
): FetchRequest {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at] ?? '', headers[at + 1] ?? ''])
  const onSent = (): void => {
    onStep({ kind: 'request', method: request.method ?? 'GET', target, headers: pairs })
    request.onSent?.()
  }
  return { ...request, onSent }
}

function planOf(request: FetchRequest, answeringProxy: Proxy | undefined, context: Context): ExchangePlan {
  const { options, clock, loop } = context
  return {
    url: request.url,
    method: request.method ?? 'GET',
    timeoutMs: request.timeoutMs ?? options.timeoutMs ?? 30_000,
    idleTimeoutMs: options.idleTimeoutMs,
    maxBodyBytes: request.maxBodyBytes ?? options.maxBodyBytes ?? 32 * 1024 * 1024,
    truncateAtBytes: request.truncateAtBytes,
    isStillHeld: request.isStillHeld,
    onSent: request.onSent,
    onBody: request.onBody,
    answeringProxy,
    clock,
    loop,
  }
}

function defaultHeaders(options: HttpFetcherOptions): readonly string[] {
  const defaults: Readonly<Record<string, string>> = {
    'user-agent': options.userAgent,
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-language': 'en-US,en;q=0.8,*;q=0.5',
    'accept-encoding': hasZstd ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br',
  }
  const own = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.entries({ ...defaults, ...Object.fromEntries(own) })
    .filter(([, value]) => value !== '')
    .flatMap(([name, value]) => [titleCase(name), value])
}

/** As browsers write them over HTTP/1: some servers look at the case of names. HTTP/2 lowers them again. */
function titleCase(name: string): string {
  return name.startsWith('sec-ch-') ? name : name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

function headersFor(each: Attempt, absolute: boolean, context: Context): readonly string[] {
  const { request, url, proxy } = each
  const own = request.headers ?? NONE
  const headers = ['Host', own['host'] ?? url.authority]
  const { defaults } = context
  for (let at = 0; at < defaults.length; at += 2) {
    const name = defaults[at] ?? ''
    if (own === NONE || !Object.hasOwn(own, name.toLowerCase())) headers.push(name, defaults[at + 1] ?? '')
  }
  if (url.authorization !== undefined) addOwn(headers, { authorization: url.authorization, ...own })
  else addOwn(headers, own)
  const credentials = absolute && proxy !== undefined ? basicCredentials(proxy) : undefined
  if (credentials !== undefined) headers.push('Proxy-Authorization', credentials)
  return headers
}

const NONE: Readonly<Record<string, string>> = {}

function addOwn(headers: string[], own: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(own)) if (name !== 'host') headers.push(titleCase(name), value)
}

function ruleOf(text: string): ConnectToRule {
  const rule = parseConnectTo(text)
  if (rule !== undefined) return rule
  throw new CrawlError('CONFIG_INVALID', {
    context: { problem: `expected --connect-to HOST1:PORT1:HOST2:PORT2, found "${text}"` },
  })
}

function failure(fault: Pick<FetchFailure, 'failure' | 'error'>): FetchFailure {
  return { kind: 'failure', ...fault, wireBytes: 0 }
}
