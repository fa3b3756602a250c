import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SeedLine } from '../../../src/sources/contract.ts'
import { openSeedFile } from '../../../src/sources/seed-file.ts'
import { collect } from './collect.ts'
import { zipOf } from './zip-of.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spoor-seeds-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function read(name: string, content: string | Uint8Array): Promise<SeedLine[]> {
  const path = join(folder, name)
  await writeFile(path, content)
  return collect(openSeedFile(path))
}

async function urls(name: string, content: string | Uint8Array): Promise<string[]> {
  return (await read(name, content)).map((line) =>
    'url' in line ? line.url : `! ${line.problem.replaceAll(folder, '')}`,
  )
}

describe('openSeedFile', () => {
  it('reads one URL a line, past comments, blanks, white space, a byte order mark and any ends of lines', async () => {
    const text =
      '\uFEFFhttp://a.test/1\r\n  http://a.test/2\t\n# comment\n\n   \nhttp://a.test/3?x=1,2#f\rhttps://a.test/4'
    expect(await read('s.txt', text)).toEqual([
      { url: 'http://a.test/1', line: 1 },
      { url: 'http://a.test/2', line: 2 },
      { url: 'http://a.test/3?x=1,2#f', line: 6 },
      { url: 'https://a.test/4', line: 7 },
    ])
  })

  it('gives bare domains http', async () => {
    const text =
      'site.test\nsite.test:8080\nsite.test/path?q\nlocalhost:3000/a\n127.0.0.1:80\n[::1]:8080\nwww.bücher.test'
    expect(await urls('s.txt', text)).toEqual([
      'http://site.test/',
      'http://site.test:8080/',
      'http://site.test/path?q',
      'http://localhost:3000/a',
      'http://127.0.0.1:80/',
      'http://[::1]:8080/',
      'http://www.bücher.test/',
    ])
  })

  it('says of each line that is no URL where it is and what was found', async () => {
    const text = 'http://[broken/\nftp://a.test/\nhello\nmailto:a@b.test\nhttp://ok.test/\ntwo words.test\nhttp://'
    expect(await urls('s.txt', text)).toEqual([
      '! /s.txt:1: expected a URL, found "http://[broken/"',
      '! /s.txt:2: expected a URL of http or https, found "ftp://a.test/"',
      '! /s.txt:3: expected a URL or a domain, found "hello"',
      '! /s.txt:4: expected a URL of http or https, found "mailto:a@b.test"',
      'http://ok.test/',
      '! /s.txt:6: expected a URL or a domain, found "two words.test"',
      '! /s.txt:7: expected a URL, found "http://"',
    ])
  })

  it('reads rank,domain lists', async () => {
    expect(await urls('top.csv', '1,first.test\n2,second.test\r\n3,"third.test"\n')).toEqual([
      'http://first.test/',
      'http://second.test/',
      'http://third.test/',
    ])
    expect(await urls('top.txt', '1\tfirst.test\n2\tsecond.test\n')).toEqual([
      'http://first.test/',
      'http://second.test/',
    ])
  })

  it('reads the column of URLs of a table, by its name', async () => {
    const table = 'Name;"Start URL";URL\n"a;b";x;http://a.test/\n"two\nlines";y;"http://b.test/?q=""1"""\nplain;z;\n'
    expect(await urls('s.txt', table)).toEqual([
      'http://a.test/',
      'http://b.test/?q="1"',
      '! /s.txt:5: expected a URL in column 3, found "plain;z;"',
    ])
    expect(await urls('s.csv', 'GlobalRank,TldRank,Domain,TLD\n1,1,google.test,test\n')).toEqual([
      'http://google.test/',
    ])
    expect(await urls('one.csv', 'url\nhttp://a.test/?x=1,2\nb.test\n')).toEqual([
      'http://a.test/?x=1,2',
      'http://b.test/',
    ])
    expect(await urls('bare.csv', 'x,http://a.test/,1\ny,http://b.test/,2\n')).toEqual([
      'http://a.test/',
      'http://b.test/',
    ])
  })

  it('loses no row to a quote that nobody closes', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `${String(index)},site${String(index)}.test`)
    rows[1] = '1,"site1.test'
    const found = await urls('top.csv', rows.join('\n'))
    expect(new Set(found)).toEqual(new Set(rows.map((_, index) => `http://site${String(index)}.test/`)))
    expect(found).toHaveLength(300)
  })

  it('reads requests as JSON Lines', async () => {
    const text = [
      '{"url":"http://a.test/","depth":2,"priority":-5,"label":"list","userData":{"k":[1]},"more":1}',
      '{"url":"b.test","depth":null}',
      '{"url":5}',
      '{"url":"http://c.test/","depth":-1}',
      '{"url":"http://d.test/","userData":[]}',
      '{"url":',
    ]
    const found = await read('s.jsonl', text.join('\n'))
    expect(found.slice(0, 2)).toEqual([
      { url: 'http://a.test/', depth: 2, priority: -5, label: 'list', userData: { k: [1] }, line: 1 },
      { url: 'http://b.test/', line: 2 },
    ])
    expect(found.slice(2).map((line) => 'problem' in line)).toEqual([true, true, true, true])
  })

  it('unpacks gzip, told by its content, also twice packed and in parts', async () => {
    const text = 'http://a.test/\nhttp://b.test/\n'
    expect(await urls('s.txt.gz', gzipSync(text))).toEqual(['http://a.test/', 'http://b.test/'])
    expect(await urls('s.txt', gzipSync(gzipSync(text)))).toEqual(['http://a.test/', 'http://b.test/'])
    const parts = Buffer.concat([gzipSync('http://a.te'), gzipSync('st/\n')])
    expect(await urls('s.gz', parts)).toEqual(['http://a.test/'])
  })

  it('reads the lists in a zip, one after the other', async () => {
    const zip = zipOf({
      'folder/': '',
      'folder/top.csv': '1,a.test\n',
      'more.txt.gz': gzipSync('b.test\n'),
      'readme.html': '<p>no list</p>',
      '__MACOSX/._top.csv': 'junk',
    })
    expect(await urls('top.zip', zip)).toEqual(['http://a.test/', 'http://b.test/'])
    expect(await urls('top.zip', zipOf({ list: 'c.test\nx\n' }))).toEqual([
      'http://c.test/',
      '! /top.zip/list:2: expected a URL or a domain, found "x"',
    ])
  })

  it('reads stdin, of any kind', async () => {
    for (const bytes of [Buffer.from('a.test\n'), gzipSync('a.test\n'), zipOf({ 'l.txt': 'a.test\n' })]) {
      const stdin = (async function* () {
        for (const byte of bytes) yield Uint8Array.of(byte)
      })()
      expect(await collect(openSeedFile('-', { stdin }))).toEqual([{ url: 'http://a.test/', line: 1 }])
    }
  })

  it('reads UTF-16 with a byte order mark, as Windows writes it', async () => {
    expect(await urls('s.txt', Buffer.from('\uFEFFhttp://a.test/ü\r\nb.test', 'utf16le'))).toEqual([
      'http://a.test/ü',
      'http://b.test/',
    ])
  })

  it.each<[string, string | Uint8Array, string]>([
    ['empty.txt', '', 'it holds no URL'],
    ['comments.txt', '# nothing\n\n', 'it holds no URL'],
    ['a.xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0]), 'xz'],
    ['a.bin', Buffer.from([1, 2, 0, 4]), 'no text'],
    ['a.gz', gzipSync('http://a.test/\n'.repeat(9)).subarray(0, 30), 'ends too early'],
    ['b.gz', Buffer.concat([gzipSync('x').subarray(0, 12), Buffer.from('garbage and more garbage')]), 'damaged'],
    ['a.zip', zipOf({ 'a.txt': 'a.test' }).subarray(0, 40), 'record signature'],
    ['a.xlsx', zipOf({ '[Content_Types].xml': '<x/>', 'sheet.xml': '<y/>' }), 'office document'],
  ])('refuses %s in one line that says what is wrong', async (name, content, problem) => {
    const message = expect.stringContaining(problem) as string
    await expect(read(name, content)).rejects.toMatchObject({ code: 'SEEDS_UNREADABLE', message })
    await expect(read(name, content)).rejects.toMatchObject({ message: expect.not.stringContaining('\n') as string })
  })

  it('refuses a file that is missing, and a folder', async () => {
    const missing = collect(openSeedFile(join(folder, 'none.txt')))
    await expect(missing).rejects.toMatchObject({ message: expect.stringContaining('no such file') as string })
    await expect(collect(openSeedFile(folder))).rejects.toMatchObject({
      message: expect.stringContaining('folder') as string,
    })
  })

  it('passes over a line that is too long in bounded memory, and goes on', async () => {
    const found = await urls('s.txt.gz', gzipSync(`http://a.test/${'x'.repeat(30_000_000)}\nhttp://b.test/\n`))
    expect(found).toEqual([expect.stringContaining('too long'), 'http://b.test/'])
  })

  it('stops at a bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, 'http://a.test/'))
    await expect(read('bomb.gz', bomb)).rejects.toMatchObject({
      message: expect.stringContaining('200 times') as string,
    })
  })

  it('is read no faster than it is taken, and lets go of the file when left early', async () => {
    let taken = 0
    let isClosed = false
    const stdin = (async function* () {
      try {
        for (; taken < 10_000; taken += 1) yield Buffer.from(`http://a.test/${String(taken)}\n`.repeat(100))
      } finally {
        isClosed = true
      }
    })()
    for await (const line of openSeedFile('-', { stdin })) if (line.line === 1000) break
    expect(taken).toBeLessThan(20)
    expect(isClosed).toBe(true)
  })
})
