import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'cheerio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Crawler } from '../../../src/crawler/crawler.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import { type CommandRun, runCommand } from './run-command.ts'

const HOSTILE = `</title></table><script>alert(1)</script><img src=x onerror="alert(2)">'"&`

const page = (title: string, body: string): { body: string; headers: Record<string, string> } => ({
  body: `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`,
  headers: { 'content-type': 'text/html' },
})

let cwd: string
let site: TestSite
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'spoor-cli-graph-'))
  const many = Array.from({ length: 130 }, (_, n) => `<a href="/missing/${n}">${n}</a>`).join('')
  site = await openTestSite({
    '/': page(
      'Home',
      `<a href="/evil?'&quot;>&lt;script&gt;alert(3)&lt;/script&gt;">x</a><a href="/plain">y</a>${many}`,
    ),
    '/evil*': page(HOSTILE.replaceAll('<', '&lt;'), HOSTILE),
    '/plain': page('', '<a href="/missing/1">1</a>'),
  })
  const options = { dir: join(cwd, 'spoor-data'), robots: false, cache: 'off', retries: 0 } as const
  await new Crawler({ ...options, graph: true }).run(site.url('/'))
  const select = ['--select', 'description=meta[name=description]@content']
  const flags = ['--task', 'no-links', '--depth', '1', '--no-robots', '--cache', 'off', '--retries', '0', '--quiet']
  const crawled = await run('crawl', site.url('/'), '--dir', options.dir, ...flags, ...select)
  expect(crawled.stderr).toMatch(/^130 pages failed/)
})
afterAll(async () => {
  await site.close()
  await rm(cwd, { recursive: true, force: true })
})

const run = (...argv: readonly string[]): Promise<CommandRun> => runCommand(argv, { cwd })

describe('spoor graph', () => {
  it.each([
    [['graph'], /expected either -o FILE or --stats/],
    [['graph', '--stats', '-o', 'x.dot'], /expected either -o FILE or --stats/],
    [['graph', '-o', 'x.txt'], /can be written as dot, graphml, csv, nodes\.csv, svg, html.*found x\.txt/],
    [['graph', '-o', 'x.dot', '--format', 'parquet'], /found parquet/],
    [['graph', '-o', '-', '--format', 'dot', '--json'], /-o -: stdout cannot carry both/],
    [['export', '-o', 'x.jsonl', '--format', 'dot'], /--format takes one of jsonl, csv, sqlite, parquet; found "dot"/],
    [['report'], /expected -o FILE\.html/],
    [['report', '-o', 'x.pdf'], /expected -o FILE\.html, found x\.pdf/],
  ])('%j is refused', async (argv, line) => {
    const { code, stderr, stdout } = await run(...argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(line)
  })

  it('writes a file whole and says so', async () => {
    expect(await run('graph', '-o', 'g.graphml', '--json')).toMatchObject({
      code: 0,
      stdout: '{"file":"g.graphml","format":"graphml"}\n',
    })
    expect((await run('graph', '-o', 'g.nodes.csv', '--json')).stdout).toContain('"format":"nodes.csv"')
    expect((await readFile(join(cwd, 'g.graphml'), 'utf8')).endsWith('</graphml>\n')).toBe(true)
    expect((await readdir(cwd)).filter((name) => name.endsWith('.spoor-tmp'))).toEqual([])
  })

  it('says what it cannot write, and leaves nothing', async () => {
    const { code, stderr } = await run('graph', '-o', 'no/such/folder/g.dot')
    expect([code, /no\/such\/folder\/g\.dot cannot be written: .*ENOENT/.test(stderr)]).toEqual([1, true])
  })

  it('tells figures to people and to scripts', async () => {
    const { stdout } = await run('graph', '--stats')
    expect(stdout).toMatch(/Graph of default: 133 URLs, 133 links, 1 host/)
    expect(stdout).toMatch(/broken links: 130\n {2}\S+\/missing\/1: http-4xx \(404\), linked from 2 pages\n/)
    expect(stdout).toMatch(/and 120 more/)
    const survey = JSON.parse((await run('graph', '--stats', '--json')).stdout) as { broken: { list: unknown[] } }
    expect(survey.broken.list).toHaveLength(130)
  })

  it('tells what is known of a crawl that kept no links', async () => {
    const { stdout, stderr } = await run('graph', '--stats', '--task', 'no-links')
    expect(stderr).toMatch(/no links were kept: crawl with --graph/)
    expect(stdout).toMatch(/missing\/1: http-4xx \(404\), linked from 1 page\n {4}on \S+\/\n/)
  })
})

const reportOf = async (...argv: readonly string[]): Promise<string> => (await run('report', '-o', '-', ...argv)).stdout

describe('spoor report', () => {
  it('is a page in which nothing that was crawled is markup, and that loads nothing', async () => {
    const html = await reportOf()
    const $ = load(html)
    expect($('script, img, iframe, link, object, [onerror], [src]').length).toBe(0)
    expect($('[style]').length).toBe(0)
    expect($('meta[http-equiv="Content-Security-Policy"]').attr('content')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'$/,
    )
    expect($('a').filter((_, a) => !/^https?:/.test($(a).attr('href') ?? '')).length).toBe(0)
    expect($('a[href*="/evil"]').first().text()).toContain('script')
  })

  it('tells the first hundred of each list, and how many more there are', async () => {
    const $ = load(await reportOf())
    const broken = $('section').filter((_, section) => $(section).find('h2').text().startsWith('Failures'))
    expect([broken.find('tbody tr').length, broken.find('small').text(), broken.children('.more').text()]).toEqual([
      100,
      '130',
      'and 30 more',
    ])
    expect(broken.find('tbody tr').first().text()).toMatch(/missing\/1http-4xx \(404\) HTTP 4041http/)
    const titles = $('h2')
      .map((_, h2) => $(h2).text().replace(/ \d+$/, ''))
      .get()
    expect(titles).toEqual(
      expect.arrayContaining(['HTTP status', 'Linked most', 'Largest pages', 'Pages without a title']),
    )
  })

  it('of a crawl without links it says so, and takes what items hold', async () => {
    const $ = load(await reportOf('--task', 'no-links'))
    expect($('.note').text()).toMatch(/kept no links: run it with --graph/)
    const titles = $('h2')
      .map((_, h2) => $(h2).text())
      .get()
    expect(titles).toEqual(
      expect.arrayContaining(['Largest pages 3', 'Pages without a description 3', 'Pages without a title 1']),
    )
  })
})
