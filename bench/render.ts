/** Memory of a crawl whose pages are rendered: `node --import jiti/register bench/render.ts [--pages 2000] [--render-pages 4]`. */

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Crawler } from '../src/crawler/crawler.ts'

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '2000' }, 'render-pages': { type: 'string', default: '4' } },
})
const pages = Number(values.pages)
const SAMPLE_MS = 2000
const MB = 1_048_576

/** A shop: a frame, a script of 100 KB that all pages share, and a list that each page fetches for itself. */
const APP = `/*${'x'.repeat(100_000)}*/
fetch('/api' + location.pathname).then((answer) => answer.json()).then(({ links, text }) => {
  document.title = location.pathname
  document.querySelector('#root').innerHTML =
    text.map((line) => '<p>' + line + '</p>').join('') + links.map((to) => '<a href="' + to + '">' + to + '</a>').join('')
})`
const PAGE = '<!doctype html><title>shop</title><div id="root"></div><script src="/app.js"></script>'

let served = 0
const server = createServer((request, response) => {
  served++
  const path = request.url ?? '/'
  if (path === '/robots.txt') {
    response.writeHead(404).end()
  } else if (path === '/app.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(APP)
  } else if (path.startsWith('/api/')) {
    const number = Number(path.slice('/api/'.length))
    const links = [2 * number + 1, 2 * number + 2].filter((n) => n < pages).map((n) => `/${n}`)
    const text = Array.from({ length: 100 }, (_, line) => `Line ${line} of page ${number}: ${'word '.repeat(20)}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ links, text }))
  } else {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
  }
})
server.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const { port } = server.address() as AddressInfo

/** Memory of the processes below this one that no other of them has, in bytes. */
function browserBytes(): number {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // it has ended
    }
  }
  const isBelow = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 0; at = parents.get(at))
      if (at === process.pid) return true
    return false
  }
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + pssOf(pid), 0)
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

const dir = await mkdtemp(join(tmpdir(), 'spoor-bench-render-'))
const crawler = new Crawler({
  dir,
  render: 'on',
  renderPages: Number(values['render-pages']),
  perHost: 64,
  cache: 'off',
})
const samples: { readonly page: number; readonly own: number; readonly browser: number }[] = []
const sampling = setInterval(() => {
  const page = crawler.progress()?.pages ?? 0
  samples.push({ page, own: process.memoryUsage().rss, browser: browserBytes() })
  if (samples.length % 15 === 0) {
    const { own, browser } = samples.at(-1) ?? { own: 0, browser: 0 }
    console.error(`${page} pages: ${Math.round(own / MB)} MB own, ${Math.round(browser / MB)} MB browser`)
  }
}, SAMPLE_MS)

const started = performance.now()
try {
  const summary = await crawler.run(`http://127.0.0.1:${port}/0`)
  const seconds = (performance.now() - started) / 1000
  console.log(`${summary.pages} pages, ${summary.failed} failed, ${served} requests, ${seconds.toFixed(0)} s`)
  console.log(`${(summary.pages / seconds).toFixed(1)} pages/s`)
  const quarters = [0, 1, 2, 3].map((at) => samples.filter(({ page }) => Math.floor((page * 4) / (pages + 1)) === at))
  for (const [at, quarter] of quarters.entries()) {
    const peak = (pick: 'own' | 'browser'): number => Math.round(Math.max(0, ...quarter.map((one) => one[pick])) / MB)
    console.log(`quarter ${at + 1}: at most ${peak('own')} MB own, ${peak('browser')} MB browser`)
  }
} finally {
  clearInterval(sampling)
  server.close()
  server.closeAllConnections()
  await rm(dir, { recursive: true, force: true })
}
