import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import zlib from 'node:zlib'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Crawler } from '../../src/crawler/crawler.ts'
import { openForReading } from '../../src/crawler/read-crawl.ts'
import { startRawServer } from '../integration/fetch/raw-server.ts'
import { openTemporaryFolder } from '../support/command.ts'
import { LONGEST_STALL_MS, watchLoop } from '../support/loop-watch.ts'
import { fuzzBudget } from './budget.ts'
import { type Edit, edits, mutate } from './mutate.ts'

const PAGES = 8
const links = Array.from({ length: PAGES }, (_, index) => `<a href="/p${index}">x</a>`).join('\n')
const HTML = `<!doctype html><meta charset=utf-8><title>t</title>${links}<a href="sub/x?a=1&b=2">y</a><a href="//[">z</a>`

function answer(body: string | Buffer, fields = 'Content-Type: text/html\r\n', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`
}

/** Answers as good and as bad servers give them; which page gets which is drawn for each crawl. */
const ANSWERS: readonly string[] = [
  answer(HTML),
  answer(HTML, 'Content-Type: text/html; charset=gbk\r\nSet-Cookie: a=b; Path=/\r\nSet-Cookie: c=d; Max-Age=0\r\n'),
  answer(zlib.gzipSync(HTML), 'Content-Type: text/html\r\nContent-Encoding: gzip\r\n'),
  answer(zlib.brotliCompressSync(HTML), 'Content-Encoding: br\r\n'),
  answer(zlib.gzipSync(zlib.gzipSync(Buffer.alloc(3_000_000))), 'Content-Encoding: gzip, gzip\r\n'),
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${HTML.length.toString(16)}\r\n${HTML}\r\n0\r\n\r\n`,
  answer('', 'Location: /p1?next\r\nSet-Cookie: e=f\r\n', '302 Found'),
  answer('', 'Location: p2\r\n', '308 Permanent Redirect'),
  answer('<meta http-equiv=refresh content="0;url=/p3">'),
  answer('moved', 'Refresh: 0; url=/p4\r\n'),
  answer('gone', 'Content-Type: text/plain\r\n', '404 Not Found'),
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  answer(`<title>t</title>${'<svg><b>'.repeat(30_000)}${links}`),
  answer(Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 131) % 256)), 'Content-Type: text/html\r\n'),
  '',
]
const ROBOTS = answer('User-agent: *\nDisallow: /p7\nSitemap: /sm.xml\n', 'Content-Type: text/plain\r\n')

interface Site {
  /** Answer of each page, and what is done to it. */
  readonly pages: readonly { readonly base: number; readonly list: readonly Edit[]; readonly cuts: number }[]
  readonly robots: readonly Edit[]
}

const sites: fc.Arbitrary<Site> = fc.record({
  pages: fc.array(fc.record({ base: fc.nat(ANSWERS.length - 1), list: edits, cuts: fc.integer({ min: 1, max: 5 }) }), {
    minLength: PAGES,
    maxLength: PAGES,
  }),
  robots: edits,
})

function pageOf({ pages }: Site, path: string): Site['pages'][number] | undefined {
  const number = /^\/p(\d)/.exec(path)?.[1]
  return number === undefined ? undefined : pages[Number(number) % PAGES]
}

const { parameters, timeoutMs } = fuzzBudget('crawls of a damaged site', 0.5)

it('a crawl of a site that answers with damaged bytes accounts for every request', { timeout: timeoutMs }, async () => {
  await using folder = await openTemporaryFolder()
  let site: Site = { pages: [], robots: [] }
  await using server = await startRawServer(({ socket, head }) => {
    const path = head.split(' ')[1] ?? '/'
    const page = pageOf(site, path)
    const bytes =
      path === '/robots.txt'
        ? mutate(ROBOTS, site.robots)
        : page === undefined
          ? answer(HTML)
          : mutate(ANSWERS[page.base] ?? '', page.list)
    const size = Math.max(1, Math.ceil(bytes.length / (page?.cuts ?? 1)))
    for (let at = 0; at < bytes.length; at += size) socket.write(Buffer.from(bytes.slice(at, at + size), 'latin1'))
    socket.end()
  })
  const options = { concurrency: 8, perHost: 8, delayMs: 0, retries: 0, timeoutMs: 3000, maxBodyBytes: 1_000_000 }
  let runs = 0
  const crawl = async (next: Site): Promise<void> => {
    site = next
    const dir = join(folder.path, String(++runs))
    const summary = await new Crawler({ ...options, dir, maxDepth: 2, maxTimeMs: 20_000 }).run(server.url)
    const reader = await openForReading({ dir, store: undefined, task: 'default' })
    const [status, verdict] = [await reader.status(), await reader.verify()]
    await reader.close()
    expect(verdict).toEqual({ ok: true, problems: [] })
    expect(status.leased).toBe(0)
    // a damaged Retry-After or 429 may hold the host for longer than the crawl is given
    if (summary.finishReason !== 'max-time') expect([summary.finishReason, status.pending]).toEqual(['finished', 0])
    await rm(dir, { recursive: true })
  }
  await crawl({ pages: ANSWERS.slice(0, PAGES).map((_, base) => ({ base, list: [], cuts: 1 })), robots: [] })
  using loop = watchLoop()
  await fc.assert(fc.asyncProperty(sites, crawl), parameters)
  console.log(`${runs} crawls, the longest stall ${Math.round(loop.worstMs())} ms`)
  expect(loop.worstMs()).toBeLessThan(LONGEST_STALL_MS)
  expect(server.open()).toBeLessThanOrEqual(8)
})
