/** The test site does what its answers ask for, seen from a plain socket and from node's own client. */

import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../src/testing/fake-clock.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import type { TestSite } from '../../../src/testing/site.ts'

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly complete: boolean
}

function get(site: TestSite, path: string, host?: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host }
    const sent = request({ port: site.port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      const end = (): void => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
          complete: response.complete,
        })
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', end)
      response.on('end', end)
    })
    sent.on('error', reject)
    sent.end()
  })
}

function exchange(site: TestSite, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(site.port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: raw.test\r\n\r\n`)
    })
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => {
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
    socket.on('error', reject)
  })
}

describe('a test site', () => {
  it('answers by path, by prefix and by host, the narrowest first', async () => {
    await using site = await openTestSite({
      '/': { title: 'any' },
      '//a.test/': { title: 'only a' },
      '/shop/*': { title: 'shop' },
      '/shop/sale/*': { title: 'sale' },
      '/shop/one?x=1': { title: 'exact' },
      '*': { title: 'rest' },
    })
    const title = async (path: string, host?: string): Promise<string | undefined> =>
      /<title>(.*)<\/title>/.exec((await get(site, path, host)).body.toString())?.[1]
    expect(await title('/')).toBe('any')
    expect(await title('/', 'a.test')).toBe('only a')
    expect(await title('/', `A.test:${site.port}`)).toBe('only a')
    expect(await title('/shop/x')).toBe('shop')
    expect(await title('/shop/sale/x')).toBe('sale')
    expect(await title('/shop/one?x=1')).toBe('exact')
    expect(await title('/none', 'a.test')).toBe('rest')
  })

  it('answers 404 where no route fits', async () => {
    await using site = await openTestSite({ '//a.test/*': {} })
    expect((await get(site, '/', 'a.test')).status).toBe(200)
    expect((await get(site, '/', 'b.test')).status).toBe(404)
  })

  it('gives the answers of a list in turn and keeps the last', async () => {
    await using site = await openTestSite({ '/': [{ status: 500 }, { status: 503 }, { status: 200 }] })
    const statuses = []
    for (let i = 0; i < 4; i += 1) statuses.push((await get(site, '/')).status)
    expect(statuses).toEqual([500, 503, 200, 200])
  })

  it('logs each request with its host, its visit and how it ended', async () => {
    await using site = await openTestSite({ '/': { headers: { 'set-cookie': ['a=1', 'b=2'] } } })
    const received = await get(site, '/', 'log.test')
    expect(received.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(site.log).toHaveLength(1)
    expect(site.log[0]).toMatchObject({
      number: 1,
      visit: 1,
      host: 'log.test',
      path: '/',
      method: 'GET',
      hostInFlight: 1,
      connection: 1,
    })
    await expect.poll(() => site.log[0]?.ended).toBe('answered')
    expect(site.log[0]?.status).toBe(200)
    expect(site.requestsFor('//log.test/')).toHaveLength(1)
  })

  it('counts what is in flight for each host', async () => {
    await using site = await openTestSite({ '*': { fault: { kind: 'hang' } } })
    const pending = ['a.test', 'a.test', 'b.test'].map((host) => get(site, '/', host).catch(() => undefined))
    await site.waitForRequests(3)
    expect(site.log.filter(({ host }) => host === 'a.test').map((entry) => entry.hostInFlight)).toEqual([1, 2])
    expect(site.log.filter(({ host }) => host === 'b.test').map((entry) => entry.hostInFlight)).toEqual([1])
    expect(site.log[2]?.inFlight).toBe(3)
    await site.close()
    await Promise.all(pending)
    expect(site.log.every(({ ended }) => ended === 'broken')).toBe(true)
  })

  it('packs a body and says so', async () => {
    await using site = await openTestSite({ '/': { body: 'hello', encoding: 'gzip' } })
    const received = await get(site, '/')
    expect(received.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(received.body).toString()).toBe('hello')
  })

  it('cuts a body short although the head promises the whole', async () => {
    await using site = await openTestSite({ '/': { body: 'x'.repeat(100), fault: { kind: 'cut', afterBytes: 10 } } })
    const received = await get(site, '/')
    expect(received.headers['content-length']).toBe('100')
    expect(received.body).toHaveLength(10)
    expect(received.complete).toBe(false)
  })

  it('promises a false length', async () => {
    await using site = await openTestSite({ '/': { body: 'short', contentLength: 50 } })
    const received = await get(site, '/')
    expect(received.headers['content-length']).toBe('50')
    expect(received.body.toString()).toBe('short')
    expect(received.complete).toBe(false)
  })

  it.each(['reset', 'close'] as const)('ends the connection without an answer (%s)', async (kind) => {
    await using site = await openTestSite({ '/': { fault: { kind } } })
    await expect(get(site, '/')).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('sends raw bytes as they are', async () => {
    await using site = await openTestSite({ '/': { fault: { kind: 'raw', bytes: 'NONSENSE\r\n\r\n' } } })
    expect(await exchange(site, '/')).toBe('NONSENSE\r\n\r\n')
  })

  it('drips a body by its clock', async () => {
    const clock = createFakeClock()
    await using site = await openTestSite(
      { '/': { body: 'abcdef', fault: { kind: 'drip', chunkBytes: 2, everyMs: 1000 } } },
      { clock },
    )
    const pending = get(site, '/')
    await site.waitForRequests(1)
    for (let i = 0; i < 3; i += 1) {
      await expect.poll(() => clock.waiting).toBe(1)
      await clock.advance(1000)
    }
    expect((await pending).body.toString()).toBe('abcdef')
    expect(clock.monotonicMs()).toBe(3000)
  })

  it('sends without end until the reader leaves', async () => {
    await using site = await openTestSite({ '/': { body: 'x'.repeat(65_536), fault: { kind: 'endless' } } })
    await new Promise<void>((resolve) => {
      let received = 0
      const sent = request({ port: site.port, host: '127.0.0.1', path: '/' }, (response) => {
        response.on('data', (chunk: Buffer) => {
          received += chunk.byteLength
          if (received > 5_000_000) sent.destroy()
        })
        response.on('close', resolve)
        response.on('error', () => undefined)
      })
      sent.on('error', () => undefined)
      sent.end()
    })
    await expect.poll(() => site.log[0]?.ended).toBe('broken')
  })

  it('goes down and comes up again on its port', async () => {
    await using site = await openTestSite({ '/': {} })
    await get(site, '/')
    await site.goDown()
    await expect(get(site, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await site.comeUp()
    expect((await get(site, '/')).status).toBe(200)
  })

  it('stops waiting for requests when the signal aborts', async () => {
    await using site = await openTestSite({})
    await expect(site.waitForRequests(1, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})
