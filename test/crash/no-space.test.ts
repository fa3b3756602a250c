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
  it('under the data folder ends with status 3 and a clear line, and the crawl goes on once there is room', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '2m')
    const shape = treeSite(5000, 8)
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: join(disk.path, 'data'), output: join(folder.path, 'out.jsonl') })

    const full = await startCrawl(fixture).ended
    expect(full.stderr).toMatch(/no room|no space|full/i)
    expect(full.stderr).not.toMatch(/^\s+at /m)
    expect(full.code).toBe(3)
    expect(site.log.length).toBeLessThan(5000)

    const still = await startCrawl(fixture).ended
    expect(still.code).toBe(3)
    expect(still.stderr).toMatch(/no room|no space|full/i)

    disk.resize('256m')
    expect(await startCrawl(fixture).ended).toMatchObject({ code: 0 })
    expect(repeatsOf(fixture)).toBeLessThanOrEqual(2 * fixture.concurrency)
    await expectComplete(fixture)
  }, 300_000)

  it('under the output file ends with a clear line, and the file is whole once there is room', async () => {
    await using folder = await openTemporaryFolder()
    using disk = openSmallDisk(join(folder.path, 'disk'), '64k')
    const shape = treeSite(2000, 8)
    await using site = await openTestSite(shape.handler)
    const fixture = crawlFixture(site, shape, { dir: join(folder.path, 'data'), output: join(disk.path, 'out.jsonl') })

    const full = await startCrawl(fixture).ended
    expect(full.stderr).toContain('out.jsonl')
    expect(full.stderr).toMatch(/no room|no space|full|ENOSPC/i)
    expect(full.stderr).not.toMatch(/^\s+at /m)
    expect([1, 3]).toContain(full.code)

    disk.resize('256m')
    expect(await startCrawl(fixture).ended).toMatchObject({ code: 0 })
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
