import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'

import { afterEach, describe, expect, it } from 'vitest'

import type { WireStep } from '../../../src/fetch/contract.ts'
import { TEST_CERTIFICATE, TEST_KEY } from './certificate.ts'
import { closeAll, failureOf, open, response, text } from './kit.ts'

afterEach(closeAll)

const KEYS = { key: TEST_KEY, cert: TEST_CERTIFICATE }

interface SecureServer extends AsyncDisposable {
  readonly port: number
  readonly names: (string | false)[]
  readonly versions: string[]
  readonly sessions: () => number
}

async function serveSecure(allowHttp1And2 = false): Promise<SecureServer> {
  const names: (string | false)[] = []
  const versions: string[] = []
  const sockets = new Set<TLSSocket>()
  const server = allowHttp1And2
    ? http2.createSecureServer({ ...KEYS, allowHTTP1: true }, (request, answer) => {
        versions.push(request.httpVersion)
        answer.end('ok')
      })
    : https.createServer(KEYS, (request, answer) => {
        versions.push(request.httpVersion)
        answer.end('ok')
      })
  let sessions = 0
  server.on('secureConnection', (socket: TLSSocket) => {
    sessions++
    names.push((socket as { servername?: string | false }).servername ?? false)
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    names,
    versions,
    sessions: () => sessions,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

describe('TLS', () => {
  it('tells of each step what was agreed upon, and who the server says it is', async () => {
    await using server = await serveSecure()
    const steps: WireStep[] = []
    const fetcher = open({
      insecure: true,
      connectTo: [`::127.0.0.1:${server.port}`],
      onStep: (step) => steps.push(step),
    })
    expect(text(await fetcher.fetch({ url: `https://example.test:${server.port}/x`, allowPrivate: true }))).toBe('ok')
    expect(steps).toMatchObject([
      { kind: 'connect', address: '127.0.0.1', port: server.port },
      {
        kind: 'tls',
        host: 'example.test',
        protocol: 'TLSv1.3',
        alpn: 'http/1.1',
        resumed: false,
        verified: false,
        certificate: {
          subject: expect.stringMatching(/./) as string,
          validTo: expect.stringMatching(/GMT$/) as string,
        },
      },
      { kind: 'request', method: 'GET', target: '/x' },
    ])
  })

  it('that cannot be trusted is a failure of class tls which says why', async () => {
    await using server = await serveSecure()
    const fetcher = open({ connectTo: [`::127.0.0.1:${server.port}`] })
    const result = failureOf(await fetcher.fetch({ url: 'https://site.test/' }))
    expect([result.failure, result.error]).toEqual([
      'tls',
      // later versions of Node.js add a hint in between
      expect.stringMatching(/self-signed certificate.* \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
    ])
    expect(server.versions).toEqual([])
  })

  it('is accepted from anyone with insecure, asks for the host of the URL, and keeps its connections', async () => {
    await using server = await serveSecure()
    const fetcher = open({ insecure: true, connectTo: [`::127.0.0.1:${server.port}`] })
    for (const host of ['a.test', 'b.test', 'a.test']) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      expect(text(await fetcher.fetch({ url: `https://${host}/` }))).toBe('ok')
    }
    expect(server.names).toEqual(['a.test', 'b.test'])
  })

  it('is trusted by a further authority, for its names alone', async () => {
    await using server = await serveSecure()
    const folder = mkdtempSync(path.join(tmpdir(), 'spoor-ca-'))
    const caFile = path.join(folder, 'ca.pem')
    writeFileSync(caFile, TEST_CERTIFICATE)
    const fetcher = open({ caFile, connectTo: [`::127.0.0.1:${server.port}`] })
    expect(text(await fetcher.fetch({ url: 'https://www.site.test/' }))).toBe('ok')
    expect(text(await fetcher.fetch({ url: `https://127.0.0.1:${server.port}/`, allowPrivate: true }))).toBe('ok')
    expect(failureOf(await fetcher.fetch({ url: 'https://other.test/' })).failure).toBe('tls')
    rmSync(folder, { recursive: true })
  })

  it('needs a readable authority', () => {
    expect(() => open({ caFile: '/nonexistent.pem' })).toThrow('expected a readable PEM file')
  })

  it('spoken to a server that does not is a failure of class tls', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const fetcher = open({ insecure: true })
    expect(failureOf(await fetcher.fetch({ url: `https://127.0.0.1:${port}/`, allowPrivate: true })).failure).toBe(
      'tls',
    )
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
})

describe('HTTP/2', () => {
  it('is spoken when it is offered on both sides, many requests over one connection', async () => {
    await using server = await serveSecure(true)
    const fetcher = open({ insecure: true, http2: true })
    const url = `https://127.0.0.1:${server.port}/`
    expect(text(await fetcher.fetch({ url, allowPrivate: true }))).toBe('ok')
    const all = Array.from({ length: 20 }, () => fetcher.fetch({ url, allowPrivate: true }))
    for (const result of await Promise.all(all)) expect(text(result)).toBe('ok')
    expect([server.sessions(), new Set(server.versions)]).toEqual([1, new Set(['2.0'])])
  })

  it('is not offered by default, and a server without it is spoken to in HTTP/1.1', async () => {
    await using both = await serveSecure(true)
    response(await open({ insecure: true }).fetch({ url: `https://127.0.0.1:${both.port}/`, allowPrivate: true }))
    await using old = await serveSecure()
    response(
      await open({ insecure: true, http2: true }).fetch({ url: `https://127.0.0.1:${old.port}/`, allowPrivate: true }),
    )
    expect([both.versions, old.versions]).toEqual([['1.1'], ['1.1']])
  })

  it('that goes away between two requests costs nobody a try', async () => {
    const server = http2.createSecureServer(KEYS)
    const sessions: http2.ServerHttp2Session[] = []
    server.on('session', (session) => sessions.push(session))
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const fetcher = open({ insecure: true, http2: true })
    for (let at = 0; at < 3; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      expect(text(await fetcher.fetch({ url, allowPrivate: true }))).toBe('ok')
      for (const session of sessions) session.close()
    }
    await fetcher.close()
    for (const session of sessions) session.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
})
