/** What the pages of site A take up on disk: raw, in Spoor's caches, in Scrapy's, and as crawlers on Crawlee keep them. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { CodecName } from '../src/cache/codec.ts'
import type { CacheStore } from '../src/cache/contract.ts'
import { cacheKeyOf } from '../src/cache/key.ts'
import { openFilesCache } from '../src/stores/files-cache/store.ts'
import { openSqliteCache } from '../src/stores/sqlite-cache/store.ts'
import { folderBytes } from './lib/folder-bytes.ts'
import { installNpmPeers, scriptPath, versionOfPackage } from './lib/npm-peers.ts'
import { openSite } from './lib/site.ts'

const { values } = parseArgs({
  options: {
    /** Measure only those whose name has this in it. */
    only: { type: 'string', default: '' },
  },
})

interface Page {
  readonly path: string
  readonly url: string
}

const HEADERS = [
  ['server', 'nginx/1.22.1'],
  ['date', 'Mon, 30 Nov 2026 12:00:00 GMT'],
  ['content-type', 'text/html'],
  ['last-modified', 'Mon, 30 Nov 2020 12:00:00 GMT'],
  ['etag', '"5fc4e0c0-7000"'],
  ['accept-ranges', 'bytes'],
] as const

/** Of the site's pages those that are there under their own name. */
function pagesOfSite(): Page[] {
  const { root, truth } = openSite('A', 0)
  const pages = [...truth].map((key) => key.slice(key.indexOf('/')))
  return pages
    .map((path) => ({ path: join(root, path), url: `http://127.0.0.1:8080${encodeURI(path)}` }))
    .filter(({ path }) => existsSync(path) && !path.endsWith('/'))
}

type Keep = (folder: string) => Promise<void> | void

async function measure(name: string, pages: readonly Page[], keep: Keep): Promise<void> {
  if (!name.includes(values.only)) return
  const folder = mkdtempSync(join(tmpdir(), 'spoor-bench-size-'))
  try {
    await keep(folder)
    const { bytes, onDisk, files } = folderBytes(folder)
    const per = (total: number): string => Math.round(total / pages.length).toLocaleString('en')
    console.log(`| ${name} | ${per(bytes)} | ${per(onDisk)} | ${files.toLocaleString('en')} |`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(pages: readonly Page[], store: CacheStore): Promise<void> {
  for (const { path, url } of pages) {
    const body = readFileSync(path)
    const nowMs = Date.now()
    const what = { key: cacheKeyOf({ url }), url, method: 'GET', status: 200, headers: HEADERS, wireBytes: body.length }
    await store.put({ ...what, fetchedAtMs: nowMs, checkedAtMs: nowMs }, body)
  }
  await store.close()
}

function run(command: string, args: readonly string[], pages: readonly Page[]): void {
  const input = pages.map(({ path, url }) => `${path}\t${url}`).join('\n')
  const { status, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? stderr.slice(-2000)}`)
}

async function main(): Promise<void> {
  const pages = pagesOfSite()
  const raw = pages.reduce((sum, { path }) => sum + readFileSync(path).length, 0)
  console.log(`${pages.length} pages, ${Math.round(raw / pages.length).toLocaleString('en')} bytes each, raw`)
  console.log('| kept by | bytes a page | bytes on disk a page | files |\n| --- | --- | --- | --- |')
  for (const codec of ['brotli', 'zlib', 'none'] satisfies CodecName[]) {
    await measure(`Spoor sqlite, ${codec}`, pages, async (dir) => fill(pages, await openSqliteCache({ dir, codec })))
  }
  await measure('Spoor files', pages, async (dir) => fill(pages, await openFilesCache({ dir })))
  const scrapy = join(import.meta.dirname, 'peers/scrapy_cache.py')
  // Debian's Python, which python3-scrapy is for
  for (const kind of ['filesystem', 'filesystem-gzip', 'dbm']) {
    await measure(`Scrapy ${kind}`, pages, (folder) => run('/usr/bin/python3', [scrapy, kind, folder], pages))
  }
  const problem = installNpmPeers()
  if (problem !== undefined) throw new Error(problem)
  const name = `Crawlee ${versionOfPackage('@crawlee/basic') ?? ''} key-value store`
  await measure(name, pages, (folder) => run(process.execPath, [scriptPath('crawlee-storage'), folder], pages))
}

await main()
