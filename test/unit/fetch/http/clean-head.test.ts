import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { cleanHead } from '../../../../src/fetch/http/clean-head.ts'

const final = (head: string): string => {
  const clean = cleanHead(head)
  return clean.kind === 'final' ? clean.head : clean.kind
}

describe('a head', () => {
  it('without anything to mend is left as it is', () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\nX-Caf: \xe9\r\n\r\n'
    expect(final(head)).toBe(head)
  })

  it.each([
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    ],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nnonsense\r\nA : b\r\n  folded\r\n\r\n', 'HTTP/1.1 200 OK\r\nA: b folded\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01b\r\nX: a\x01b\r\n\r\n', 'HTTP/1.1 200 OK\r\nX: ab\r\n\r\n'],
    ['HTTP/2.0 200\n\n', 'HTTP/1.1 200 \r\n\r\n'],
    ['ICY 200 OK\r\n\r\n', 'HTTP/1.0 200 OK\r\n\r\n'],
    [
      'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Headers: Content-Length\r\nContent-Length: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Headers: Content-Length\r\nContent-Length: 5\r\n\r\n',
    ],
    ['HTTP/1.1 103 Early\r\nLink: x\r\n\r\n', 'interim'],
    ['HTTP/1.1 101 Switch\r\n\r\n', 'broken'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'broken'],
    ['HTTP/1.1 2000 OK\r\n\r\n', 'broken'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n', 'broken'],
  ])('%j becomes %j', (head, wanted) => {
    expect(final(head)).toBe(wanted)
  })

  it('once mended is clean, whatever bytes it was made of', () => {
    const bytes = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\r\n', ': ', 'Content-Length', '5', 'chunked', 'Transfer-Encoding', ' ', '\n'),
        fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      ),
    })
    fc.assert(
      fc.property(bytes, (text) => {
        const once = cleanHead(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`)
        if (once.kind !== 'final') return
        expect(cleanHead(once.head)).toEqual(once)
        expect(once.head.endsWith('\r\n\r\n')).toBe(true)
      }),
    )
  })

  it('of a quarter of a megabyte is mended in linear time', () => {
    for (const line of [
      'a:'.repeat(131_000),
      ' x\r\n'.repeat(65_000),
      'A: \x01\r\n'.repeat(43_000),
      'Content-Length: 5\r\n'.repeat(13_000),
    ]) {
      expect(final(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`)).toMatch(/^HTTP/)
    }
  })
})
