/** A real HTTP server on the loopback address that answers by a table, faults included, and remembers every request. */

import { once, setMaxListeners } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { createRouter } from './site-answer.ts'
import type { SiteHandler, SiteRequest, SiteRoutes } from './site-answer.ts'
import { writeAnswer } from './site-write.ts'

/** One line of the site's log. It is completed as the answer goes out. */
export interface SiteLogEntry extends SiteRequest {
  /** Requests of this host that were being answered when it came, itself included. */
  readonly hostInFlight: number
  /** The same over all hosts. */
  readonly inFlight: number
  /** Which connection brought it, counted from 1. */
  readonly connection: number
  /** Status sent; undefined until a head was sent, and for answers without one. */
  status?: number
  /** When the answer was complete or the connection gone. */
  endedAtMs?: number
  /** `answered` whole, or `broken` by a fault or by the client. */
  ended?: 'answered' | 'broken'
}

export interface TestSiteOptions {
  /** Default: a free one. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly address?: string
  /** Drives delays and stamps the log. Default: the machine's. */
  readonly clock?: Clock
  /** Sees each request as it is logged; for a site that acts at the n-th request. */
  readonly onRequest?: (entry: SiteLogEntry) => void
}

export interface TestSite extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly origin: string
  /** All requests so far, in order of arrival. */
  readonly log: readonly SiteLogEntry[]
  /** Connections accepted so far. */
  readonly connections: number
  url(path: string): string
  /** Log entries for this path, or for this `//host/path`. */
  requestsFor(path: string): readonly SiteLogEntry[]
  /** Resolves when so many requests have come, counted over the life of the site; rejects when the signal aborts. */
  waitForRequests(count: number, signal?: AbortSignal): Promise<void>
  /** From now on this answers. Visits go on being counted. */
  setRoutes(routes: SiteRoutes | SiteHandler): void
  /** Forgets the log, the visits and the count of requests. */
  clearLog(): void
  /** Drops every connection and refuses new ones, as a dead server does. */
  goDown(): Promise<void>
  /** Listens again, on the same port. */
  comeUp(): Promise<void>
  /** Ends all connections. Idempotent. */
  close(): Promise<void>
}

interface SiteState {
  readonly clock: Clock
  readonly address: string
  readonly onRequest: ((entry: SiteLogEntry) => void) | undefined
  readonly closing: AbortController
  readonly log: SiteLogEntry[]
  readonly visits: Map<string, number>
  readonly inFlight: Map<string, number>
  readonly waiters: Set<{ readonly count: number; readonly resolve: () => void }>
  readonly sockets: Map<Socket, number>
  handler: SiteHandler
  port: number
  connections: number
  allInFlight: number
}

/** Starts a site; it listens when the promise resolves. Dispose of it with `await using`. */
export async function openTestSite(routes: SiteRoutes | SiteHandler, options: TestSiteOptions = {}): Promise<TestSite> {
  const state: SiteState = {
    clock: options.clock ?? systemClock,
    address: options.address ?? '127.0.0.1',
    onRequest: options.onRequest,
    closing: new AbortController(),
    log: [],
    visits: new Map(),
    inFlight: new Map(),
    waiters: new Set(),
    sockets: new Map(),
    handler: handlerOf(routes),
    port: options.port ?? 0,
    connections: 0,
    allInFlight: 0,
  }
  // each request in flight listens to it
  setMaxListeners(0, state.closing.signal)
  const server = createSiteServer(state)
  const listen = async (): Promise<void> => {
    server.listen(state.port, state.address)
    await once(server, 'listening')
  }
  const goDown = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of state.sockets.keys()) socket.destroy()
    await closed
  }
  const close = async (): Promise<void> => {
    state.closing.abort()
    await goDown()
  }
  await listen()
  state.port = (server.address() as AddressInfo).port
  return createHandle(state, { comeUp: listen, goDown, close })
}

function createHandle(state: SiteState, power: Pick<TestSite, 'comeUp' | 'goDown' | 'close'>): TestSite {
  const origin = `http://${state.address.includes(':') ? `[${state.address}]` : state.address}:${state.port}`
  return {
    ...power,
    port: state.port,
    origin,
    log: state.log,
    get connections() {
      return state.connections
    },
    url: (path) => origin + path,
    requestsFor: (path) =>
      state.log.filter((entry) => (path.startsWith('//') ? `//${entry.host}${entry.path}` : entry.path) === path),
    waitForRequests: (count, signal) => waitForRequests(state, count, signal),
    setRoutes: (routes) => {
      state.handler = handlerOf(routes)
    },
    clearLog: () => {
      state.log.length = 0
      state.visits.clear()
    },
    [Symbol.asyncDispose]: power.close,
  }
}

function handlerOf(routes: SiteRoutes | SiteHandler): SiteHandler {
  return typeof routes === 'function' ? routes : createRouter(routes)
}

function createSiteServer(state: SiteState): ReturnType<typeof createServer> {
  const server = createServer(
    {
      maxHeaderSize: 1 << 20,
      keepAliveTimeout: 60_000,
      requestTimeout: 0,
      headersTimeout: 0,
      insecureHTTPParser: true,
    },
    (message, response) => {
      void answer(state, message, response)
    },
  )
  server.on('connection', (socket) => {
    state.connections += 1
    state.sockets.set(socket, state.connections)
    socket.on('close', () => state.sockets.delete(socket))
    // a client that goes away is part of the tests
    socket.on('error', () => undefined)
  })
  server.on('clientError', (_error, socket) => {
    socket.destroy()
  })
  return server
}

async function answer(state: SiteState, message: IncomingMessage, response: ServerResponse): Promise<void> {
  // the address of a request is what was sent: a body, if any, is read and dropped
  message.resume()
  const entry = enter(state, message)
  const gone = new AbortController()
  const stop = (): void => {
    gone.abort()
  }
  state.closing.signal.addEventListener('abort', stop, { once: true })
  response.once('close', () => {
    state.closing.signal.removeEventListener('abort', stop)
    leave(state, entry, response)
    stop()
  })
  state.onRequest?.(entry)
  wake(state)
  const found = (await state.handler(entry)) ?? { status: 404, title: 'Not found' }
  await writeAnswer({ response, answer: found, clock: state.clock, signal: gone.signal })
}

function enter(state: SiteState, message: IncomingMessage): SiteLogEntry {
  const host = (message.headers.host ?? '').toLowerCase().replace(`:${state.port}`, '')
  const path = message.url ?? '/'
  const method = message.method ?? 'GET'
  const visitKey = `${method} //${host}${path}`
  const visit = (state.visits.get(visitKey) ?? 0) + 1
  const hostInFlight = (state.inFlight.get(host) ?? 0) + 1
  state.visits.set(visitKey, visit)
  state.inFlight.set(host, hostInFlight)
  state.allInFlight += 1
  const entry: SiteLogEntry = {
    number: state.log.length + 1,
    visit,
    atMs: state.clock.monotonicMs(),
    method,
    host,
    path,
    headers: message.headers,
    hostInFlight,
    inFlight: state.allInFlight,
    connection: state.sockets.get(message.socket) ?? 0,
  }
  state.log.push(entry)
  return entry
}

function leave(state: SiteState, entry: SiteLogEntry, response: ServerResponse): void {
  state.inFlight.set(entry.host, (state.inFlight.get(entry.host) ?? 1) - 1)
  state.allInFlight -= 1
  entry.endedAtMs = state.clock.monotonicMs()
  entry.ended = response.writableFinished ? 'answered' : 'broken'
  if (response.headersSent) entry.status = response.statusCode
}

function wake(state: SiteState): void {
  for (const waiter of state.waiters) {
    if (state.log.length < waiter.count) continue
    state.waiters.delete(waiter)
    waiter.resolve()
  }
}

async function waitForRequests(state: SiteState, count: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  if (state.log.length >= count) return
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      state.waiters.delete(waiter)
      reject(signal?.reason as Error)
    }
    const waiter = {
      count,
      resolve: () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
    }
    state.waiters.add(waiter)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
