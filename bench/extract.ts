/** What fields cost: cheerio's whole tree beside ours. Run: node --import jiti/register bench/extract.ts [FILE.html] */

import { readFileSync } from 'node:fs'
import { loadTree } from '../src/extract/page-tree.ts'
import type { ExtractSchema } from '../src/extract/schema/contract.ts'
import { extractNow } from '../src/extract/schema/extract.ts'
import { openSource } from '../src/extract/schema/source.ts'

/** A product page of some 30 KB: what is wanted stands in its first part, as in most. */
function productPage(): string {
  const row = '<tr><td class="k">Weight</td><td class="v">12 <b>kg</b></td></tr>'
  const review =
    '<div class="review"><a href="/user/1">Jo</a><p>It does what it should, and it is <i>blue</i>.</p></div>'
  return `<!doctype html><html><head><title>Shoe</title><link rel=canonical href="/shoe"></head><body><nav>${'<a href="/c">category</a>'.repeat(40)}</nav>
<h1>Blue shoe</h1><p class="price">12,50</p><img class="main" src="/1.png"><table>${row.repeat(60)}</table>${review.repeat(200)}</body></html>`
}

const file = process.argv[2]
const html = file === undefined ? productPage() : readFileSync(file, 'utf8')
const ROUNDS = 200

function measure(name: string, work: () => unknown): void {
  for (let round = 0; round < ROUNDS / 4; round++) work()
  const start = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) work()
  const { user, system } = process.cpuUsage(start)
  console.log(`${name.padEnd(46)} ${((user + system) / 1000 / ROUNDS).toFixed(3)} ms CPU a page`)
}

function ours(schema: ExtractSchema): unknown {
  const $ = () => loadTree(html, { xml: false })
  return extractNow(
    openSource({ text: html, baseUrl: () => 'http://site.test/', isXml: false, $, maxTreeChars: 2 ** 21 }),
    schema,
    '',
  )
}

console.log(`${html.length} characters`)
measure('cheerio: h1, .price, img.main@src', () => {
  const $ = loadTree(html, { xml: false })
  return [$('h1').first().text(), $('.price').first().text(), $('img.main').first().attr('src')]
})
const first: ExtractSchema = { name: 'h1', price: '.price', image: 'img.main@src' }
measure('spoor: the same, no further than needed', () => ours(first))
const all: ExtractSchema = { ...first, reviews: ['.review p'] }
measure('cheerio: the same and all reviews', () => {
  const $ = loadTree(html, { xml: false })
  return [
    $('h1').first().text(),
    $('.price').first().text(),
    $('img.main').attr('src'),
    $('.review p')
      .get()
      .map((p) => $(p).text()),
  ]
})
measure('spoor: the same and all reviews', () => ours(all))
const missing: ExtractSchema = { none: '.not-there' }
measure('spoor: a class that is not there', () => ours(missing))
const xpath: ExtractSchema = { name: 'xpath://h1', cells: ['xpath://td[@class="v"]'] }
measure('spoor: XPath', () => ours(xpath))
