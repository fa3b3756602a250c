/** The HTTP server of the dashboard: the page, its questions and orders, and the stream of what happens. */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../core/clock.ts'
import { CrawlError, isCrawlError } from '../core/errors.ts'
import { packageVersion } from '../util/package-version.ts'
import { type DashboardAddress, isLoopbackAddress } from './address.ts'
import { type Asset, loadAssets } from './assets.ts'
import { createCrowd } from './crowd.ts'
import type { Feed } from './feed.ts'
import { decideAccess, type GuardSettings, isProbe } from './guard.ts'
import { ORDERS } from './orders.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { hello, QUESTIONS } from './questions.ts'
import type { DashboardSource } from './source.ts'
import { createStreams, type Streams } from './streams.ts'
import { TEXTS } from './texts.ts'
import { createTasks, type Tasks } from './tasks.ts'
import type { Problem } from './wire.ts'

export interface DashboardOptions {
  readonly source: DashboardSource
  readonly feed: Feed
  readonly clock: Clock
  readonly address: DashboardAddress
  /** Default: none on loopback, a new one elsewhere. */
  readonly token?: string | undefined
}

export interface Dashboard {
  /** To be opened in a browser; carries the token, when there is one. */
  readonly url: string
  close(): Promise<void>
}

const MAX_BODY = 4096
/** A connection on which nothing moves is closed; a stream has a line a second. */
const SILENCE_MS = 120_000
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/** Rejects with CONFIG_INVALID when the address cannot be listened on. */
export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { address, source, clock } = options
  const isLoopback = isLoopbackAddress(address.host)
  const token = options.token ?? (isLoopback ? undefined : randomBytes(18).toString('base64url'))
  const tasks = createTasks(source, clock)
  const streams = createStreams()
  const metrics = createMetrics()
  const parts = { ...options, tasks, streams, metrics, assets: await loadAssets() }
  const server = createServer({ maxHeaderSize: 32_768, requestTimeout: 30_000, headersTimeout: 10_000 })
  server.setTimeout(SILENCE_MS)
  const crowd = createCrowd(server)
  const port = await listen(server, address)
  const guard: GuardSettings = {
    isLoopback,
    host: address.host,
    port,
    token,
    key: randomBytes(18).toString('base64url'),
  }
  server.on('request', (request, response) => {
    void answer({ ...parts, guard, request, response, hasRoom: crowd.enter(request, response) })
  })
  const name = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${name}:${port}/${token === undefined ? '' : `?token=${encodeURIComponent(token)}`}`,
    close: async () => {
      streams.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      // whoever is slow to take its last words is not waited for
      const cancel = clock.timer(1000, () => {
        server.closeAllConnections()
      })
      await closed
      cancel()
      metrics.close()
      await tasks.close()
    },
  }
}

async function listen(server: Server, { host, port, mayMove }: DashboardAddress): Promise<number> {
  try {
    return await listenOn(server, host, port)
  } catch (error) {
    if (mayMove && Object(error).code === 'EADDRINUSE') return listenOn(server, host, 0)
    const problem = `dashboard: cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`
    throw new CrawlError('CONFIG_INVALID', { context: { problem }, cause: error })
  }
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      server.on('error', () => undefined)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

interface Exchange extends DashboardOptions {
  readonly tasks: Tasks
  readonly streams: Streams
  readonly metrics: Metrics
  readonly assets: ReadonlyMap<string, Asset>
  readonly guard: GuardSettings
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly hasRoom: boolean
}

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, guard } = exchange
  response.on('error', () => undefined)
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
  try {
    const { method = 'GET', url: target = '/', headers } = request
    const head = { method, target, headers }
    if (!exchange.hasRoom && !isProbe(head)) {
      refuse(exchange, 503, 'too many questions are being answered; ask again later')
      return
    }
    const access = decideAccess(head, guard)
    if (access.kind === 'granted') await route(exchange, new URL(target, 'http://dashboard'))
    else if (access.kind === 'refused') refuse(exchange, access.status, access.why)
    else {
      response.writeHead(303, { location: '/', 'set-cookie': access.cookie })
      response.end()
    }
  } catch (error) {
    refuse(
      exchange,
      isCrawlError(error, 'CONFIG_INVALID') ? 400 : 503,
      error instanceof Error ? error.message : String(error),
    )
  }
}

function refuse({ response, request }: Exchange, status: number, error: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  // what is left of a body is not read
  if (!request.complete) response.setHeader('connection', 'close')
  sendJson(response, { error } satisfies Problem, status)
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(value))
}

async function route(exchange: Exchange, { pathname, searchParams: query }: URL): Promise<void> {
  const { request, response, assets, tasks, source, guard, feed } = exchange
  const asset = assets.get(pathname)
  const order = ORDERS.get(pathname)
  const question = QUESTIONS.get(pathname)
  const text = TEXTS.get(pathname)
  const task = query.get('task') ?? source.task
  if (text !== undefined) await sendText(exchange, text({ tasks, metrics: exchange.metrics, task, query }))
  else if (request.method === 'POST' && order !== undefined) {
    const body = await readBody(request)
    sendJson(response, await order({ source, open: await tasks.get(task), body }))
  } else if (request.method === 'POST') refuse(exchange, 404, 'nothing here takes orders')
  else if (asset !== undefined) {
    response.writeHead(200, { 'content-type': asset.type, 'content-length': asset.body.length })
    response.end(request.method === 'HEAD' ? undefined : asset.body)
  } else if (question !== undefined) sendJson(response, await question(await tasks.get(task), query))
  else if (pathname === '/api/hello') {
    const parts = { source, feed, version: packageVersion(), key: guard.key }
    sendJson(response, await hello(parts, task, await tasks.get(task)))
  } else if (pathname === '/api/stream') exchange.streams.open(response, { feed, watch: (await tasks.get(task)).watch })
  else refuse(exchange, 404, 'there is nothing at this address')
}

async function sendText(
  { response }: Exchange,
  asked: ReturnType<NonNullable<ReturnType<typeof TEXTS.get>>>,
): Promise<void> {
  const { status, type, text } = await asked
  response.writeHead(status, { 'content-type': type })
  response.end(text)
}

/** A small JSON object; none is an empty one. */
async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) throw tooLong()
    chunks.push(chunk)
  }
  if (length === 0) return {}
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  } catch {
    // told below
  }
  throw new CrawlError('CONFIG_INVALID', { context: { problem: 'body: expected a JSON object' } })
}

function tooLong(): CrawlError {
  return new CrawlError('CONFIG_INVALID', { context: { problem: `body: expected at most ${MAX_BODY} bytes` } })
}
