import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../../src/cli/run.ts'
import { openTestSite, type TestSite } from '../../../src/testing/site.ts'
import { hostOf, runCommand, type CommandRun } from './run-command.ts'

let cwd: string
let site: TestSite
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'spoor-cli-clear-'))
  site = await openTestSite({
    '/': { links: ['/a', '/missing'], headers: { 'set-cookie': 'seen=1; Max-Age=3600' } },
    '/a': {},
  })
})
afterEach(async () => {
  await site.close()
  await rm(cwd, { recursive: true, force: true })
})

const dir = (): string[] => ['--dir', join(cwd, 'data')]
const run = (...args: readonly string[]): Promise<CommandRun> => runCommand([...args, ...dir()], { cwd })

async function crawl(...extra: readonly string[]): Promise<unknown> {
  const end = await run('crawl', site.url('/'), '--quiet', '--json', '--ok-with-failures', ...extra)
  expect(end, end.stderr).toMatchObject({ code: 0 })
  return JSON.parse(end.stdout)
}

async function statusOf(task: string): Promise<unknown> {
  const { code, stdout, stderr } = await run('status', '--task', task, '--json')
  return code === 0 ? JSON.parse(stdout) : stderr
}

/** At a terminal, where somebody types `answer`. */
async function atTerminal(answer: string): Promise<CommandRun> {
  const { host, stdout, stderr } = hostOf(['clear', ...dir()], { cwd })
  const stdin = Object.assign(Readable.from([Buffer.from(answer)]), { isTTY: true })
  const code = await runCli({ ...host, stdin, stderr: Object.assign(stderr, { isTTY: true }) })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

describe('spoor clear', () => {
  it('wants --yes where nobody can be asked, and touches nothing', async () => {
    await crawl()
    const { code, stderr } = await run('clear')
    expect(code).toBe(2)
    expect(stderr).toMatch(/expected --yes/)
    expect(await statusOf('default')).toMatchObject({ done: 2, failed: 1 })
  })

  it('forgets a crawl and its failures; the cache stays, so that the next one downloads little', async () => {
    await crawl()
    expect(await run('clear', '--yes')).toMatchObject({ code: 0 })
    expect(await statusOf('default')).toMatch(/holds no crawl named default, nor any other/)
    expect(await crawl()).toMatchObject({ pages: 2, fromCache: 2 })
    expect(JSON.parse((await run('verify', '--json')).stdout)).toEqual({ ok: true, problems: [] })
  })

  it('leaves other tasks alone, also those whose names begin alike', async () => {
    await crawl('--task', 'shop', '--cache', 'off')
    await crawl('--task', 'shop2', '--cache', 'off')
    expect(await run('clear', '--task', 'shop', '--yes', '--json')).toMatchObject({
      code: 0,
      stdout: '{"task":"shop","requests":3,"items":2}\n',
    })
    expect(await statusOf('shop2')).toMatchObject({ done: 2, failed: 1 })
    expect(await statusOf('shop')).toMatch(/holds no crawl named shop, but shop2: name one with --task/)
    expect(await run('verify')).toMatchObject({ code: 0 })
    site.clearLog()
    await crawl('--task', 'shop2', '--recrawl', '--cache', 'off')
    expect(site.requestsFor('/a')[0]?.headers.cookie).toBe('seen=1')
    await crawl('--task', 'shop', '--cache', 'off')
    expect(site.requestsFor('/')[1]?.headers.cookie).toBeUndefined()
  })

  it.each(['y\n', 'YES\n'])('asks at a terminal, and does it at %j', async (answer) => {
    await crawl()
    const { code, stderr } = await atTerminal(answer)
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/Forget the crawl default in .* \(2 pages done, 1 failed, 0 waiting, 2 items\)\? \[y\/N\]/)
    expect(await statusOf('default')).toMatch(/holds no crawl named default/)
  })

  it.each(['n\n', '\n', 'yep no\n', ''])('asks at a terminal, and leaves it at %j', async (answer) => {
    await crawl()
    const { code, stderr } = await atTerminal(answer)
    expect(code).toBe(1)
    expect(stderr).toMatch(/Nothing was deleted/)
    expect(await statusOf('default')).toMatchObject({ done: 2 })
  })

  it('has nothing to do for a crawl that is not there, and says so of a folder that is not', async () => {
    await crawl()
    expect(await run('clear', '--task', 'other', '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Nothing is known of a crawl named other/) as string,
    })
    const { code, stderr } = await runCommand(['clear', '--yes', '--dir', 'nowhere'], { cwd })
    expect(code).toBe(3)
    expect(stderr).toMatch(/nowhere/)
  })
})
