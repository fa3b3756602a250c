import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheStore, NewCacheEntry } from '../../../src/cache/contract.ts'
import { cacheKeyOf } from '../../../src/cache/key.ts'
import { openFilesCache } from '../../../src/stores/files-cache/store.ts'
import { openSqliteCache } from '../../../src/stores/sqlite-cache/store.ts'
import { hostOf, jsonLines, runCommand, type CommandRun } from './run-command.ts'
import { runCli } from '../../../src/cli/run.ts'

const DAY_MS = 86_400_000
const PAGE = 'http://a.test/page'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'spoor-cli-cache-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

const cache = (...args: readonly string[]): Promise<CommandRun> => runCommand(['cache', ...args], { cwd })

type Extra = Partial<NewCacheEntry> & { readonly variant?: string }

async function put(store: CacheStore, url: string, { variant, ...extra }: Extra = {}): Promise<void> {
  const nowMs = Date.now()
  const body = Buffer.from(`body of ${url}${variant ?? ''}`)
  const headers = [['content-type', 'text/html; charset=utf-8']] as const
  const dates = { fetchedAtMs: nowMs, checkedAtMs: nowMs }
  const key = cacheKeyOf({ url, ...(variant === undefined ? {} : { variant }) })
  await store.put({ key, url, method: 'GET', status: 200, headers, ...dates, wireBytes: 99, ...extra }, body)
}

/** Last confirmed so many days ago. */
const days = (n: number): Extra => ({ checkedAtMs: Date.now() - n * DAY_MS })

async function urls(...args: readonly string[]): Promise<unknown> {
  return jsonLines((await cache('ls', '--json', ...args)).stdout).map((line) => (line as { url: string }).url)
}

async function fill(entries: Readonly<Record<string, Extra>>): Promise<void> {
  await using store = await openSqliteCache({ dir: join(cwd, 'spoor-data') })
  for (const [url, extra] of Object.entries(entries)) await put(store, url, extra)
}

describe('spoor cache', () => {
  it.each([
    [['nonsense'], /expected one of ls, get, rm, prune, stats, import, export/],
    [['lst'], /did you mean spoor cache ls\?/],
    [['toString'], /unknown|expected one of/],
    [['get'], /spoor cache get: expected a URL, found nothing/],
    [['get', 'http://a.test/', 'http://b.test/'], /expected one argument \(a URL\), found also "http:\/\/b.test\/"/],
    [
      ['get', 'a.test/page'],
      /expected an http or https URL, found "a.test\/page"; did you mean https:\/\/a.test\/page/,
    ],
    [['stats', '--cache-ttl', '3d'], /--cache-ttl: no option of "spoor cache stats"/],
    [['prune', 'http://a.test/'], /spoor cache prune: expected no argument/],
    [['rm'], /spoor cache rm: expected URLs, or --host HOST/],
    [['rm', 'http://a.test/', '--host', 'a.test'], /spoor cache rm: expected URLs, or --host HOST/],
    [['ls', 'page'], /expected the beginning of an http or https URL, found "page"/],
    [['export', 'pages.zip'], /ends in \.warc or \.warc\.gz, found "pages.zip"/],
    [['import', 'missing.warc'], /"missing.warc": there is no such file/],
  ])('%j is refused with one line', async (args, line) => {
    const { code, stdout, stderr } = await cache(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(line)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(await readdir(cwd)).toEqual([])
  })

  it.each([['ls'], ['stats'], ['prune'], ['get', PAGE], ['rm', PAGE], ['export', 'x.warc']])(
    'says so when there is no cache: %s',
    async (...args) => {
      const { code, stdout, stderr } = await cache(...args)
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr).toMatch(/spoor-data cannot be opened: it holds no download cache/)
      expect(await readdir(cwd)).toEqual([])
    },
  )

  it('finds the readable cache without being told, and the one that is asked for', async () => {
    const dir = join(cwd, 'spoor-data')
    await using files = await openFilesCache({ dir: join(dir, 'cache-files') })
    await put(files, PAGE)
    expect((await cache('get', PAGE)).stdout).toBe(`body of ${PAGE}`)
    expect(await cache('get', PAGE, '--cache-store', 'sqlite')).toMatchObject({ code: 3 })
    await fill({ 'http://packed.test/': {} })
    expect((await cache('ls')).stdout).toContain('http://packed.test/')
    expect((await cache('ls', '--cache-store', 'files')).stdout).toContain(PAGE)
  })
})

it.skipIf('zstdCompress' in zlib)('a crawl refuses a codec that this Node lacks before it makes a folder', async () => {
  const { code, stderr } = await runCommand(['crawl', PAGE, '--cache-codec', 'zstd'], { cwd })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^spoor: --cache-codec zstd: expected brotli, zlib or none/) as string,
  })
  expect(await readdir(cwd)).toEqual([])
})

describe('spoor cache ls', () => {
  it('lists every page with its status, size and age', async () => {
    await fill({ [PAGE]: {}, 'http://b.test/gone': { status: 404, checkedAtMs: Date.now() - 3 * DAY_MS } })
    const { code, stdout, stderr } = await cache('ls')
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n').toSorted()
    expect(lines[0]).toMatch(/^200 +\d+ B +0\.\d s {2}http:\/\/a\.test\/page$/)
    expect(lines[1]).toMatch(/^404 +\d+ B +3 d 0 h {2}http:\/\/b\.test\/gone$/)
    expect(stderr).toMatch(/2 entries/)
  })

  it('gives JSON Lines', async () => {
    await fill({ [PAGE]: { fetchedAtMs: 1_700_000_000_000 } })
    expect(jsonLines((await cache('ls', '--json')).stdout)).toEqual([
      {
        url: PAGE,
        status: 200,
        bytes: 26,
        fetchedAt: '2023-11-14T22:13:20.000Z',
        contentType: 'text/html; charset=utf-8',
        checkedAt: expect.stringMatching(/Z$/) as string,
        method: 'GET',
      },
    ])
  })

  it('keeps to a host, or to what begins alike', async () => {
    await fill({ 'http://a.test/x/1': {}, 'http://a.test/y': {}, 'http://b.test/x/1': {} })
    expect(await urls('--host', 'B.test')).toEqual(['http://b.test/x/1'])
    expect(await urls('http://A.test/x/')).toEqual(['http://a.test/x/1'])
  })

  it('lets no page steer the terminal', async () => {
    await fill({ [PAGE]: { wireUrl: `${PAGE}\u001b[2J` } })
    expect((await cache('ls')).stdout).not.toContain('\u001b')
  })

  it('ends quietly when nobody reads on', async () => {
    await fill(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`http://a.test/${n}`, {}])))
    const { host, stdout, stderr } = hostOf(['cache', 'ls'], { cwd })
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    expect(await runCli(host)).toBe(0)
    expect(stderr.text()).toBe('')
  })
})

describe('spoor cache get', () => {
  it('writes the body, byte for byte, by any spelling of the address', async () => {
    await fill({ 'http://a.test/caf%C3%A9': {} })
    const { code, stdout, stderr } = await cache('get', 'HTTP://A.test:80/café#top')
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'body of http://a.test/caf%C3%A9', stderr: '' })
  })

  it('gives what is known of it with --json', async () => {
    await fill({ [PAGE]: {} })
    const { stdout } = await cache('get', PAGE, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      url: PAGE,
      status: 200,
      bytes: 26,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    })
  })

  it('says where a redirect leads', async () => {
    await fill({ [PAGE]: { status: 301, headers: [['location', '/there']] } })
    expect((await cache('get', PAGE)).stderr).toMatch(/HTTP 301, which leads to \/there/)
  })

  it('ends with 1 for a page that is not there', async () => {
    await fill({ [PAGE]: {} })
    const { code, stdout, stderr } = await cache('get', 'http://a.test/other')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe('spoor: http://a.test/other: not in the cache of spoor-data\n')
  })
})

describe('spoor cache rm', () => {
  it.each(['sqlite', 'files'])('removes a page with all its variants, and no other (%s)', async (kind) => {
    const dir = join(cwd, 'spoor-data')
    {
      await using store = await (kind === 'files'
        ? openFilesCache({ dir: join(dir, 'cache-files') })
        : openSqliteCache({ dir }))
      for (const variant of ['', 'accept-language=de', 'cookie=x']) await put(store, PAGE, { variant })
      await put(store, `${PAGE}/below`)
      await put(store, 'http://a.test/two')
    }
    const { code, stdout, stderr } = await cache('rm', PAGE, 'http://a.test/two', 'http://a.test/none', '--json')
    expect(code).toBe(1)
    expect(jsonLines(stdout)).toEqual([
      { url: PAGE, removed: 3 },
      { url: 'http://a.test/two', removed: 1 },
      { url: 'http://a.test/none', removed: 0 },
    ])
    expect(stderr).toMatch(/http:\/\/a\.test\/none: not in the cache/)
    expect((await cache('ls', '--json')).stdout).toContain(`${PAGE}/below`)
    expect(jsonLines((await cache('ls', '--json')).stdout)).toHaveLength(1)
  })

  it('removes all of a host', async () => {
    await fill({ 'http://a.test/1': {}, 'http://a.test/2': {}, 'http://b.test/1': {} })
    expect(await cache('rm', '--host', 'a.test')).toMatchObject({ code: 0, stderr: '2 entries of a.test removed\n' })
    expect(jsonLines((await cache('ls', '--json')).stdout)).toHaveLength(1)
  })

  it('ends with 1 for a host that is not there, and names the one that was meant', async () => {
    await fill({ 'http://a.test:8080/1': {}, 'http://b.test/1': {} })
    const { code, stderr } = await cache('rm', '--host', 'a.test')
    expect(code).toBe(1)
    expect(stderr).toBe('spoor: a.test: not in the cache of spoor-data; did you mean --host a.test:8080?\n')
    expect((await cache('ls', '--host', 'a.test')).stderr).toBe(
      'Nothing of a.test is there; did you mean --host a.test:8080?\n',
    )
    expect((await cache('ls', '--host', 'elsewhere.org')).stderr).toBe('Nothing of elsewhere.org is there\n')
  })
})

describe('spoor cache prune', () => {
  it('deletes what is older than the TTL, and says what came of it', async () => {
    await fill({ 'http://a.test/29': days(29), 'http://a.test/31': days(31), 'http://a.test/90': days(90) })
    const { code, stdout } = await cache('prune', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ entries: 2, left: { entries: 1 } })
    expect((await cache('prune', '--cache-ttl', '7d')).stderr).toMatch(/^1 entry deleted, .* given back; 0 left, .* on/)
  })

  it('empties the cache at a TTL of nothing, also of what the future has dated', async () => {
    await fill({ 'http://a.test/now': {}, 'http://a.test/later': { checkedAtMs: Date.now() + 90 * DAY_MS } })
    expect(JSON.parse((await cache('prune', '--cache-ttl', '0', '--json')).stdout)).toMatchObject({
      entries: 2,
      left: { entries: 0 },
    })
  })

  it('evicts until the cap is kept', async () => {
    await fill(Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`http://a.test/${n}`, {}])))
    const before = JSON.parse((await cache('stats', '--json')).stdout) as { diskBytes: number }
    const cap = Math.round(before.diskBytes / 2)
    const { stdout } = await cache('prune', '--cache-max', String(cap), '--json')
    const { left } = JSON.parse(stdout) as { left: { entries: number; diskBytes: number } }
    expect(left.entries).toBeGreaterThan(0)
    expect(left.entries).toBeLessThan(400)
  })
})

describe('spoor cache stats', () => {
  it('tells people how large it is and what it saves', async () => {
    await fill({ [PAGE]: {}, 'http://b.test/1': {}, 'http://b.test/2': {} })
    {
      await using store = await openSqliteCache({ dir: join(cwd, 'spoor-data') })
      store.note({ hits: 6, revalidated: 1, misses: 3, savedBytes: 5_000_000 })
    }
    const { code, stdout } = await cache('stats')
    expect(code).toBe(0)
    expect(stdout).toContain('Download cache in spoor-data (sqlite)')
    expect(stdout).toMatch(/entries +3 +3 distinct bodies/)
    expect(stdout).toMatch(/hit rate +70\.0 % +6 hits, 1 confirmed by their server, 3 misses/)
    expect(stdout).toMatch(/saved +4\.8 MB/)
    expect(stdout).toMatch(/b\.test +2 +\d+ B/)
    expect(JSON.parse((await cache('stats', '--json')).stdout)).toMatchObject({
      store: 'sqlite',
      entries: 3,
      hits: 6,
      hitRate: 0.7,
      savedBytes: 5_000_000,
      hosts: [
        { host: 'b.test', entries: 2 },
        { host: 'a.test', entries: 1 },
      ],
    })
  })

  it('is no riddle of an empty cache', async () => {
    await fill({})
    const { stdout } = await cache('stats')
    expect(stdout).toMatch(/entries +0/)
    expect(stdout).not.toMatch(/NaN|Infinity|undefined/)
    expect(JSON.parse((await cache('stats', '--json')).stdout)).toMatchObject({ hitRate: null, oldest: null })
  })
})

describe('spoor cache import and export', () => {
  it.each(['pages.warc', 'pages.warc.gz'])('carries a cache over in %s', async (name) => {
    await fill({ 'http://a.test/1': {}, 'http://a.test/2': {}, 'http://b.test/3': {} })
    expect(await cache('export', name)).toMatchObject({ code: 0, stderr: `3 pages written to ${name}\n` })
    expect((await readdir(cwd)).toSorted()).toEqual([name.replace(/\.warc.*/, '.cdxj'), name, 'spoor-data'].toSorted())
    const { code, stdout, stderr } = await cache('import', name, '--dir', 'other', '--json')
    expect({ code, report: JSON.parse(stdout) as unknown }, stderr).toEqual({
      code: 0,
      report: { file: name, records: 7, imported: 3, passedOver: {}, faults: 0 },
    })
    expect((await cache('get', 'http://b.test/3', '--dir', 'other')).stdout).toBe('body of http://b.test/3')
  })

  it('exports one host alone', async () => {
    await fill({ 'http://a.test/1': {}, 'http://b.test/3': {} })
    expect(JSON.parse((await cache('export', 'b.warc', '--host', 'b.test', '--json')).stdout)).toMatchObject({
      pages: 1,
    })
    const text = await readFile(join(cwd, 'b.warc'), 'utf8')
    expect(text).toContain('http://b.test/3')
    expect(text).not.toContain('http://a.test/1')
  })

  // a folder that is made level by level: Node's own way never returns there
  it.runIf(process.platform === 'linux')('says where it cannot write', async () => {
    await fill({ [PAGE]: {} })
    const { code, stderr } = await cache('export', '/proc/spoor/x.warc')
    expect(code).toBe(1)
    expect(stderr).toMatch(/\/proc\/spoor\/x\.warc cannot be written/)
  })

  it('writes over no file', async () => {
    await fill({ [PAGE]: {} })
    await writeFile(join(cwd, 'mine.warc'), 'mine')
    const { code, stderr } = await cache('export', 'mine.warc')
    expect(code).toBe(1)
    expect(stderr).toMatch(/mine\.warc cannot be written: it is there already; choose another name/)
    expect(await readFile(join(cwd, 'mine.warc'), 'utf8')).toBe('mine')
    expect(existsSync(join(cwd, 'mine.warc.partial'))).toBe(false)
  })

  it('takes an archive from stdin, and tells what it passes over and why', async () => {
    await fill({ 'http://a.test/1': { status: 200 }, 'http://a.test/2': {} })
    await cache('export', 'a.warc.gz')
    const bytes = await readFile(join(cwd, 'a.warc.gz'))
    const run = await runCommand(['cache', 'import', '-', '--dir', 'x'], { cwd, stdin: bytes })
    expect(run, run.stderr).toMatchObject({ code: 0 })
    expect(run.stderr).toMatch(/^-: 2 pages taken from \d+ records\n/)
    const torn = await runCommand(['cache', 'import', '-', '--dir', 'y'], { cwd, stdin: bytes.subarray(0, -200) })
    expect(torn, torn.stderr).toMatchObject({ code: 0 })
    expect(torn.stderr).toMatch(/-, byte \d+: expected/)
    expect(torn.stderr).toMatch(/fault/)
  })

  it('ends with 1 for a file that is no archive', async () => {
    await writeFile(join(cwd, 'cat.warc'), 'meow\n'.repeat(100))
    const { code, stderr } = await cache('import', 'cat.warc')
    expect(code).toBe(1)
    expect(stderr).toMatch(/"cat\.warc": expected WARC records, found none/)
  })
})
