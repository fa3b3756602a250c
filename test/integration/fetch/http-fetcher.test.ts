import zlib from 'node:zlib'

import { afterEach, describe, expect, it } from 'vitest'

import { closeAll, failureOf, open, raw, response, serve, text } from './kit.ts'
import { startRawServer } from './raw-server.ts'

afterEach(closeAll)

describe('an answer', () => {
  it('comes with status, headers in wire order and lower case, body, bytes and address', async () => {
    const result = response(
      await raw(
        'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-Caf\xe9: no\r\nset-cookie: b=\xe9\r\nContent-Length: 5\r\n\r\nhello',
      ),
    )
    expect(result.status).toBe(200)
    expect(result.headers).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=\xe9'],
      ['content-length', '5'],
    ])
    expect(Buffer.from(result.body).toString()).toBe('hello')
    expect(result.wireBytes).toBe(5)
    expect(result.remoteAddress).toBe('127.0.0.1')
    expect(result.truncated).toBe(false)
  })

  it('is told apart from an answer that only the end of the connection ends', async () => {
    expect(text(await raw('HTTP/1.0 200 OK\r\n\r\nuntil the end'))).toBe('until the end')
  })

  it.each([
    ['a line without a colon', 'Welcome to my server!\r\nContent-Length: 2\r\n'],
    ['an empty name', ': empty\r\nContent-Length: 2\r\n'],
    ['control characters', 'X-Bin: \x01\x02\r\nContent-Length: 2\r\n'],
    ['a blank before the colon', 'Content-Length : 2\r\n'],
    ['equal lengths twice', 'Content-Length: 2\r\nContent-Length: 2\r\n'],
    ['equal lengths in one field', 'Content-Length: 2, 2\r\n'],
    ['a folded field', 'X-A: b\r\n c\r\nContent-Length: 2\r\n'],
    ['a length that is none', 'Content-Length: many\r\nConnection: close\r\n'],
    ['a NUL', 'X-Nul: a\0b\r\nContent-Length: 2\r\n'],
  ])('with %s in its head is read as browsers do', async (_what, lines) => {
    expect(text(await raw(`HTTP/1.1 200 OK\r\n${lines}\r\nok`))).toBe('ok')
  })

  it.each([
    'HTTP/1.1 200',
    'HTTP/1.1  200  OK',
    'ICY 200 OK',
    'http/1.1 200 ok',
    '\r\nHTTP/1.1 200 OK',
    'HTTP/1.1 200 \xe9\x01',
  ])('with the status line %j is understood', async (line) => {
    expect(text(await raw(`${line}\r\nContent-Length: 2\r\n\r\nok`))).toBe('ok')
  })

  it('with bare line feeds is understood', async () => {
    expect(text(await raw('HTTP/1.1 200 OK\nContent-Length: 2\n\nok'))).toBe('ok')
  })

  it('keeps a status beyond 599', async () => {
    expect(response(await raw('HTTP/1.1 999 Request denied\r\nContent-Length: 2\r\n\r\nno')).status).toBe(999)
  })

  it('comes after any interim answers', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n'
    expect(text(await raw(`${interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`))).toBe('ok')
  })

  it.each([
    [204, 'Content-Length: 10\r\n'],
    [304, 'Content-Length: 10\r\n'],
    [205, 'Content-Length: 0\r\n'],
  ])('of status %i has no body whatever length it claims', async (status, lines) => {
    const result = response(await raw(`HTTP/1.1 ${status} x\r\n${lines}\r\n`, { keep: true }))
    expect([result.status, result.body.length]).toEqual([status, 0])
  })

  it('to HEAD has no body', async () => {
    const result = response(
      await raw('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n', { keep: true, request: { method: 'HEAD' } }),
    )
    expect(result.body.length).toBe(0)
  })

  it('that comes byte by byte is put together', async () => {
    await using server = await startRawServer(({ socket }) => {
      const bytes = Buffer.from('HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\nhello')
      let at = 0
      const next = (): void => {
        if (at < bytes.length) socket.write(bytes.subarray(at, ++at), () => setImmediate(next))
      }
      next()
    })
    expect(text(await open().fetch({ url: server.url, allowPrivate: true }))).toBe('hello')
  })
})

describe('a cut or broken answer', () => {
  it.each([
    ['a body shorter than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf', 'incomplete'],
    [
      'a chunked body without its last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      'incomplete',
    ],
    ['a chunked body cut in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf', 'incomplete'],
    [
      'a chunk size that is none',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n',
      'protocol',
    ],
    [
      'a chunk size without end',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello',
      'protocol',
    ],
    ['a head without end', 'HTTP/1.1 200 OK\r\nX: y', 'incomplete'],
    ['no head at all', '<html>hello</html>', 'protocol'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 'protocol'],
    ['two different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk', 'protocol'],
    [
      'an upgrade that nobody asked for',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'protocol',
    ],
    ['nothing', '', 'reset'],
  ])('%s is a failure', async (_what, answer, failure) => {
    expect(failureOf(await raw(answer)).failure).toBe(failure)
  })

  it('reset in the middle of a body that only its end ends is not whole', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart', () => {
        setTimeout(() => socket.resetAndDestroy(), 50)
      })
    })
    expect(failureOf(await open().fetch({ url: server.url, allowPrivate: true })).failure).toMatch(
      /^(?:incomplete|reset)$/,
    )
  })

  it('of a head without end is given up at the bound', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const line = `X-Pad: ${'p'.repeat(8000)}\r\n`
      const more = (): void => {
        if (!socket.destroyed) socket.write(line, more)
      }
      more()
    })
    const result = failureOf(await open().fetch({ url: server.url, allowPrivate: true }))
    expect([result.failure, result.error]).toEqual(['protocol', 'expected a head of at most 262144 bytes, found more'])
  })

  it('accepts a head of 100 KB', async () => {
    const pad = `X-Pad: ${'p'.repeat(100_000)}\r\n`
    expect(text(await raw(`HTTP/1.1 200 OK\r\n${pad}Content-Length: 2\r\n\r\nok`))).toBe('ok')
  })

  it('never lends its surplus to the next request', async () => {
    const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
    await using server = await startRawServer(({ socket, index }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n${index === 0 ? `good${evil}` : 'next'}`)
    })
    const fetcher = open()
    expect(text(await fetcher.fetch({ url: server.url, allowPrivate: true }))).toBe('good')
    expect(text(await fetcher.fetch({ url: server.url, allowPrivate: true }))).toBe('next')
  })
})

function body(length: number): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`
}

describe('limits', () => {
  it('let a body of exactly the limit pass and refuse one byte more', async () => {
    expect(response(await raw(body(1000), { request: { maxBodyBytes: 1000 } })).body.length).toBe(1000)
    expect(failureOf(await raw(body(1001), { request: { maxBodyBytes: 1000 } })).failure).toBe('too-large')
  })

  it('refuse a length beyond them before the body comes', async () => {
    const result = failureOf(await raw('HTTP/1.1 200 OK\r\nContent-Length: 32212254720\r\n\r\n', { keep: true }))
    expect([result.failure, result.status, result.wireBytes]).toEqual(['too-large', 200, 0])
  })

  it('end a body without end', async () => {
    await using server = await serve((_request, answer) => {
      const more = (): void => {
        if (!answer.destroyed) answer.write(Buffer.alloc(65_536), more)
      }
      more()
    })
    const result = failureOf(await open().fetch({ url: server.url + '/', allowPrivate: true, maxBodyBytes: 1_000_000 }))
    expect(result.failure).toBe('too-large')
    expect(result.wireBytes).toBeLessThan(2_000_000)
  })

  it('keep the first bytes without a failure when asked to', async () => {
    const result = response(await raw(body(5000), { request: { truncateAtBytes: 100 } }))
    expect([result.body.length, result.truncated]).toEqual([100, true])
    const whole = response(await raw(body(100), { request: { truncateAtBytes: 100 } }))
    expect([whole.body.length, whole.truncated]).toEqual([100, false])
  })

  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } })],
  ])('stop a bomb of %s', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(60_000_000))
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bomb.length}\r\n\r\n`)
    const result = failureOf(await raw(Buffer.concat([head, bomb]), { request: { maxBodyBytes: 5_000_000 } }))
    expect(result.failure).toBe('too-large')
  })

  it('end the whole exchange at the time-out, however many bytes drip in', async () => {
    await using server = await startRawServer(({ socket, head }) => {
      socket.write(head.includes('/body') ? 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n' : 'HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write(head.includes('/body') ? 'x' : 'X-A: b\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const fetcher = open({ timeoutMs: 300 })
    const all = ['body', 'head'].map((path) => fetcher.fetch({ url: server.url + path, allowPrivate: true }))
    for (const result of await Promise.all(all)) expect(failureOf(result).failure).toBe('timeout')
    await expect.poll(() => server.open()).toBe(0)
  })

  it('end it when no byte came for the idle time-out', async () => {
    const result = await raw('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx', {
      keep: true,
      fetcher: { idleTimeoutMs: 100 },
    })
    expect(failureOf(result)).toMatchObject({ failure: 'timeout', error: expect.stringContaining('idle') as string })
  })

  it('hold before a connection is there', async () => {
    const stuck = { resolve: () => new Promise<readonly string[]>(() => {}) }
    const fetcher = open({ resolver: stuck, connectTimeoutMs: 100 })
    expect(failureOf(await fetcher.fetch({ url: 'http://slow.test/' }))).toMatchObject({ failure: 'timeout' })
    const whole = open({ resolver: stuck, timeoutMs: 100 })
    expect(failureOf(await whole.fetch({ url: 'http://slow.test/' }))).toMatchObject({ failure: 'timeout' })
  })
})

describe('a request', () => {
  it('carries the host with its port, the agent, our defaults, and what the caller gives over them', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const fetcher = open({ userAgent: 'Probe/2.0', headers: { 'x-one': '1', 'Accept-Language': 'de' } })
    const url = `http://user:p%40ss@127.0.0.1:${server.port}/a?b=c#frag`
    response(await fetcher.fetch({ url, allowPrivate: true, headers: { accept: 'text/plain', cookie: 'a=b' } }))
    const lines = (server.requests[0] ?? '').split('\r\n')
    expect(lines[0]).toBe('GET /a?b=c HTTP/1.1')
    expect(lines).toEqual(
      expect.arrayContaining([
        `host: 127.0.0.1:${server.port}`,
        'User-Agent: Probe/2.0',
        'X-One: 1',
        'Accept-Language: de',
        'Accept: text/plain',
        'Cookie: a=b',
        `Authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}`,
      ]),
    )
    expect(lines.filter((line) => /^accept:/i.test(line))).toHaveLength(1)
  })

  it('keeps the brackets of an IPv6 literal and follows connect-to rules', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const fetcher = open({ connectTo: [`::127.0.0.1:${server.port}`] })
    response(await fetcher.fetch({ url: 'http://[2606:4700::1]/' }))
    expect(server.requests[0]).toContain('host: [2606:4700::1]\r\n')
  })

  it.each(['bad\nvalue', 'caf\u2603'])('with the header value %j is refused before it is sent', async (value) => {
    const result = await raw('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', { request: { headers: { 'x-a': value } } })
    expect(failureOf(result).failure).toBe('protocol')
  })
})

describe('the guard', () => {
  it('refuses private addresses however they are reached, and lets the user choose', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const fetcher = open({
      connectTo: [`chosen.test::127.0.0.1:${server.port}`],
      resolver: { resolve: async () => ['127.0.0.1'] },
    })
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:7f00:1]', 'rebound.test']) {
      // oxlint-disable-next-line no-await-in-loop -- a few
      const result = failureOf(await fetcher.fetch({ url: `http://${host}:${server.port}/` }))
      expect([host, result.guarded, result.failure]).toEqual([host, true, 'connect'])
    }
    response(await fetcher.fetch({ url: 'http://chosen.test/' }))
    expect(server.requests).toHaveLength(1)
  })

  it('does not lend a connection that was allowed to a request that is not', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    const fetcher = open()
    response(await fetcher.fetch({ url: server.url, allowPrivate: true }))
    expect(failureOf(await fetcher.fetch({ url: server.url })).guarded).toBe(true)
  })
})

describe('a host that cannot be reached', () => {
  it('is a failure of class connect when it refuses', async () => {
    const server = await startRawServer(() => {})
    await server[Symbol.asyncDispose]()
    const result = failureOf(await open().fetch({ url: server.url, allowPrivate: true }))
    expect([result.failure, result.error]).toEqual(['connect', 'the connection was refused (ECONNREFUSED)'])
  })

  it('is a failure of class dns when its name does not resolve', async () => {
    const missing = Object.assign(new Error('x'), { code: 'ENOTFOUND' })
    const fetcher = open({ resolver: { resolve: async () => await Promise.reject(missing) } })
    expect(failureOf(await fetcher.fetch({ url: 'http://nowhere.test/' })).failure).toBe('dns')
  })
})
