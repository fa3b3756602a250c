import https from 'node:https'
import type { AddressInfo } from 'node:net'

import { afterEach, describe, expect, it } from 'vitest'

import { TEST_CERTIFICATE, TEST_KEY } from './certificate.ts'
import { closeAll, failureOf, open, response, text } from './kit.ts'
import { startHttpProxy, startSocksProxy } from './proxy-server.ts'
import { startRawServer, type RawServer } from './raw-server.ts'

afterEach(closeAll)

async function origin(): Promise<RawServer> {
  return await startRawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  })
}

async function secureOrigin(): Promise<AsyncDisposable & { readonly port: number; readonly headers: string[] }> {
  const headers: string[] = []
  const server = https.createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, answer) => {
    headers.push(...Object.keys(request.headers))
    answer.end('secure')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    headers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function through(port: number): ReturnType<typeof open> {
  return open({ proxies: [`http://user:p%40ss@127.0.0.1:${port}`], insecure: true })
}

async function refusalOf(proxy: string): Promise<readonly string[]> {
  const { failure, error } = failureOf(await open({ proxies: [proxy] }).fetch({ url: 'http://site.test/' }))
  return [failure, error.replace(/^.*:\d+ /, '')]
}

describe('an HTTP proxy', () => {
  it('gets http in absolute form and https through CONNECT, with its credentials, which the origin never sees', async () => {
    await using plain = await origin()
    await using secure = await secureOrigin()
    await using first = await startHttpProxy({ to: plain.port, auth: 'user:p@ss' })
    await using second = await startHttpProxy({ to: secure.port, auth: 'user:p@ss' })
    expect(text(await through(first.port).fetch({ url: 'http://site.test/q?a=1' }))).toBe('ok')
    expect(text(await through(second.port).fetch({ url: 'https://site.test/' }))).toBe('secure')
    expect([first.asked, second.asked]).toEqual([['GET http://site.test/q?a=1'], ['CONNECT site.test:443']])
    expect(plain.requests.join()).not.toMatch(/proxy-auth/i)
    expect(plain.requests.join()).toContain('host: site.test')
    expect(secure.headers).not.toContain('proxy-authorization')
  })

  it('that wants a password is a failure of class proxy that says so, over http and https', async () => {
    await using plain = await origin()
    await using proxy = await startHttpProxy({ to: plain.port, auth: 'user:pass' })
    const fetcher = open({ proxies: [`http://127.0.0.1:${proxy.port}`], insecure: true })
    for (const url of ['http://site.test/', 'https://site.test/']) {
      // oxlint-disable-next-line no-await-in-loop -- two
      const result = failureOf(await fetcher.fetch({ url }))
      expect([result.failure, result.error]).toEqual([
        'proxy',
        `the proxy http://127.0.0.1:${proxy.port} wants a user and a password (407)`,
      ])
    }
    const wrong = open({ proxies: [`http://user:secret@127.0.0.1:${proxy.port}`], insecure: true })
    const result = failureOf(await wrong.fetch({ url: 'https://site.test/' }))
    expect(result.error).toContain('refused the user and password given (407)')
    expect(result.error).not.toContain('secret')
    expect(plain.requests).toEqual([])
  })

  it('that cannot reach the host is no failure of its own', async () => {
    await using proxy = await startHttpProxy({ to: 1, status: 502 })
    const result = failureOf(await open({ proxies: [`127.0.0.1:${proxy.port}`] }).fetch({ url: 'https://site.test/' }))
    expect([result.failure, result.error]).toEqual(['connect', expect.stringContaining('answered CONNECT with 502')])
  })

  it('that is down is passed over, and failing alone it is named', async () => {
    await using plain = await origin()
    await using alive = await startHttpProxy({ to: plain.port })
    const gone = await startHttpProxy({ to: plain.port })
    await gone[Symbol.asyncDispose]()
    const both = open({ proxies: [`127.0.0.1:${gone.port}`, `127.0.0.1:${alive.port}`] })
    for (let at = 0; at < 6; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      response(await both.fetch({ url: `http://site.test/${at}` }))
    }
    expect(alive.asked).toHaveLength(6)
    const alone = failureOf(await open({ proxies: [`127.0.0.1:${gone.port}`] }).fetch({ url: 'http://site.test/' }))
    expect([alone.failure, alone.error]).toEqual(['proxy', expect.stringContaining(`http://127.0.0.1:${gone.port}`)])
  })

  it('does not lead around the guard', async () => {
    await using plain = await origin()
    await using proxy = await startHttpProxy({ to: plain.port })
    const fetcher = open({ proxies: [`127.0.0.1:${proxy.port}`] })
    for (const host of ['127.0.0.1', 'metadata.google.internal', '169.254.169.254']) {
      // oxlint-disable-next-line no-await-in-loop -- three
      expect(failureOf(await fetcher.fetch({ url: `http://${host}/` })).guarded).toBe(true)
    }
    expect(proxy.asked).toEqual([])
  })
})

describe('a SOCKS5 proxy', () => {
  it('carries http and https with a password and gets the name to resolve', async () => {
    await using plain = await origin()
    await using secure = await secureOrigin()
    await using first = await startSocksProxy({ to: plain.port, auth: 'user:pass' })
    await using second = await startSocksProxy({ to: secure.port })
    const fetcher = open({ proxies: [`socks5://user:pass@127.0.0.1:${first.port}`] })
    expect(text(await fetcher.fetch({ url: 'http://site.test/' }))).toBe('ok')
    expect(text(await fetcher.fetch({ url: 'http://[2606:4700::1]:81/' }))).toBe('ok')
    const other = open({ proxies: [`socks5://127.0.0.1:${second.port}`], insecure: true })
    expect(text(await other.fetch({ url: 'https://site.test/' }))).toBe('secure')
    expect([first.asked, second.asked]).toEqual([['SOCKS site.test:80', 'SOCKS type 4:81'], ['SOCKS site.test:443']])
  })

  it('that refuses is a failure that says whose', async () => {
    await using closed = await startSocksProxy({ to: 1, auth: 'user:pass' })
    await using unreached = await startSocksProxy({ to: 1, reply: 5 })
    expect(await refusalOf(`socks5://127.0.0.1:${closed.port}`)).toEqual(['proxy', 'wants a user and a password (407)'])
    expect(await refusalOf(`socks5://u:x@127.0.0.1:${closed.port}`)).toEqual([
      'proxy',
      'refused the user and password given (407)',
    ])
    expect(await refusalOf(`socks5://127.0.0.1:${unreached.port}`)).toEqual([
      'connect',
      'answered: the connection was refused',
    ])
  })

  it('that speaks something else, or nothing, ends within the connect time-out', async () => {
    await using odd = await startRawServer(() => {})
    const fetcher = open({ proxies: [`socks5://127.0.0.1:${odd.port}`], connectTimeoutMs: 100 })
    expect(failureOf(await fetcher.fetch({ url: 'http://site.test/' })).failure).toMatch(/^(?:timeout|proxy)$/)
    await expect.poll(() => odd.open()).toBe(0)
  })
})
