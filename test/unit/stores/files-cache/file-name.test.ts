/** Names of files: safe everywhere, and never one for two URLs. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cacheKeyOf } from '../../../../src/cache/key.ts'
import { placeOf } from '../../../../src/stores/files-cache/file-name.ts'

function pathOf(url: string): string {
  const { folders, name } = placeOf({ key: cacheKeyOf({ url }), url })
  return [...folders, name].join('/')
}

const piece = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'b.html',
    'index.html',
    'con',
    'AUX.txt',
    'x.',
    '..',
    '.',
    '~e',
    '~d',
    '%2F',
    '%2f',
    '%5C',
    '',
  ),
  fc.string({ maxLength: 12 }),
  fc.stringMatching(/^[a-zA-Z0-9._~%-]{1,8}$/),
  fc.constant('long'.repeat(80)),
)
const webUrl = fc
  .record({
    scheme: fc.constantFrom('http', 'https'),
    host: fc.constantFrom('a.test', 'b.test', 'a.test:8080', '[::1]', '127.0.0.1'),
    path: fc.array(piece, { maxLength: 6 }),
    query: fc.option(piece, { nil: undefined }),
  })
  .map(({ scheme, host, path, query }) => {
    const text = `${scheme}://${host}/${path.join('/')}${query === undefined ? '' : `?${query}`}`.replaceAll('#', '')
    return URL.canParse(text) ? new URL(text).href : `${scheme}://${host}/`
  })

describe('the name of a page', () => {
  it.each([
    ['https://a.test/', 'a.test/index.html'],
    ['https://a.test/docs/', 'a.test/docs/index.html'],
    ['https://a.test/docs/page.html', 'a.test/docs/page.html'],
    ['https://a.test/docs/page', 'a.test/docs/page~.html'],
    ['http://a.test:8080/data.json', 'a.test~8080~http/data.json'],
    ['https://a.test/v1.2/x.css', 'a.test/v1.2~d/x.css'],
  ])('is readable: %s', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })

  it('is taken by every file system, and stays in the folder', () => {
    fc.assert(
      fc.property(webUrl, (url) => {
        const path = pathOf(url)
        expect(path.length).toBeLessThan(700)
        for (const name of path.split('/')) {
          expect(name).toMatch(/^[A-Za-z0-9._%=&,;@!()+$'~-]+$/)
          expect(name).not.toMatch(/^\.+$|[. ]$/)
          expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i)
          expect(name.length).toBeLessThan(215)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('is never that of another URL, also where letters have no case', () => {
    fc.assert(
      fc.property(webUrl, webUrl, (a, b) => {
        if (a !== b) expect(pathOf(a).toLowerCase()).not.toBe(pathOf(b).toLowerCase())
      }),
      { numRuns: 5000 },
    )
  })

  it('of a page is never that of a folder', () => {
    fc.assert(
      fc.property(webUrl, webUrl, (a, b) => {
        const page = pathOf(a).toLowerCase()
        const folders = pathOf(b).toLowerCase()
        expect(folders.startsWith(`${page}/`)).toBe(false)
      }),
      { numRuns: 5000 },
    )
  })
})
