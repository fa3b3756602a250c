/** A data folder that cannot be used is told apart from an empty one, ends with status 3, and nothing in it is destroyed. */

import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { treeSite } from '../../src/testing/site-shapes.ts'
import { openTestSite } from '../../src/testing/site.ts'
import type { TestSite } from '../../src/testing/site.ts'
import { openTemporaryFolder, runSpoor } from '../support/command.ts'
import type { CommandEnd } from '../support/command.ts'

const shape = treeSite(200, 5)
const SQLITE_MAGIC = 'SQLite format 3'

function crawl(site: TestSite, dir: string): Promise<CommandEnd> {
  return runSpoor(['crawl', site.url(shape.seed), '--dir', dir, '--quiet', '--json', '--cache', 'off'])
}

/** The database that holds the crawl: the largest one of the folder. */
async function databaseOf(dir: string): Promise<string> {
  const files: { readonly file: string; readonly bytes: number }[] = []
  for (const name of await readdir(dir, { recursive: true })) {
    const file = join(dir, name)
    const { size } = await stat(file)
    if ((await stat(file)).isFile() && (await readFile(file)).toString('latin1', 0, 15) === SQLITE_MAGIC) {
      files.push({ file, bytes: size })
    }
  }
  const largest = files.toSorted((a, b) => b.bytes - a.bytes)[0]
  if (largest === undefined) throw new Error(`no database in ${dir}`)
  return largest.file
}

function expectRefused(end: CommandEnd): void {
  expect(end.code, end.stderr + end.stdout).toBe(3)
  expect(end.stderr).not.toMatch(/^\s+at /m)
  expect(end.stderr.trim()).not.toBe('')
}

describe('a damaged database', () => {
  it.each([
    { title: 'its head overwritten', damage: (bytes: Buffer) => bytes.fill('x', 0, 200) },
    { title: 'all but its first page overwritten', damage: (bytes: Buffer) => bytes.fill(0xff, 4096) },
    { title: 'its second half cut off', damage: (bytes: Buffer) => bytes.subarray(0, bytes.length / 2) },
    {
      title: 'text in its place',
      damage: () => Buffer.from('not a database at all, but somebody may need it\n'.repeat(200)),
    },
  ])('with $title is refused and left as it is', async ({ damage }) => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(shape.handler)
    expect(await crawl(site, folder.path)).toMatchObject({ code: 0 })
    const database = await databaseOf(folder.path)
    const damaged = damage(await readFile(database))
    await writeFile(database, damaged)

    expectRefused(await crawl(site, folder.path))
    const verified = await runSpoor(['verify', '--dir', folder.path])
    expect([1, 3], verified.stderr).toContain(verified.code)
    expect(verified.stderr).not.toMatch(/^\s+at /m)
    expect((await readFile(database)).equals(damaged)).toBe(true)
  })
})

describe('a data folder', () => {
  it('that is a file is refused', async () => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(shape.handler)
    const file = join(folder.path, 'a-file')
    await writeFile(file, 'kept')
    const end = await crawl(site, file)
    expectRefused(end)
    expect(end.stderr).toContain(file)
    expect(await readFile(file, 'utf8')).toBe('kept')
    expect(site.log).toEqual([])
  })

  it('that is not there has no status', async () => {
    await using folder = await openTemporaryFolder()
    const dir = join(folder.path, 'nothing')
    const end = await runSpoor(['status', '--dir', dir])
    expectRefused(end)
    expect(end.stderr).toContain(dir)
    expect(await readdir(folder.path)).toEqual([])
  })

  // nobody can make a folder there, root neither; in /proc node's own recursive mkdir never comes back
  it.each(['/sys/spoor', '/proc/spoor'])('that cannot be written is refused (%s)', async (dir) => {
    await using site = await openTestSite(shape.handler)
    const end = await crawl(site, dir)
    expectRefused(end)
    expect(end.stderr).toContain(dir)
    expect(site.log).toEqual([])
  })
})

describe('a damaged download cache', () => {
  it.each([
    ['cut', (bytes: Buffer): Buffer => bytes.subarray(0, Math.floor(bytes.length / 3))],
    ['of something else', (): Buffer => Buffer.from('a text that somebody has written\n'.repeat(100))],
  ])('that is %s is told by verify and by the crawl, with what to do', async (_name, damage) => {
    await using folder = await openTemporaryFolder()
    await using site = await openTestSite(shape.handler)
    const crawlArgs = ['crawl', site.url(shape.seed), '--dir', folder.path, '--quiet', '--json', '--fresh']
    expect(await runSpoor(crawlArgs)).toMatchObject({ code: 0 })
    const sound = await runSpoor(['verify', '--dir', folder.path, '--json'])
    expect(JSON.parse(sound.stdout)).toEqual({ ok: true, problems: [] })
    const file = join(folder.path, 'cache.sqlite')
    await writeFile(file, damage(await readFile(file)))
    await rm(`${file}-wal`, { force: true })

    const crawled = await runSpoor(crawlArgs)
    expectRefused(crawled)
    expect(crawled.stderr).toMatch(/Delete the file \(its pages are downloaded again\)/)
    const verified = await runSpoor(['verify', '--dir', folder.path, '--json'])
    expect(verified.code).toBe(1)
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('cache.sqlite')],
    })

    await rm(file)
    expect(await runSpoor(crawlArgs)).toMatchObject({ code: 0 })
  })
})
