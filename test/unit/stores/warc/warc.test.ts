/** WARC files: written, cut off, gone on with, read back here and by an independent reader. */

import { appendFile, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WARCParser } from 'warcio'
import { openSqliteCache } from '../../../../src/stores/sqlite-cache/store.ts'
import { exportWarc, importWarc } from '../../../../src/stores/warc/import.ts'
import { readWarc } from '../../../../src/stores/warc/reader.ts'
import { openWarcWriter, type WarcWriterOptions } from '../../../../src/stores/warc/writer.ts'
import type { NewCacheEntry } from '../../../../src/cache/contract.ts'
import { cacheKeyOf } from '../../../../src/cache/key.ts'
import { createFakeClock } from '../../../../src/testing/fake-clock.ts'
import type { WarcExchange, WarcRecord, WarcWriter } from '../../../../src/warc/contract.ts'

const clock = createFakeClock()
let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'spoor-warc-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

function openWriter(name: string, options: Partial<WarcWriterOptions> = {}): Promise<WarcWriter> {
  return openWarcWriter({ path: join(dir, name), clock, ...options })
}

function exchange(url: string, body: string, fields: Partial<WarcExchange> = {}): WarcExchange {
  return {
    url,
    dateMs: clock.nowMs(),
    method: 'GET',
    requestHeaders: { accept: 'text/html', authorization: 'Basic c2VjcmV0' },
    status: 200,
    headers: [
      ['content-type', 'text/html'],
      ['content-encoding', 'gzip'],
      ['transfer-encoding', 'chunked'],
      ['x-odd', 'one\r\ntwo: three'],
    ],
    body: Buffer.from(body),
    ip: '127.0.0.1',
    ...fields,
  }
}

async function* bytesOf(file: string, step = 4096): AsyncGenerator<Uint8Array> {
  const data = await readFile(file)
  for (let at = 0; at < data.length; at += step) yield data.subarray(at, at + step)
}

async function recordsOf(file: string, faults: string[] = []): Promise<WarcRecord[]> {
  const records = []
  const onFault = (problem: string): unknown => faults.push(problem)
  for await (const record of readWarc(bytesOf(file), { onFault })) records.push(record)
  return records
}

function typesOf(records: readonly WarcRecord[]): string[] {
  return records.map(({ type }) => type)
}

describe('a WARC writer', () => {
  it.each(['w.warc', 'w.warc.gz'])('writes what an independent reader takes, digests and all: %s', async (name) => {
    const writer = await openWriter(name, { info: { operator: 'test' } })
    await writer.write(exchange('https://a.test/1', 'first', { metadata: { fetchTimeMs: '12' } }))
    await writer.write(exchange('https://a.test/2?q=a b#frag', 'first'))
    await writer.write(exchange('https://a.test/3', '', { status: 304 }))
    await writer.write(exchange('https://a.test/4', 'cut', { truncated: 'length' }))
    await writer.close()
    const seen = []
    for await (const record of await parseByWarcio(join(dir, name))) {
      const text = await record.contentText()
      seen.push([record.warcType, record.warcTargetURI, text])
    }
    expect(seen.map(([type]) => type)).toEqual(
      ['warcinfo', 'response metadata request', 'revisit request', 'revisit request', 'response request'].flatMap(
        (group) => group.split(' '),
      ),
    )
    expect(seen[1]).toEqual(['response', 'https://a.test/1', 'first'])
    expect(seen[4]?.[1]).toBe('https://a.test/2?q=a%20b')
    expect(seen[8]).toEqual(['response', 'https://a.test/4', 'cut'])
  })

  it('renames the fields about codings, keeps secrets out and lets no value begin a line', async () => {
    const writer = await openWriter('w.warc')
    await writer.write(exchange('https://a.test/1', 'hello'))
    await writer.close()
    const text = await readFile(join(dir, 'w.warc'), 'latin1')
    expect(text).toContain('\r\nx-orig-content-encoding: gzip\r\n')
    expect(text).toContain('\r\ncontent-length: 5\r\n\r\nhello\r\n\r\n')
    expect(text).toContain('x-odd: one two: three\r\n')
    expect(text).not.toMatch(/authorization|c2VjcmV0/i)
    // the SHA-1 of "hello", by another program
    expect(text).toContain('WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N')
  })

  it('makes each record a gzip member of its own, where the index says', async () => {
    const writer = await openWriter('w.warc.gz')
    for (const n of [1, 2, 3]) await writer.write(exchange(`https://www.a.test/${4 - n}`, `page ${n}`))
    await writer.close()
    const data = await readFile(join(dir, 'w.warc.gz'))
    const lines = (await readFile(join(dir, 'w.cdxj'), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['test,a)/1', 'test,a)/2', 'test,a)/3'])
    for (const line of lines) {
      const { url, offset, length } = JSON.parse(line.slice(line.indexOf('{'))) as Record<string, string>
      const start = Number(offset)
      const record = gunzipSync(data.subarray(start, start + Number(length))).toString('latin1')
      expect(record).toContain('WARC-Type: response')
      expect(record).toContain(`WARC-Target-URI: ${url ?? '?'}\r\n`)
    }
  })

  it.each(['w.warc', 'w.warc.gz'])('cuts off what a killed process left, wherever it was cut: %s', async (name) => {
    const file = join(dir, name)
    const first = await openWriter(name)
    await first.write(exchange('https://a.test/1', 'one '.repeat(50)))
    const whole = first.position().bytes
    await first.write(exchange('https://a.test/2', 'two '.repeat(50)))
    await first.close()
    const data = await readFile(file)
    for (let cut = whole; cut < data.length; cut += 13) {
      await writeFile(file, data.subarray(0, cut))
      const writer = await openWriter(name)
      expect(writer.position().bytes).toBe(whole)
      await writer.write(exchange('https://a.test/3', 'three'))
      await writer.close()
      const faults: string[] = []
      const types = typesOf(await recordsOf(file, faults))
      expect([types, faults]).toEqual([['warcinfo', 'response', 'request', 'response', 'request'], []])
      await rm(join(dir, 'w.cdxj'))
    }
  })

  it('indexes what was written just before a kill, and begins a file anew that has no whole record', async () => {
    const writer = await openWriter('w.warc.gz')
    await writer.write(exchange('https://a.test/1', 'one'))
    await writer.close()
    await rm(join(dir, 'w.cdxj'))
    await (await openWriter('w.warc.gz')).close()
    expect(await readFile(join(dir, 'w.cdxj'), 'utf8')).toContain('"url":"https://a.test/1"')
    await truncate(join(dir, 'w.warc.gz'), 20)
    const again = await openWriter('w.warc.gz')
    await again.close()
    expect(typesOf(await recordsOf(join(dir, 'w.warc.gz')))).toEqual(['warcinfo'])
  })

  it("refuses to write into somebody else's file, and leaves it as it is", async () => {
    await writeFile(join(dir, 'w.warc.gz'), gzipSync('these are notes'.repeat(1000)))
    const before = await readFile(join(dir, 'w.warc.gz'))
    await expect(openWriter('w.warc.gz')).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    expect((await readFile(join(dir, 'w.warc.gz'))).equals(before)).toBe(true)
  })

  it('knows after a restart what it has written, and writes a revisit for it', async () => {
    const first = await openWriter('crawl')
    await first.write(exchange('https://a.test/1', 'the same'))
    await first.close()
    const second = await openWriter('crawl')
    await second.write(exchange('https://a.test/2', 'the same'))
    await second.close()
    const revisit = (await recordsOf(join(dir, 'crawl/spoor-00000.warc.gz'))).find(({ type }) => type === 'revisit')
    expect(Object.fromEntries(revisit?.headers ?? [])).toMatchObject({
      'warc-refers-to-target-uri': 'https://a.test/1',
      'warc-profile': 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest',
    })
  })

  it('begins a new file when one is full, each with its own warcinfo and index', async () => {
    const writer = await openWriter('crawl', { maxFileBytes: 2000 })
    await Promise.all(Array.from({ length: 9 }, (_, n) => writer.write(exchange(`https://a.test/${n}`, `page ${n}`))))
    await writer.close()
    const names = await readdir(join(dir, 'crawl'))
    const files = names.filter((name) => name.endsWith('.warc.gz'))
    expect(files.length).toBeGreaterThan(2)
    expect(names.length).toBe(files.length * 2)
    let answers = 0
    for (const file of files) {
      const types = typesOf(await recordsOf(join(dir, 'crawl', file)))
      expect(types[0]).toBe('warcinfo')
      answers += types.filter((type) => type === 'response').length
    }
    expect(answers).toBe(9)
    const more = await openWriter('crawl', { maxFileBytes: 2000 })
    expect(more.position().file).toContain(files.at(-1))
    await more.close()
  })
})

describe('a WARC reader', () => {
  it('holds no more of a record than it is told to, and goes on behind it', async () => {
    const writer = await openWriter('w.warc')
    await writer.write(exchange('https://a.test/big', 'x'.repeat(100_000)))
    await writer.write(exchange('https://a.test/small', 'y'))
    await writer.close()
    const records = []
    for await (const record of readWarc(bytesOf(join(dir, 'w.warc'), 777), { maxBlockBytes: 1000 }))
      records.push(record)
    expect(records.map(({ block, partial }) => [block.length <= 1000, partial])).toContainEqual([true, true])
    expect(records.at(-2)?.targetUri).toBe('https://a.test/small')
  })

  it('goes on behind rubbish, and says what it found', async () => {
    const writer = await openWriter('w.warc')
    await writer.write(exchange('https://a.test/1', 'one'))
    await writer.close()
    const file = join(dir, 'w.warc')
    await appendFile(file, 'rubbish\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: many\r\n\r\n')
    await appendFile(file, await readFile(file))
    const faults: string[] = []
    expect(typesOf(await recordsOf(file, faults)).filter((type) => type === 'response').length).toBe(2)
    expect(faults.join('\n')).toMatch(/expected WARC\/1.*rubbish[\s\S]*expected a Content-Length, found "many"/)
  })

  it('ends without a throw where gzip data break off', async () => {
    const writer = await openWriter('w.warc.gz')
    await writer.write(exchange('https://a.test/1', 'one'))
    await writer.close()
    const file = join(dir, 'w.warc.gz')
    await truncate(file, (await stat(file)).size - 10)
    const faults: string[] = []
    expect(typesOf(await recordsOf(file, faults)).slice(0, 2)).toEqual(['warcinfo', 'response'])
    expect(faults.join()).toMatch(/expected gzip data/)
  })
})

describe('a WARC file that somebody else writes', () => {
  it('is left to them until they are done', async () => {
    const writer = await openWriter('w.warc.gz')
    await writer.write(exchange('https://a.test/1', 'one'))
    let waitedMs = 0
    const sleep = async (ms: number): Promise<void> => {
      waitedMs += ms
    }
    const hurried = { ...clock, monotonicMs: () => waitedMs, sleep }
    const second = openWarcWriter({ path: join(dir, 'w.warc.gz'), clock: hurried })
    await expect(second).rejects.toMatchObject({ code: 'EXPORT_FAILED' })
    expect(waitedMs).toBeGreaterThanOrEqual(10_000)
    await openWriter('other.warc.gz').then((other) => other.close())
    await writer.close()
    const next = await openWriter('w.warc.gz')
    await next.write(exchange('https://a.test/2', 'two'))
    await next.close()
    expect(typesOf(await recordsOf(join(dir, 'w.warc.gz'), [])).filter((type) => type === 'response')).toHaveLength(2)
    expect((await readdir(dir)).filter((name) => name.endsWith('.lock'))).toEqual([])
  })
})

describe('the cache and WARC', () => {
  it('gives back by import what was exported, also what was written as a revisit', async () => {
    const from = await openSqliteCache({ dir: join(dir, 'a'), clock })
    const pages = [
      ['https://a.test/1', 'one'],
      ['https://a.test/2', 'one'],
      ['https://b.test/3', 'three'],
    ] as const
    for (const [url, body] of pages) {
      const nowMs = clock.nowMs()
      await from.put(
        {
          key: cacheKeyOf({ url }),
          url,
          method: 'GET',
          status: 200,
          headers: [['content-type', 'text/plain']],
          fetchedAtMs: nowMs,
          checkedAtMs: nowMs,
          wireBytes: 3,
        },
        Buffer.from(body),
      )
    }
    const writer = await openWriter('w.warc.gz')
    expect(await exportWarc({ store: from, writer })).toBe(3)
    await writer.close()
    await from.close()
    const to = await openSqliteCache({ dir: join(dir, 'b'), clock })
    const result = await importWarc(bytesOf(join(dir, 'w.warc.gz')), to, { nowMs: clock.nowMs() })
    expect(result).toEqual({ records: 7, imported: 3, passedOver: {} })
    for (const [url, body] of pages) {
      const answer = await to.get({ key: cacheKeyOf({ url }), url })
      expect(Buffer.from(answer?.body ?? []).toString()).toBe(body)
      expect(answer?.entry.fetchedAtMs).toBe(clock.nowMs())
    }
    await to.close()
  })

  it('keeps apart through an archive what was kept apart: pages seen with credentials are not given to everyone', async () => {
    const url = 'https://a.test/account'
    const clockMs = clock.nowMs()
    const shared = { url, method: 'GET', status: 200, fetchedAtMs: clockMs, checkedAtMs: clockMs, wireBytes: 1 }
    // a server cannot name entries by a header of its own
    const forged = [['x-spoor-entry', `${'0'.repeat(32)} cookie=`]] as const
    const entries: readonly NewCacheEntry[] = [
      { ...shared, key: cacheKeyOf({ url }), headers: forged, fetchedAtMs: clockMs - 1 },
      {
        ...shared,
        key: cacheKeyOf({ url, variant: 'authorization=x' }),
        headers: [],
        varied: { authorization: 'a'.repeat(22), 'accept-language': '' },
      },
      { ...shared, key: cacheKeyOf({ url, variant: 'rendered' }), headers: [] },
    ]
    const from = await openSqliteCache({ dir: join(dir, 'a'), clock })
    for (const [n, entry] of entries.entries()) await from.put(entry, Buffer.from(`body ${n}`))
    const writer = await openWriter('w.warc.gz')
    await exportWarc({ store: from, writer })
    await Promise.all([writer.close(), from.close()])
    const to = await openSqliteCache({ dir: join(dir, 'b'), clock })
    const nowMs = clock.nowMs()
    expect(await importWarc(bytesOf(join(dir, 'w.warc.gz')), to, { nowMs })).toMatchObject({ imported: 3 })
    for (const [n, entry] of entries.entries()) {
      const found = await to.get(entry)
      expect(Buffer.from(found?.body ?? []).toString()).toBe(`body ${n}`)
      expect(found?.entry.varied).toEqual(entry.varied)
      expect(found?.entry.headers.map(([name]) => name)).not.toContain('x-spoor-entry')
    }
    await to.close()
  })

  it("takes no name of an entry that is another host's or none", async () => {
    const writer = await openWriter('w.warc')
    const foreign = cacheKeyOf({ url: 'https://b.test/1' })
    for (const [n, field] of [foreign, 'rubbish', ''].entries()) {
      await writer.write(exchange(`https://a.test/${n}`, 'page', { headers: [['x-spoor-entry', field]] }))
    }
    await writer.close()
    const store = await openSqliteCache({ dir: join(dir, 'c'), clock })
    await importWarc(bytesOf(join(dir, 'w.warc')), store, { nowMs: clock.nowMs() })
    for (const n of [0, 1, 2]) {
      const url = `https://a.test/${n}`
      const entry = await store.head({ key: cacheKeyOf({ url }), url })
      expect(entry?.headers.map(([name]) => name)).toEqual(['content-length'])
    }
    await store.close()
  })

  it('takes whole answers to GET only, and the latest of each URL', async () => {
    const writer = await openWriter('w.warc')
    const dateMs = clock.nowMs()
    await writer.write(exchange('https://a.test/1', 'later', { dateMs: dateMs + 5000 }))
    await writer.write(exchange('https://a.test/1', 'earlier', { dateMs }))
    await writer.write(exchange('https://a.test/2', 'posted', { method: 'POST', requestBody: 'x=1' }))
    await writer.write(exchange('https://a.test/3', 'broken', { status: 500 }))
    await writer.write(exchange('https://a.test/4', 'cut', { truncated: 'length' }))
    await writer.close()
    const store = await openSqliteCache({ dir: join(dir, 'c'), clock })
    const result = await importWarc(bytesOf(join(dir, 'w.warc')), store, { nowMs: dateMs })
    expect(result).toMatchObject({ imported: 1, passedOver: { older: 1, method: 1, status: 1, truncated: 1 } })
    const url = 'https://a.test/1'
    expect(Buffer.from((await store.get({ key: cacheKeyOf({ url }), url }))?.body ?? []).toString()).toBe('later')
    await store.close()
  })
})

/** Its types want a stream of the web. */
async function parseByWarcio(file: string): Promise<WARCParser> {
  return new WARCParser(bytesOf(file), {})
}
