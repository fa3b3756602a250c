/** From a route to a connected socket: rules, guard, names, TCP, proxy, TLS, all under one deadline. */

import type { Socket } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import type { LoopWatch } from '../../core/loop-watch.ts'
import { refuseAddress, refuseHost } from './address-guard.ts'
import { applyConnectTo, type ConnectToRule, type Endpoint } from './connect-to.ts'
import { dial } from './dial.ts'
import { faultError } from './faults.ts'
import type { Proxy } from './proxy-url.ts'
import { openTunnel } from './proxy-tunnel.ts'
import type { Resolver } from './resolver.ts'
import type { Secure } from './secure.ts'

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
    const plain = await connectDirect(target, route.allowPrivate || target.chosen, context)
    return secure
      ? await context.secure({ socket: plain, ...pick(route), http2: context.http2, signal: context.signal })
      : plain
  }
  if (!route.allowPrivate && !target.chosen) guard(refuseHost(target.host))
  const lane = await connectProxy(proxy, context)
  // Plain http goes to an http proxy in absolute form: the proxy is what we talk to.
  if (!secure && proxy.protocol !== 'socks5') return lane
  await openTunnel({ socket: lane, proxy, target, signal: context.signal })
  return secure
    ? await context.secure({ socket: lane, ...pick(route), http2: context.http2, signal: context.signal })
    : lane
}

function pick(endpoint: Endpoint): Endpoint {
  return { host: endpoint.host, port: endpoint.port }
}

async function connectProxy(proxy: Proxy, context: Context): Promise<Socket> {
  try {
    const socket = await connectDirect(proxy, true, context)
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
async function connectDirect(target: Endpoint, allowed: boolean, context: Context): Promise<Socket> {
  const addresses = await abortable(context.resolver.resolve(target.host), context.signal)
  const usable = allowed ? addresses : addresses.filter((address) => refuseAddress(address) === undefined)
  if (usable.length === 0) guard(refuseAddress(addresses[0] ?? ''))
  return await dial({ addresses: usable, port: target.port, clock: context.clock, signal: context.signal })
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
