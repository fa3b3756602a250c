import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FetchAnswer } from '../../../src/crawler/contract.ts'
import { openTestSite } from '../../../src/testing/site.ts'
import { runCommand } from './run-command.ts'

const ROUTES = {
  '/robots.txt': { body: 'User-agent: *\nDisallow: /old' },
  '/old': { status: 302, headers: { location: '/new' } },
  '/new': { headers: { 'content-type': 'text/html', etag: '"1"' }, body: '<meta charset=windows-1251>\u00ef' },
}

async function traceOf(...argv: string[]): Promise<NonNullable<FetchAnswer['trace']>> {
  const { stdout } = await runCommand(['fetch', '--trace', '--json', ...argv])
  const { trace } = JSON.parse(stdout) as FetchAnswer
  if (trace === undefined) throw new Error(`expected a trace, found ${stdout}`)
  return trace
}

test('a trace has each hop with its steps, verdict, headers and charset, and no credentials', async () => {
  await using site = await openTestSite(ROUTES)
  const { hops, charset } = await traceOf(site.url('/old'), '--cookie', 'id=hush', '--header', 'Authorization: hush')
  expect(hops).toMatchObject([
    {
      purpose: 'page',
      url: site.url('/old'),
      steps: [
        { kind: 'connect', address: '127.0.0.1', port: site.port },
        { kind: 'request', method: 'GET' },
      ],
      response: { status: 302 },
      robots: { allowed: false, rule: 'Disallow: /old' },
    },
    {
      purpose: 'page',
      url: site.url('/new'),
      steps: [{ kind: 'request', target: '/new' }],
      response: { status: 200, timings: { totalMs: expect.any(Number) as number } },
      robots: { allowed: true },
    },
    { purpose: 'robots.txt', url: site.url('/robots.txt'), response: { status: 200 } },
  ])
  expect(charset).toEqual({ charset: 'windows-1251', source: 'meta' })
  const headers = hops.flatMap(({ steps }) => steps.flatMap((step) => (step.kind === 'request' ? step.headers : [])))
  expect(headers).toContainEqual(['Authorization', '(4 characters, not shown)'])
  expect(headers).toContainEqual(['Cookie', '(7 characters, not shown)'])
  expect(JSON.stringify(hops)).not.toContain('hush')
})

test('credentials of URLs and sessions that the server gives are not shown either', async () => {
  await using site = await openTestSite(({ path, headers: { host = '' } }) =>
    path === '/old'
      ? { status: 302, headers: { location: `//me:hush@${String(host)}/new`, 'set-cookie': 'id=hush; Path=/' } }
      : { body: 'x' },
  )
  const url = site.url('/old').replace('//', '//me:hush@')
  const { hops } = await traceOf(url)
  expect(hops.map((hop) => hop.url).slice(0, 2)).toEqual(
    ['/old', '/new'].map((path) => site.url(path).replace('//', '//***@')),
  )
  expect(hops[0]?.response?.headers).toContainEqual(['set-cookie', 'id=(4 characters, not shown); Path=/'])
  const { stdout } = await runCommand(['fetch', '--trace', url])
  expect(JSON.stringify(hops) + stdout).not.toContain('hush')
  const refused = await runCommand(['fetch', '--trace', '--retries', '0', 'http://me:hush@127.0.0.1:1/'])
  expect(refused.stdout + refused.stderr).not.toContain('hush')
})

test('with a data folder it tells what the cache decides', async () => {
  await using site = await openTestSite(ROUTES)
  const dir = await mkdtemp(join(tmpdir(), 'spoor-trace-'))
  try {
    const decisions: unknown[] = []
    for (const ttl of ['1h', '1h', '0']) {
      const { hops } = await traceOf(site.url('/new'), '--dir', dir, '--cache-ttl', ttl)
      decisions.push(hops[0]?.cache)
    }
    const keptAt = expect.stringMatching(/^\d{4}-.*Z$/) as string
    expect(decisions).toEqual([
      { decision: 'miss' },
      { decision: 'hit', keptAt },
      { decision: 'stale', keptAt, validators: ['if-none-match'] },
    ])
    const { stdout } = await runCommand(['fetch', '--trace', site.url('/new'), '--dir', dir])
    expect(stdout).toContain('served from the cache')
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

test('as text it is for people; with --body it goes beside; what failed says so', async () => {
  await using site = await openTestSite(ROUTES)
  const body = await runCommand(['fetch', '--trace', '--body', site.url('/old')])
  expect(body.stdout).toBe(ROUTES['/new'].body)
  expect(body.stderr).toMatch(
    / {2}< 302\n[^]*robots {3}disallowed \(line 2: Disallow: \/old\)[^]*charset {2}windows-1251/,
  )
  await site.goDown()
  const dead = await runCommand(['fetch', '--trace', site.url('/')])
  expect(dead.code).toBe(1)
  expect(dead.stdout).toContain('failed   connect: the connection was refused')
  expect((await runCommand(['fetch', '--trace', '--batch'])).code).toBe(2)
})
