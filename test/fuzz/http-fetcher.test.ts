import zlib from 'node:zlib'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FAILURE_CLASSES } from '../../src/core/outcome.ts'
import { openHttpFetcher } from '../../src/fetch/http/fetcher.ts'
import { startRawServer } from '../integration/fetch/raw-server.ts'
import { fuzzBudget } from './budget.ts'
import { edits, mutate } from './mutate.ts'

const page = '<title>t</title><a href="/x">x</a>'
const gz = zlib.gzipSync(page).toString('latin1')
const ANSWERS: readonly string[] = [
  `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${page.length.toString(16)}\r\n${page}\r\n0\r\n\r\n`,
  `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gz.length}\r\n\r\n${gz}`,
  `HTTP/1.1 302 Found\r\nLocation: /y\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n`,
  `HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n`,
]

const { parameters, timeoutMs } = fuzzBudget('damaged answers', 0.15)

describe('the fetcher against a server that sends mutated bytes', () => {
  it(
    'always ends in a response or a failure of a known class, and goes on working',
    { timeout: timeoutMs },
    async () => {
      let next = ''
      let pieces = 1
      await using server = await startRawServer(({ socket }) => {
        const bytes = Buffer.from(next, 'latin1')
        const size = Math.max(1, Math.ceil(bytes.length / pieces))
        for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size))
        socket.end()
      })
      const fetcher = openHttpFetcher({ userAgent: 'spoor/0', timeoutMs: 2000, maxBodyBytes: 10_000 })
      const classes: ReadonlySet<string> = new Set(FAILURE_CLASSES)
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...ANSWERS),
          edits,
          fc.integer({ min: 1, max: 9 }),
          async (...[answer, list, cuts]) => {
            next = mutate(answer, list)
            pieces = cuts
            const result = await fetcher.fetch({ url: server.url, allowPrivate: true })
            if (result.kind === 'failure') expect(classes.has(result.failure)).toBe(true)
            else expect(result.body.length).toBeLessThanOrEqual(10_000)
          },
        ),
        parameters,
      )
      next = ANSWERS[0] ?? ''
      expect(await fetcher.fetch({ url: server.url, allowPrivate: true })).toMatchObject({
        kind: 'response',
        status: 200,
      })
      await fetcher.close()
    },
  )
})
