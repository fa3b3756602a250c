import { expect, test } from 'vitest'
import { warcPathOf } from '../../../src/crawler/worker.ts'

test.each([
  ['pages.warc.gz', 'pages-w3.warc.gz'],
  ['pages.warc', 'pages-w3.warc'],
  ['out/PAGES.WARC.GZ', 'out/PAGES-w3.WARC.GZ'],
  ['folder', 'folder/spoor-w3.warc.gz'],
  ['folder.gz', 'folder.gz/spoor-w3.warc.gz'],
])('worker 3 of a crawl with --warc %s writes %s', (path, expected) => {
  expect(warcPathOf(path, 3)).toBe(expected)
})
