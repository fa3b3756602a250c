/** A full disk in mid-crawl is a clear end, and room is all it takes to go on. */

import { spawnSync } from 'node:child_process'
import { createReadStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readWarc } from '../../src/stores/warc/reader.ts'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import { crawlFixture, expectComplete, repeatsOf, startCrawl } from './crawl.ts'

interface SmallDisk extends Disposable {
  readonly path: string
  resize(size: string): void
}

function mount(args: readonly string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0
}

function openSmallDisk(path: string, size: string): SmallDisk {
  mkdirSync(path, { recursive: true })
  if (!mount(['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])) throw new Error(`cannot mount a tmpfs at ${path}`)
  return {
    path,
    resize: (to) => {
      if (!mount(['-o', `remount,size=${to}`, path])) throw new Error(`cannot resize ${path}`)
    },
    [Symbol.dispose]: () => {
      spawnSync('umount', ['--lazy', path], { stdio: 'ignore' })
    },
  }
}

/** Only root may mount, and not in every container. */
const canMount = await (async () => {
  if (process.getuid?.() !== 0) return false
  await using folder = await openTemporaryFolder()
  try {
    openSmallDisk(join(folder.path, 'disk'), '1m')[Symbol.dispose]()
    return true
  } catch {
    return false
  }
})()
if (!canMount) console.warn('SKIPPED: a full disk cannot be made here, since mounting a tmpfs needs root')

describe.skipIf(!canMount)('a full disk', () => {
  it('under the data folder is waited for, and the crawl goes on by itself once there is room', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '1m')
    const shape = treeSite(1500, 8)
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: join(disk.path, 'data'), output: join(folder.path, 'out.jsonl') })

    const waiting = startCrawl(fixture)
    await waiting.says(/no room is left for .*disk.data, and the crawl waits/)
    disk.resize('256m')
    const end = await waiting.ended
    expect(end).toMatchObject({ code: 0 })
    expect(end.stderr).toContain('the crawl goes on')
    expect(JSON.parse(end.stdout)).toMatchObject({ pages: 1500, failed: 0 })
    expect(repeatsOf(fixture)).toBe(0)
    await expectComplete(fixture)
  }, 300_000)

  it('that nobody makes room on ends with status 3, at once or by Ctrl-C, and nothing is lost', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '1m')
    const shape = treeSite(1500, 8)
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: join(disk.path, 'data'), output: join(folder.path, 'out.jsonl') })

    const waiting = startCrawl(fixture)
    await waiting.says(/and the crawl waits/)
    waiting.signal('SIGINT')
    const stopped = await waiting.ended
    expect(stopped.stderr).not.toMatch(/^\s+at /m)
    expect(stopped.code).toBe(3)

    const still = await startCrawl(fixture, { args: ['--wait-for-room', '0'] }).ended
    expect(still.code).toBe(3)
    expect(still.stderr).toMatch(/no room|no space|full/i)
    expect(still.stderr).not.toContain('waits')

    disk.resize('256m')
    expect(await startCrawl(fixture).ended).toMatchObject({ code: 0 })
    expect(repeatsOf(fixture)).toBeLessThanOrEqual(2 * fixture.concurrency)
    await expectComplete(fixture)
  }, 300_000)

  it('under the output file holds the crawl, and the file is whole when it has gone on', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '64k')
    const shape = treeSite(600, 8)
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: join(folder.path, 'data'), output: join(disk.path, 'out.jsonl') })

    const waiting = startCrawl(fixture)
    await waiting.says(/no room is left for .*out\.jsonl, and the crawl waits/)
    disk.resize('256m')
    expect(await waiting.ended).toMatchObject({ code: 0 })
    await expectComplete(fixture)
  }, 300_000)

  it('under the WARC file ends with status 3 and a clear line, and no page is missing in it once there is room', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '256k')
    const shape = treeSite(600, 8)
    await using site = await openTestSite(shape.handler)
    const file = join(disk.path, 'pages.warc.gz')
    const args = ['crawl', site.url(shape.seed), '--dir', join(folder.path, 'data'), '--warc', file, '--delay', '0']

    const full = await runSpoor([...args, '--quiet'])
    expect(full.stderr).toMatch(/no room.*pages\.warc\.gz/i)
    expect(full.stderr).not.toMatch(/unexpected fault|^\s+at /m)
    expect(full.code).toBe(3)

    disk.resize('64m')
    const again = await runSpoor([...args, '--json'])
    expect(again).toMatchObject({ code: 0 })
    expect(JSON.parse(again.stdout)).toMatchObject({ pages: 600, failed: 0 })
    const kept = new Set<string>()
    for await (const record of readWarc(createReadStream(file), { onFault: (problem) => expect.fail(problem) })) {
      if (record.type === 'response' || record.type === 'revisit') kept.add(record.targetUri ?? '')
    }
    expect([...kept].filter((url) => !url.endsWith('/robots.txt'))).toHaveLength(600)
  }, 300_000)
})
