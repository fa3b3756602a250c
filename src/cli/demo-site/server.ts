/** The server of the demo site: ordinary pages, and the answers that make a site interesting to a crawler. */

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../../core/clock.ts'
import { createContent } from './content.ts'
import { page, prose } from './page.ts'
import { cyrillicPage } from './windows-1251.ts'

export interface DemoSite {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string
  close(): Promise<void>
}

export interface DemoSiteOptions {
  readonly clock: Clock
  /** Tried first; any free one when it is taken. The same port makes the same URLs, so that a crawl can go on. */
  readonly port: number
}

const SLOW_MS = 1_500
const robotsOf = (origin: string): string => `# The demo site's rules
User-agent: *
Disallow: /private/
Disallow: /account/
Disallow: /cart
Allow: /account/help

User-agent: greedybot
Disallow: /

Sitemap: ${origin}/sitemap.xml
`

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** Listens on 127.0.0.1 only. Rejects when no port can be had. */
export async function openDemoSite({ clock, port }: DemoSiteOptions): Promise<DemoSite> {
  const content = createContent()
  const specials = createSpecials(content, clock)
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const special = specials.get(path)
    const answer = special === undefined ? ordinary(content, clock, path) : special(request, response)
    if (typeof answer === 'function') void answer(request, response)
  })
  server.keepAliveTimeout = 10_000
  const taken = await listen(server, port).catch(() => listen(server, 0))
  return {
    origin: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** A few milliseconds each, as over a network; every third page packed with gzip. */
function ordinary(content: ReadonlyMap<string, string>, clock: Clock, path: string): Answer {
  const text = content.get(path)
  if (text === undefined) return notFound
  return async (request, response) => {
    await clock.sleep(4 + (path.length % 12))
    const packs = path.length % 3 === 0 && String(request.headers['accept-encoding'] ?? '').includes('gzip')
    const body = packs ? gzipSync(text) : Buffer.from(text)
    send(response, { status: 200, body, headers: packs ? { 'content-encoding': 'gzip' } : {} })
  }
}

const notFound: Answer = (request, response) => {
  const body = page({ title: 'Not found', path: request.url ?? '/', body: prose(9, 1) })
  send(response, { status: 404, body: Buffer.from(body) })
}

interface Sent {
  readonly status: number
  readonly body?: Buffer
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

function send(response: ServerResponse, { status, body, type, headers }: Sent): void {
  const length = { 'content-length': String(body?.length ?? 0) }
  response.writeHead(status, { 'content-type': type ?? 'text/html; charset=utf-8', ...length, ...headers })
  response.end(body)
}

const redirect =
  (status: number, location: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    send(response, { status, headers: { location, ...headers } })
  }

const plain =
  (text: string, type: string): Answer =>
  (_, response) => {
    send(response, { status: 200, body: Buffer.from(text), type })
  }

function createSpecials(content: ReadonlyMap<string, string>, clock: Clock): ReadonlyMap<string, Answer> {
  let shaky = 0
  const show =
    (path: string): Answer =>
    (_, response) => {
      send(response, { status: 200, body: Buffer.from(content.get(path) ?? '') })
    }
  return new Map<string, Answer>([
    ['/robots.txt', (request, response) => plain(robotsOf(originOf(request)), 'text/plain')(request, response)],
    ['/sitemap.xml', (request, response) => plain(sitemapOf(request, content), 'application/xml')(request, response)],
    ['/assets/site.css', plain('body{font:16px/1.5 Georgia,serif;max-width:44em;margin:auto}', 'text/css')],
    ['/old-shop', redirect(301, '/old-shop/')],
    ['/old-shop/', redirect(302, '/shop/')],
    ['/round/1', redirect(302, '/round/2')],
    ['/round/2', redirect(302, '/round/1')],
    [
      '/welcome',
      (request, response) => {
        const known = String(request.headers.cookie ?? '').includes('visitor=yes')
        const answer = known ? show('/welcome') : redirect(302, '/welcome', { 'set-cookie': 'visitor=yes; Path=/' })
        return answer(request, response)
      },
    ],
    [
      '/slow',
      async (request, response) => {
        await clock.sleep(SLOW_MS)
        return show('/slow')(request, response)
      },
    ],
    [
      '/shaky',
      (request, response) => {
        shaky += 1
        if (shaky > 1) return show('/shaky')(request, response)
        send(response, { status: 500, body: Buffer.from('try again') })
      },
    ],
    [
      '/ru/',
      (_, response) => {
        send(response, { status: 200, body: cyrillicPage(), type: 'text/html' })
      },
    ],
  ])
}

const originOf = (request: IncomingMessage): string => `http://${request.headers.host ?? '127.0.0.1'}`

/** The chief pages, and one that nothing else links to. */
function sitemapOf(request: IncomingMessage, content: ReadonlyMap<string, string>): string {
  const origin = originOf(request)
  const paths = [...content.keys()].filter((path) => !path.includes('?') && !path.startsWith('/private'))
  const urls = paths.map((path) => `<url><loc>${origin}${path}</loc><lastmod>2025-11-02</lastmod></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`
}
