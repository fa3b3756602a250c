import zlib from 'node:zlib'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FAILURE_CLASSES } from '../../src/core/outcome.ts'
import { openHttpFetcher } from '../../src/fetch/http/fetcher.ts'
import { startRawServer } from '../integration/fetch/raw-server.ts'

const page = '<title>t</title><a href="/x">x</a>'
const gz = zlib.gzipSync(page).toString('latin1')
const ANSWERS: readonly string[] = [
  `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${page.length.toString(16)}\r\n${page}\r\n0\r\n\r\n`,
  `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gz.length}\r\n\r\n${gz}`,
  `HTTP/1.1 302 Found\r\nLocation: /y\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n`,
  `HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n`,
]

interface Edit {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

const piece = fc.oneof(
  fc.constantFrom(
    '\r\n',
    '\r\n\r\n',
    '\n',
    ':',
    ' ',
    '\0',
    'Content-Length: 9',
    'HTTP/1.1 200 OK\r\n',
    'ffffffff',
    '0\r\n\r\n',
  ),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 8 }),
)
const edit: fc.Arbitrary<Edit> = fc.record({ at: fc.nat(200), remove: fc.nat(6), insert: piece })

function mutate(text: string, edits: readonly Edit[]): string {
  let out = text
  for (const { at, remove, insert } of edits) {
    const from = at % (out.length + 1)
    out = out.slice(0, from) + insert + out.slice(from + remove)
  }
  return out
}

describe('the fetcher against a server that sends mutated bytes', () => {
  it('always ends in a response or a failure of a known class, and goes on working', async () => {
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
        fc.array(edit, { minLength: 0, maxLength: 4 }),
        fc.integer({ min: 1, max: 9 }),
        async (...[answer, edits, cuts]) => {
          next = mutate(answer, edits)
          pieces = cuts
          const result = await fetcher.fetch({ url: server.url, allowPrivate: true })
          if (result.kind === 'failure') expect(classes.has(result.failure)).toBe(true)
          else expect(result.body.length).toBeLessThanOrEqual(10_000)
        },
      ),
      { numRuns: 400 },
    )
    next = ANSWERS[0] ?? ''
    expect(await fetcher.fetch({ url: server.url, allowPrivate: true })).toMatchObject({
      kind: 'response',
      status: 200,
    })
    await fetcher.close()
  })
})
