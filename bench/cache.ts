/** Figures of the cache stores: time and size a page, on a folder of HTML pages; and opening and looking up among many. */

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as zlib from 'node:zlib'
import { type CodecName, DEFAULT_CODEC } from '../src/cache/codec.ts'
import type { CacheStore } from '../src/cache/contract.ts'
import { cacheKeyOf } from '../src/cache/key.ts'
import { openFilesCache } from '../src/stores/files-cache/store.ts'
import { openSqliteCache } from '../src/stores/sqlite-cache/store.ts'

const USAGE = `usage: node --import jiti/register bench/cache.ts [--pages FOLDER[,FOLDER]] [--max N] [--entries N]
  --pages    folders with .html files: times and sizes of codecs and stores (of each folder at most N, default 750)
  --entries  fills a packed cache with so many small entries and looks some up`

interface Page {
  readonly url: string
  readonly body: Buffer
}

type OpenStore = (dir: string) => Promise<CacheStore>

/** Figures are for a page of this size. */
const PAGE_BYTES = 30 * 1024
const IN_FLIGHT = 32
/** The best of so many is told: on a machine that others use, that is the one that was disturbed least. */
const ROUNDS = 8
/** Pages before those that are measured. */
const WARM_UP = 100
const HEADERS = [
  ['server', 'nginx/1.22.1'],
  ['date', 'Mon, 30 Nov 2026 12:00:00 GMT'],
  ['content-type', 'text/html'],
  ['content-length', '28672'],
  ['last-modified', 'Mon, 30 Nov 2020 12:00:00 GMT'],
  ['connection', 'keep-alive'],
  ['etag', '"5fc4e0c0-7000"'],
  ['accept-ranges', 'bytes'],
] as const

const { values } = parseArgs({
  options: { pages: { type: 'string' }, max: { type: 'string', default: '750' }, entries: { type: 'string' } },
})
if (values.pages === undefined && values.entries === undefined) console.log(USAGE)
if (values.pages !== undefined) {
  const pages = await readPages(values.pages.split(','), Number(values.max))
  const bytes = pages.reduce((sum, { body }) => sum + body.length, 0)
  console.log(`Node ${process.versions.node}: ${pages.length} pages, ${Math.round(bytes / pages.length)} bytes a page`)
  benchCodecs(pages)
  for (const codec of new Set([DEFAULT_CODEC, 'brotli', 'zlib', 'none'] as const))
    await benchStore(`sqlite, ${codec}`, pages, sqlite(codec))
  await benchStore('files', pages, (dir) => openFilesCache({ dir }))
}
if (values.entries !== undefined) await benchMany(Number(values.entries))

function sqlite(codec: CodecName): OpenStore {
  return (dir) => openSqliteCache({ dir, codec })
}

/** Evenly over each folder; pages of more than 200 KB are left out: a few of them would be all that is measured. */
async function readPages(folders: readonly string[], max: number): Promise<Page[]> {
  const pages: Page[] = []
  for (const [index, folder] of folders.entries()) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.html')).toSorted()
    const step = Math.max(1, names.length / max)
    for (let at = 0; at < names.length; at += step) {
      const name = names[Math.floor(at)] ?? ''
      const body = await readFile(join(folder, name))
      if (body.length > 0 && body.length < 200_000) pages.push({ url: `http://site.test/${index}/${name}`, body })
    }
  }
  return pages
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function rate(bytes: number, ms: number): string {
  return `${((ms / bytes) * PAGE_BYTES).toFixed(3)} ms (${Math.round(bytes / ms / 1000)} MB/s)`
}

type Codec = readonly [name: string, pack: (body: Buffer) => Buffer, unpack: (data: Buffer) => Buffer]

function brotli(level: number): Codec {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_SIZE_HINT: hint } = zlib.constants
  return [
    `brotli ${level}`,
    (body) => zlib.brotliCompressSync(body, { params: { [quality]: level, [hint]: body.length } }),
    (data) => zlib.brotliDecompressSync(data),
  ]
}

function deflate(level: number): Codec {
  return [`deflate ${level}`, (body) => zlib.deflateRawSync(body, { level }), (data) => zlib.inflateRawSync(data)]
}

function codecs(): Codec[] {
  return [deflate(1), deflate(3), deflate(6), brotli(0), brotli(1), brotli(2), brotli(4), ...zstd(1), ...zstd(3)]
}

/** None where Node does not have it. */
function zstd(level: number): Codec[] {
  // The types of Node 20 do not know it.
  const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as Zstd
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined) return []
  const params = { [constants.ZSTD_c_compressionLevel]: level }
  return [[`zstd ${level}`, (body) => zstdCompressSync(body, { params }), (data) => zstdDecompressSync(data)]]
}

interface Zstd {
  readonly zstdCompressSync?: (body: Buffer, options: unknown) => Buffer
  readonly zstdDecompressSync?: Codec[2]
  readonly constants: { readonly ZSTD_c_compressionLevel: number }
}

function benchCodecs(pages: readonly Page[]): void {
  const bytes = pages.reduce((sum, { body }) => sum + body.length, 0)
  for (const [name, pack, unpack] of codecs()) {
    const packed = pages.map(({ body }) => pack(body))
    const packedBytes = packed.reduce((sum, { length }) => sum + length, 0)
    const packMs = best(() => pages.forEach(({ body }) => pack(body)))
    const unpackMs = best(() => packed.forEach((data) => unpack(data)))
    const ratio = (bytes / packedBytes).toFixed(2)
    console.log(`  ${name.padEnd(10)} ratio ${ratio}, pack ${rate(bytes, packMs)}, unpack ${rate(bytes, unpackMs)}`)
  }
}

function best(work: () => void): number {
  let least = Infinity
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = cpuMs()
    work()
    least = Math.min(least, cpuMs() - before)
  }
  return least
}

interface StoreFigures {
  readonly putMs: number
  readonly getMs: number
  readonly diskBytes: number
}

/** Each round with a store of its own. */
async function benchStore(name: string, pages: readonly Page[], open: OpenStore): Promise<void> {
  const rounds: StoreFigures[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureStore(pages, open))
  const bytes = pages.slice(WARM_UP).reduce((sum, { body }) => sum + body.length, 0)
  const put = rate(bytes, Math.min(...rounds.map(({ putMs }) => putMs)))
  const get = rate(bytes, Math.min(...rounds.map(({ getMs }) => getMs)))
  const perPage = Math.round((rounds[0]?.diskBytes ?? 0) / pages.length)
  console.log(`  ${name.padEnd(14)} put ${put}, get ${get}, ${perPage} bytes on disk a page`)
}

async function measureStore(pages: readonly Page[], open: OpenStore): Promise<StoreFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'spoor-bench-cache-'))
  const store = await open(dir)
  const [warmUp, rest] = [pages.slice(0, WARM_UP), pages.slice(WARM_UP)]
  await each(warmUp, (page) => putPage(store, page))
  let before = cpuMs()
  await each(rest, (page) => putPage(store, page))
  const putMs = cpuMs() - before
  await each(warmUp, (page) => getPage(store, page))
  before = cpuMs()
  await each(rest, (page) => getPage(store, page))
  const getMs = cpuMs() - before
  await store.close()
  const diskBytes = await folderBytes(dir)
  await rm(dir, { recursive: true, force: true })
  return { putMs, getMs, diskBytes }
}

/** As a crawl does: so many at once, each a turn of the event loop. */
async function each(pages: Iterable<Page>, work: (page: Page) => Promise<void>): Promise<void> {
  const queue = pages[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const page = next.value
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      await work(page)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
}

async function putPage(store: CacheStore, { url, body }: Page): Promise<void> {
  const nowMs = Date.now()
  const entry = { key: cacheKeyOf({ url }), url, method: 'GET', status: 200, headers: HEADERS, wireBytes: body.length }
  await store.put({ ...entry, fetchedAtMs: nowMs, checkedAtMs: nowMs }, body)
}

async function getPage(store: CacheStore, { url, body }: Page): Promise<void> {
  const answer = await store.get({ key: cacheKeyOf({ url }), url })
  if (answer?.body.length !== body.length) throw new Error(`expected ${url} whole, found ${answer?.body.length} bytes`)
}

async function folderBytes(dir: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(dir, { recursive: true })) {
    const found = await stat(join(dir, name))
    // what the file takes up, not how long it is
    bytes += found.isFile() ? found.blocks * 512 : 0
  }
  return bytes
}

function smallPage(n: number): Page {
  return {
    url: `https://host-${n % 1000}.test/some/path/to/page-${n}`,
    body: Buffer.from(`<title>page ${n}</title>`.repeat(4)),
  }
}

/** Made one by one: the memory that is measured is the store's. */
function* smallPages(from: number, to: number): Generator<Page> {
  for (let n = from; n < to; n += 1) yield smallPage(n)
}

/** Small pages, so that a million of them fit anywhere; what grows with their number is the index. */
async function benchMany(entries: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'spoor-bench-cache-'))
  const filling = await openSqliteCache({ dir })
  const step = Math.max(1, entries / 10)
  for (let from = 0; from < entries; from += step) {
    const before = performance.now()
    const count = Math.min(step, entries - from)
    await each(smallPages(from, from + count), (page) => putPage(filling, page))
    const putMs = (performance.now() - before) / count
    const getMs = await lookUp(filling, from + count)
    const rss = Math.round(process.memoryUsage().rss / 1024 / 1024)
    console.log(`  ${from + count} entries: put ${putMs.toFixed(3)} ms, get ${getMs.toFixed(3)} ms, ${rss} MB resident`)
  }
  await filling.close()
  const before = performance.now()
  const store = await openSqliteCache({ dir })
  console.log(`  opened in ${Math.round(performance.now() - before)} ms, ${await folderBytes(dir)} bytes on disk`)
  console.log(`  get ${(await lookUp(store, entries)).toFixed(3)} ms`)
  await store.close()
  await rm(dir, { recursive: true, force: true })
}

/** Milliseconds for one of 5000 spread over all. */
async function lookUp(store: CacheStore, entries: number): Promise<number> {
  const before = performance.now()
  const pages = Array.from({ length: 5000 }, (_, n) => smallPage(Math.floor(((n * 7919) % 5000) * (entries / 5000))))
  await each(pages, (page) => getPage(store, page))
  return (performance.now() - before) / 5000
}
