/** Connections by origin: kept alive, used again, as many as are asked for at once, and bounded over all origins. */

import type { Socket } from 'node:net'

import type { Client } from 'undici'

import type { Connect, Route } from './connector.ts'
import { undiciClient } from './undici-client.ts'
import { attachHeadFilter, MAX_HEAD_BYTES, type HeadFilter } from './head-filter.ts'

/** One undici client, which is one connection at a time. */
export interface Connection {
  readonly client: Client
  readonly origin: Origin
  /** Aborts the attempt to connect. */
  readonly opening: AbortController
  /** Answers that came whole over the present socket: 0 means that it is fresh. */
  served: number
  inFlight: number
  http2: boolean
  /** Not to be used again. */
  retired: boolean
  listed: boolean
  filter: HeadFilter | undefined
  remoteAddress: string | undefined
  /** The present socket ended with a reset. */
  wasReset: boolean
}

interface Origin {
  readonly key: string
  readonly route: Route
  readonly free: Connection[]
  readonly all: Set<Connection>
  inFlight: number
}

export interface OriginsOptions {
  readonly connect: Connect
  readonly http2: boolean
  /** An idle connection is closed after this. */
  readonly keepAliveMs: number
  /** Origins without a request in flight whose connections are kept; the least recently used are closed. */
  readonly maxIdleOrigins: number
}

export interface Origins {
  /** `fresh`: on a new connection whatever there is. */
  acquire(key: string, route: Route, fresh: boolean): Connection
  /** `reusable` false closes it. */
  release(connection: Connection, reusable: boolean): void
  /** Origins held, for tests and metrics. */
  size(): number
  close(): Promise<void>
}

/** Streams of one HTTP/2 connection at a time. */
const MAX_STREAMS = 100
/** Idle connections kept for one origin. */
const MAX_FREE = 64

export function createOrigins(options: OriginsOptions): Origins {
  const origins = new Map<string, Origin>()
  // In order of the last use: what is evicted first comes first.
  const idle = new Map<string, Origin>()

  const evict = (): void => {
    for (const [key, origin] of idle) {
      if (idle.size <= options.maxIdleOrigins) return
      idle.delete(key)
      origins.delete(key)
      for (const connection of origin.all) void destroy(connection)
    }
  }
  const originFor = (key: string, route: Route): Origin => {
    const known = origins.get(key)
    if (known !== undefined) return known
    const origin: Origin = { key, route, free: [], all: new Set(), inFlight: 0 }
    origins.set(key, origin)
    return origin
  }
  return {
    acquire: (key, route, fresh) => {
      const origin = originFor(key, route)
      if (origin.inFlight++ === 0) idle.delete(key)
      const connection = (fresh ? undefined : takeFree(origin)) ?? openConnection(origin, options)
      connection.inFlight++
      return connection
    },
    release: (connection, reusable) => {
      const { origin } = connection
      connection.inFlight--
      if (!reusable) retire(connection)
      if (connection.retired) {
        if (connection.inFlight === 0) void destroy(connection)
      } else list(connection)
      if (--origin.inFlight > 0) return
      if (origin.all.size === 0) origins.delete(origin.key)
      else {
        idle.set(origin.key, origin)
        evict()
      }
    },
    size: () => origins.size,
    close: async () => {
      const clients = [...origins.values()].flatMap((origin) => [...origin.all])
      origins.clear()
      idle.clear()
      await Promise.all(clients.map((connection) => destroy(connection)))
    },
  }
}

/** The last used first: its socket is the likeliest to be alive. */
function takeFree(origin: Origin): Connection | undefined {
  const connection = origin.free.at(-1)
  if (connection === undefined) return undefined
  if (connection.http2 && connection.inFlight + 1 < MAX_STREAMS) return connection
  origin.free.pop()
  connection.listed = false
  return connection
}

function list(connection: Connection): void {
  if (connection.listed) return
  if (connection.origin.free.length >= MAX_FREE) {
    void destroy(connection)
    return
  }
  connection.listed = true
  connection.origin.free.push(connection)
}

function retire(connection: Connection): void {
  connection.retired = true
  if (!connection.listed) return
  connection.listed = false
  const { free } = connection.origin
  const at = free.indexOf(connection)
  if (at !== -1) free.splice(at, 1)
}

async function destroy(connection: Connection): Promise<void> {
  connection.retired = true
  connection.origin.all.delete(connection)
  connection.opening.abort(new Error('the connection is no longer wanted'))
  await connection.client.destroy()
}

function openConnection(origin: Origin, options: OriginsOptions): Connection {
  const { route } = origin
  const opening = new AbortController()
  const host = route.proxy !== undefined && !route.secure ? route.proxy.host : route.host
  const authority = host.includes(':') ? `[${host}]` : host
  // Over TLS the scheme is part of what HTTP/2 sends; the port never leaves the Host header, which is always given.
  const UndiciClient = undiciClient()
  const client = new UndiciClient(`${route.secure ? 'https' : 'http'}://${authority}:${route.port}`, {
    connect: (_target, callback) => {
      void deliver(connection, options.connect(route, opening.signal), callback)
    },
    allowH2: options.http2,
    pipelining: options.http2 ? MAX_STREAMS : 1,
    // The exchange has deadlines of its own, and the head filter its own bound.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEAD_BYTES * 2,
    keepAliveTimeout: options.keepAliveMs,
    keepAliveMaxTimeout: options.keepAliveMs,
    keepAliveTimeoutThreshold: 1000,
  })
  const connection: Connection = {
    client,
    origin,
    opening,
    served: 0,
    inFlight: 0,
    http2: false,
    retired: false,
    listed: false,
    filter: undefined,
    remoteAddress: undefined,
    wasReset: false,
  }
  origin.all.add(connection)
  return connection
}

async function deliver(connection: Connection, opening: Promise<Socket>, callback: Deliver): Promise<void> {
  let socket: Socket
  try {
    socket = await opening
  } catch (error) {
    callback(error as Error, null)
    return
  }
  adopt(connection, socket)
  callback(null, socket)
}

type Deliver = (...args: [null, Socket] | [Error, null]) => void

function adopt(connection: Connection, socket: Socket): void {
  connection.served = 0
  connection.wasReset = false
  connection.http2 = (socket as { alpnProtocol?: unknown }).alpnProtocol === 'h2'
  connection.filter = connection.http2 ? undefined : attachHeadFilter(socket)
  connection.remoteAddress = socket.remoteAddress
  socket.prependListener('error', (error: Error & { readonly code?: string }) => {
    if (error.code === 'ECONNRESET') connection.wasReset = true
  })
}
