/** From a route to a connected socket: rules, guard, names, TCP, proxy, TLS, all under one deadline. */

import net, { type Socket } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import type { LoopWatch } from '../../core/loop-watch.ts'
import type { WireStep } from '../contract.ts'
import { refuseAddress, refuseHost } from './address-guard.ts'
import { applyConnectTo, type ConnectToRule, type Endpoint } from './connect-to.ts'
import { dial } from './dial.ts'
import { faultError } from './faults.ts'
import type { Proxy } from './proxy-url.ts'
import { openTunnel } from './proxy-tunnel.ts'
import type { Resolver } from './resolver.ts'
import { type Secure, tlsFactsOf } from './secure.ts'

/** What connections of one pool have in common. */
export interface Route {
  readonly secure: boolean
  /** Of the URL; without brackets. */
  readonly host: string
  readonly port: number
  readonly allowPrivate: boolean
  readonly proxy: Proxy | undefined
}

export interface ConnectorOptions {
  readonly resolver: Resolver
  readonly secure: Secure
  /** For TLS to a proxy, which is the user's own choice: verified like any other. */
  readonly connectTo: readonly ConnectToRule[]
  readonly connectTimeoutMs: number
  readonly http2: boolean
  readonly clock: Clock
  readonly loop: LoopWatch
  /** Told of each step that is done. Default: nobody is. */
  readonly onStep?: ((step: WireStep) => void) | undefined
}

export type Connect = (route: Route, signal: AbortSignal) => Promise<Socket>

/** Rejects with a fault (see `classifyFault`) or with the signal's reason; leaves no socket and no timer then. */
export function createConnector(options: ConnectorOptions): Connect {
  return async (route, signal) => {
    const deadline = new AbortController()
    const cancel = options.loop.deadline(options.connectTimeoutMs, () => {
      const error = `no connection within the connect time-out of ${options.connectTimeoutMs} ms`
      deadline.abort(faultError({ failure: 'timeout', error }))
    })
    const onAbort = (): void => {
      deadline.abort(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      return await connect(route, { ...options, signal: deadline.signal })
    } finally {
      cancel()
      signal.removeEventListener('abort', onAbort)
    }
  }
}

interface Context extends ConnectorOptions {
  readonly signal: AbortSignal
}

async function connect(route: Route, context: Context): Promise<Socket> {
  // A literal or a name of this machine in the URL itself is refused whatever the rules say.
  if (!route.allowPrivate) guard(refuseHost(route.host))
  const target = applyConnectTo(context.connectTo, route)
  const { proxy, secure } = route
  if (proxy === undefined) {
    const plain = await connectDirect(target, { allowed: route.allowPrivate || target.chosen }, context)
    return secure ? await encrypt(plain, route, context) : plain
  }
  if (!route.allowPrivate && !target.chosen) guard(refuseHost(target.host))
  const lane = await connectProxy(proxy, context)
  // Plain http goes to an http proxy in absolute form: the proxy is what we talk to.
  if (!secure && proxy.protocol !== 'socks5') return lane
  const startedMs = context.clock.monotonicMs()
  await openTunnel({ socket: lane, proxy, target, signal: context.signal })
  const { host, port } = target
  context.onStep?.({ kind: 'tunnel', proxy: proxy.label, host, port, ms: context.clock.monotonicMs() - startedMs })
  return secure ? await encrypt(lane, route, context) : lane
}

async function encrypt(socket: Socket, { host, port }: Endpoint, context: Context): Promise<Socket> {
  const { clock, http2, signal, onStep } = context
  const startedMs = clock.monotonicMs()
  const secured = await context.secure({ socket, host, port, http2, signal })
  onStep?.({ kind: 'tls', host, ...tlsFactsOf(secured), ms: clock.monotonicMs() - startedMs })
  return secured
}

async function connectProxy(proxy: Proxy, context: Context): Promise<Socket> {
  try {
    const socket = await connectDirect(proxy, { allowed: true, proxy: proxy.label }, context)
    if (!proxy.secure) return socket
    return await context.secure({ socket, host: proxy.host, port: proxy.port, http2: false, signal: context.signal })
  } catch (error) {
    if (context.signal.aborted && !isFault(context.signal.reason)) throw error
    const words = error instanceof Error ? error.message : 'an unknown fault'
    throw faultError({ failure: 'proxy', error: `the proxy ${proxy.label} cannot be used: ${words}` }, error)
  }
}

function isFault(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'fault' in value
}

/** The address that was checked is the address that is connected to: names are not asked again in between. */
async function connectDirect(
  { host, port }: Endpoint,
  { allowed, proxy }: { readonly allowed: boolean; readonly proxy?: string },
  { clock, resolver, signal, onStep }: Context,
): Promise<Socket> {
  const startedMs = clock.monotonicMs()
  const addresses = await abortable(resolver.resolve(host), signal)
  const resolvedMs = clock.monotonicMs()
  if (net.isIP(host) === 0) onStep?.({ kind: 'dns', host, addresses, ms: resolvedMs - startedMs })
  const usable = allowed ? addresses : addresses.filter((address) => refuseAddress(address) === undefined)
  if (usable.length === 0) guard(refuseAddress(addresses[0] ?? ''))
  const socket = await dial({ addresses: usable, port, clock, signal })
  const address = socket.remoteAddress ?? ''
  onStep?.({
    kind: 'connect',
    address,
    port,
    ...(proxy === undefined ? {} : { proxy }),
    ms: clock.monotonicMs() - resolvedMs,
  })
  return socket
}

function guard(problem: string | undefined): void {
  if (problem === undefined) return
  throw faultError({ failure: 'connect', error: `refused by the address guard: ${problem}`, guarded: true })
}

/** The question goes on (others may share it); who stops waiting stops here. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort)
    })
  })
}
