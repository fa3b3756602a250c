import zlib from 'node:zlib'

import { afterEach, describe, expect, it } from 'vitest'

import type { FetchResult } from '../../../src/fetch/contract.ts'
import { closeAll, failureOf, raw, response, text } from './kit.ts'

afterEach(closeAll)

async function coded(coding: string, bytes: Buffer): Promise<FetchResult> {
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`
  return await raw(Buffer.concat([Buffer.from(head), bytes]))
}

describe('content codings', () => {
  const page = '<title>whole</title><a href="/x">x</a>'
  it.each([
    ['gzip', zlib.gzipSync(page)],
    ['x-gzip', zlib.gzipSync(page)],
    ['GZIP', zlib.gzipSync(page)],
    ['deflate', zlib.deflateSync(page)],
    ['deflate', zlib.deflateRawSync(page)],
    ['br', zlib.brotliCompressSync(page)],
    ['gzip, gzip', zlib.gzipSync(zlib.gzipSync(page))],
    ['gzip,br', zlib.brotliCompressSync(zlib.gzipSync(page))],
    ['none', Buffer.from(page)],
    ['', Buffer.from(page)],
    ['identity', Buffer.from(page)],
    ['gzip', Buffer.from(page)],
    ['deflate', Buffer.from(page)],
    ['br', Buffer.from(page)],
    ['gzip', Buffer.concat([zlib.gzipSync(page), Buffer.from('\r\n\0\0garbage')])],
    ['gzip', Buffer.concat([zlib.gzipSync(page.slice(0, 10)), zlib.gzipSync(page.slice(10))])],
  ])('%s is undone', async (coding, bytes) => {
    expect(text(await coded(coding, bytes))).toBe(page)
  })

  it('that cannot be undone fail the page', async () => {
    expect(failureOf(await coded('compress', Buffer.from('1f9d9018', 'hex'))).failure).toBe('decode')
  })

  it('cut short fail the page as incomplete', async () => {
    const bytes = zlib.gzipSync(page.repeat(50))
    expect(failureOf(await coded('gzip', bytes.subarray(0, bytes.length - 30))).failure).toBe('incomplete')
  })

  it('that are broken do not fail a redirect', async () => {
    const answer = 'HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Encoding: compress\r\nContent-Length: 4\r\n\r\nabcd'
    expect(response(await raw(answer)).status).toBe(302)
  })
})
