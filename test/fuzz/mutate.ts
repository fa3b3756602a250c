/** Damages texts as networks, servers and attackers do. */

import * as fc from 'fast-check'

export interface Edit {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

/** Pieces that mean something to one of the parsers. */
const TELLING = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  ':',
  ' ',
  '\0',
  '\x1f\x8b',
  '\xff\xfe',
  '%',
  '%25',
  '&',
  ';',
  '=',
  '"',
  "'",
  '<',
  '>',
  '<!--',
  '-->',
  '</',
  '<a href=',
  '<base href=//',
  '<script>',
  '<svg>',
  '<![CDATA[',
  '<meta http-equiv=refresh content="0;url=/r">',
  'Content-Length: 9\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Encoding: br\r\n',
  'Content-Encoding: gzip, gzip, deflate\r\n',
  'Location: //[\r\n',
  'Location: /p1\r\n',
  'Set-Cookie: a=b; Domain=.com; Max-Age=1e99\r\n',
  'Refresh: 0;url=javascript:x\r\n',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 103 Early\r\n\r\n',
  'HTTP/9.9 999\r\n',
  'ffffffffffffffff\r\n',
  '0\r\n\r\n',
  'Disallow: /*$*$*$\n',
  'User-agent: *\n',
  '<loc>',
  '</url>',
  '&lol;',
]

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  remove: fc.nat(9),
  insert: fc.oneof(fc.constantFrom(...TELLING), fc.string({ unit: byte, maxLength: 8 })),
})

export const edits: fc.Arbitrary<readonly Edit[]> = fc.array(edit, { maxLength: 5 })

/** Each edit at its place in what the ones before have left. */
export function mutate(text: string, list: readonly Edit[]): string {
  let out = text
  for (const { at, remove, insert } of list) {
    const from = at % (out.length + 1)
    out = out.slice(0, from) + insert + out.slice(from + remove)
  }
  return out
}
