import { afterEach, describe, expect, it } from 'vitest'

import { closeAll, failureOf, open, response, text } from './kit.ts'
import { startRawServer, type RawExchange } from './raw-server.ts'

afterEach(closeAll)

function page(index: number): string {
  return String(index).repeat(200)
}

describe('connections', () => {
  it('are used again', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const fetcher = open()
    for (let at = 0; at < 20; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      response(await fetcher.fetch({ url: server.url, allowPrivate: true }))
    }
    expect([server.connections(), server.requests.length]).toEqual([1, 20])
  })

  it('carry nothing that may not be sent any more: asked when they are there, and again when one was lost', async () => {
    await using server = await startRawServer(({ socket, index }) => {
      if (index === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      else socket.destroy()
    })
    const fetcher = open()
    const asked: number[] = []
    const fetchAsLongAs = (isHeld: (time: number) => boolean): Promise<unknown> => {
      const hold = new AbortController()
      asked.push(0)
      const isStillHeld = (): boolean => {
        const time = (asked.pop() ?? 0) + 1
        asked.push(time)
        if (!isHeld(time)) hold.abort(new Error('no longer held'))
        return !hold.signal.aborted
      }
      return fetcher.fetch({ url: server.url, allowPrivate: true, signal: hold.signal, isStillHeld })
    }
    await expect(fetchAsLongAs(() => false)).rejects.toThrow('no longer held')
    expect(server.requests.length).toBe(0)
    await fetchAsLongAs(() => true)
    // lost on a connection that was used before: repeated once, if it may
    await expect(fetchAsLongAs((time) => time === 1)).rejects.toThrow('no longer held')
    expect(server.requests.length).toBe(2)
    expect(asked).toEqual([1, 1, 2])
  })

  it('are as many as there are requests at once', async () => {
    const waiting: RawExchange[] = []
    await using server = await startRawServer((exchange) => {
      waiting.push(exchange)
      if (waiting.length < 12) return
      for (const { socket } of waiting) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const fetcher = open()
    const all = Array.from({ length: 12 }, () => fetcher.fetch({ url: server.url, allowPrivate: true }))
    for (const result of await Promise.all(all)) response(result)
    expect(server.connections()).toBe(12)
  })

  it('used again do not change the pages of before, however heads and bodies were split', async () => {
    await using server = await startRawServer(({ socket, index }) => {
      socket.write('HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nX: y', () => {
        setTimeout(() => socket.write(`\r\nContent-Length: 200\r\n\r\n${page(index)}`), 5)
      })
    })
    const fetcher = open()
    const bodies: Uint8Array[] = []
    for (let at = 0; at < 4; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      bodies.push(response(await fetcher.fetch({ url: server.url, allowPrivate: true })).body)
    }
    expect(server.connections()).toBe(1)
    expect(bodies.map((body) => Buffer.from(body).toString())).toEqual([0, 1, 2, 3].map(page))
  })

  it('try the next address when one refuses', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const fetcher = open({ resolver: { resolve: async () => ['127.0.0.3', '::1', '127.0.0.2', '127.0.0.1'] } })
    const result = response(await fetcher.fetch({ url: `http://many.test:${server.port}/`, allowPrivate: true }))
    expect(result.remoteAddress).toBe('127.0.0.1')
  })

  it('that are lost between two requests cost nobody a try', async () => {
    await using server = await startRawServer(({ socket, onConnection }) => {
      if (onConnection === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      else socket.resetAndDestroy()
    })
    const fetcher = open()
    for (let at = 0; at < 5; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      expect(text(await fetcher.fetch({ url: server.url, allowPrivate: true }))).toBe('ok')
    }
  })

  it('lost unused under a POST are told to the caller and not repeated', async () => {
    await using server = await startRawServer(({ socket, onConnection }) => {
      if (onConnection === 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      else socket.resetAndDestroy()
    })
    const fetcher = open()
    response(await fetcher.fetch({ url: server.url, allowPrivate: true }))
    const result = await fetcher.fetch({ url: server.url, allowPrivate: true, method: 'POST', body: 'x' })
    expect(failureOf(result)).toMatchObject({ failure: 'reset', unsent: true })
  })

  it('of idle origins are bounded', async () => {
    await using server = await startRawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const fetcher = open({
      maxIdleOrigins: 4,
      connectTo: [`:::${server.port}`],
      resolver: { resolve: async () => ['127.0.0.1'] },
    })
    for (let at = 0; at < 30; at++) {
      // oxlint-disable-next-line no-await-in-loop -- in turn is the point
      response(await fetcher.fetch({ url: `http://h${at}.test/`, allowPrivate: true }))
    }
    expect(fetcher.originCount()).toBe(4)
    await expect.poll(() => server.open()).toBe(4)
  })

  it('are not left behind by a signal, which rejects with its reason', async () => {
    await using server = await startRawServer(() => {})
    const fetcher = open()
    const stop = new AbortController()
    const all = Array.from({ length: 20 }, () =>
      fetcher.fetch({ url: server.url, allowPrivate: true, signal: stop.signal }),
    )
    await expect.poll(() => server.requests.length).toBe(20)
    stop.abort(new Error('enough'))
    for (const each of await Promise.allSettled(all)) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'enough' } })
    }
    await expect.poll(() => server.open()).toBe(0)
    expect(fetcher.originCount()).toBe(0)
    await expect(fetcher.fetch({ url: server.url, allowPrivate: true, signal: stop.signal })).rejects.toThrow('enough')
  })
})
